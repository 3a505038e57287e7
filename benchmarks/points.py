"""Time and memory against the number of points: Burgers' equation, two snapshots of N random points each.

`python -m benchmarks.points --to RESULTS` fits N = 10³ to 10⁶ points of the exact solution at t = 1.0 and 1.1 with 1 %
noise, each in a fresh process, and writes a table and a picture (points.svg). `--stored 1000000` fits ten snapshots of
so many points each that lie in a netCDF file, and are read piece by piece. The rows of the run that the documents show
are kept in `points.jsonl` beside this file; `--draw FILE` draws those, and fits nothing.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import h5netcdf
import numpy as np
from scipy.interpolate import CubicSpline

from benchmarks.cases import Case, Row, answered, arguments, carry_out, fitted, table, write
from hiddenphysics.demo import EQUATION, TRUTH
from hiddenphysics.simulate.exact import burgers, gaussian_pulse
from hiddenphysics.snapshots import Snapshot, Snapshots, read

COUNTS = (1_000, 10_000, 100_000, 1_000_000)
TIMES = (1.0, 1.1)
SNAPSHOTS = 10
"""Of a recording in a file, 0.1 apart."""
NOISE = 0.01
KEPT = Path(__file__).with_suffix(".jsonl")
"""`fits.jsonl` of the run that docs/benchmarks.md shows."""
AT_A_TIME = 1_000
"""Points for which the exact solution is summed at once, so that the memory is that of the fit."""


def pair(count: int, seed: int) -> Snapshots:
    """Return two snapshots of `count` uniformly random points in [−8, 8], other points in each, with noise."""
    rng = np.random.default_rng(seed)
    snapshots = []
    for t in TIMES:
        x = np.sort(rng.uniform(-8.0, 8.0, count))
        parts = np.array_split(x, max(count // AT_A_TIME, 1))
        u = np.concatenate(
            [
                burgers(gaussian_pulse, t, p, TRUTH["b"], speed=TRUTH["a"], reach=16.0, nodes=801)
                for p in parts
            ]
        )
        snapshots.append(Snapshot(t=t, x=x, u=u + NOISE * np.std(u) * rng.standard_normal(count)))
    return Snapshots(snapshots)


def store(path: Path, count: int, seed: int) -> None:
    """Write a recording of `count` grid points at `SNAPSHOTS` times with noise, one snapshot in memory at a time."""
    rng, x = np.random.default_rng(seed), np.linspace(-8.0, 8.0, count)
    nodes = np.linspace(-8.0, 8.0, 4 * AT_A_TIME)
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"t": SNAPSHOTS, "x": count}
        file.create_variable("x", ("x",), data=x)
        file.create_variable("t", ("t",), data=TIMES[0] + 0.1 * np.arange(SNAPSHOTS))
        u = file.create_variable("u", ("t", "x"), float, chunks=(1, min(count, 100_000)))
        for k, t in enumerate(np.asarray(file["t"])):
            exact = burgers(
                gaussian_pulse, float(t), nodes, TRUTH["b"], speed=TRUTH["a"], reach=16.0, nodes=801
            )
            smooth = CubicSpline(nodes, exact)(x)  # off by 1e-11, far below the noise
            u[k] = smooth + NOISE * np.std(smooth) * rng.standard_normal(count)


def kept() -> list[Row]:
    """Return the rows of the run that the documents show."""
    return [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()]


def answer(case: Case) -> Row:
    """Fit one pair, or what lies in a file."""
    if "stored" not in case:
        return fitted(EQUATION, pair(case["points"], case["seed"]))[1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording.nc"
        store(path, case["stored"], case["seed"])
        return fitted(EQUATION, read(path))[1]


def report(rows: Sequence[Row]) -> str:
    """Return the table."""
    head = "points, seconds, the process, seconds a round, rounds, peak GiB, a: error in sd, b: error in sd, status"
    return "## Points\n\n" + table(head.split(", "), (_line(row) for row in rows))


def _line(row: Row) -> Iterator[object]:
    case = row["case"]
    yield f"{SNAPSHOTS} × {case['stored']}, from a file" if "stored" in case else f"2 × {case['points']}"
    yield from (row.get(name) for name in ("seconds", "cold", "round_seconds", "rounds", "peak"))
    for name, truth in TRUTH.items():
        yield (row["estimates"][name] - truth) / row["stds"][name] if row.get("stds", {}).get(name) else None
    yield row["status"] if "estimates" in row else f"{row['status']}: {row['explanation']}"


def picture(rows: Sequence[Row], path: Path) -> None:
    """Draw seconds against N, both logarithmic: of the whole fit, and of one round."""
    from hiddenphysics.result import load_figure_class

    figure = load_figure_class().Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for name, label in (("seconds", "the fit, cold"), ("round_seconds", "one round")):
        seen = [(row["case"]["points"], row[name]) for row in rows if row.get(name)]
        if seen:
            axes.loglog(*zip(*seen, strict=True), "o-", label=label)
    low, high = np.log10(axes.get_ylim())
    axes.set_ylim(10 ** np.floor(low), 10 ** np.ceil(high))  # whole decades: their labels are plain numbers
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="points in each of two snapshots", ylabel="seconds, one core")
    axes.grid(alpha=0.3)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, run what is left, write table and picture."""
    parser = arguments(__doc__)
    parser.add_argument("--counts", nargs="+", type=int, help="points in each snapshot")
    parser.add_argument("--stored", nargs="+", type=int, help="points of ten snapshots in a file, instead")
    parser.add_argument("--draw", type=Path, help="draw the rows that are kept into this file, fit nothing")
    given = parser.parse_args(words)
    if given.draw:
        return picture(kept(), given.draw)
    if given.case:
        return answered(answer, given.case)
    counts = given.counts or ([60, 70] if given.small else COUNTS)
    kind = "stored" if given.stored else "points"
    chosen = ({kind: count, "seed": 0} for count in given.stored or counts)
    rows = carry_out("benchmarks.points", chosen, given.to, retry=given.retry, workers=given.workers)
    if not given.stored:
        picture(rows, given.to / "points.svg")
    return write(given.to, "points", report(rows))


if __name__ == "__main__":
    main()
