"""The wake of a cylinder in the flow model: the cells of the paper's tables, and recordings of several snapshots.

`python -m benchmarks.wake --to RESULTS --workers 16` fits pairs of 251 + 249 points of both velocities at Re = 100,
other points in each, and tells of every cell the medians, errors, what was stated, the Cramér–Rao bound, and how many
intervals hold the truth. The data are the shipped extract, whose gaps are 0.02 to 0.22; with `--recording FOLDER`,
where `hiddenphysics datasets make cylinder --folder FOLDER` has made it, the whole recording, on which ten snapshots
0.2 apart are fitted, too, and the pressure's gradient is compared with what the recorded velocity leaves over in the
equations of motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray

from benchmarks.cases import Case, Row, answered, arguments, carry_out, errors, fitted, median, table, write
from hiddenphysics import datasets
from hiddenphysics.snapshots import Snapshot, Snapshots

EQUATION = (
    "u_t + a*(u*u_x + v*u_y) + p_x - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) + p_y - b*lap(v) = 0; "
    "u_x + v_y = 0"
)
TRUTH = {"a": 1.0, "b": 0.01}
STEP = 0.02
"""Time between two snapshots of the data."""
POINTS, SEVERAL = (251, 249), 500
"""Points of the two snapshots of a pair, and of each of several."""
EDGE = 10
"""Points of the recording's grid between its edges and the outermost places at which the pressure is compared, and
between these."""


class Cell(NamedTuple):
    """One cell: snapshots, steps of the recording between them, noise in parts of each velocity's deviation, draws."""

    snapshots: int
    gap: int
    noise: float
    draws: int


CELLS = (
    *(Cell(2, 1, noise, 100) for noise in (0.0, 0.01, 0.05)),
    *(Cell(2, gap, noise, 20) for noise in (0.0, 0.01) for gap in (2, 3, 4, 5)),
    Cell(2, 10, 0.01, 20),
)
LONG = (Cell(10, 10, 0.05, 20),)
"""What needs the whole recording."""


class Draw(NamedTuple):
    """Snapshots of a case, deviations of the noise that was put into each velocity, and the times that they are of."""

    snapshots: Snapshots
    noise: dict[str, float]
    times: slice


def drawn(case: Case) -> Draw:
    """Draw a first snapshot, points and noise by the seed of a case."""
    data = recorded(case)
    rng = np.random.default_rng(case["seed"])
    count, gap = case["snapshots"], case["gap"]
    first = int(rng.integers(0, data.sizes["t"] - (count - 1) * gap))
    times = slice(first, first + (count - 1) * gap + 1, gap)
    chosen = data.isel(t=times)
    fields = {f: _flat(chosen, f) for f in ("u", "v")}
    x, y = (_places(chosen, name) for name in ("x", "y"))
    sizes = {f: case["noise"] * float(values.std()) for f, values in fields.items()}
    made = []
    for k, t in enumerate(np.asarray(chosen["t"].values, float)):
        at = rng.choice(len(x), POINTS[k] if count == 2 else SEVERAL, replace=False)
        values = {f: v[k, at] + sizes[f] * rng.standard_normal(len(at)) for f, v in fields.items()}
        made.append(Snapshot(t=float(t), x=x[at], y=y[at], **values))
    return Draw(Snapshots(made), sizes, times)


@cache
def _loaded(folder: str | None) -> xarray.Dataset:
    return datasets.load(
        "cylinder" if folder else "cylinder_extract", folder=Path(folder) if folder else None
    )


def recorded(case: Case) -> xarray.Dataset:
    """Return the recording of a case, or the shipped extract of one."""
    return _loaded(case["recording"])


def _flat(data: xarray.Dataset, field: str) -> np.ndarray:
    """(T, N) values of a field."""
    values = np.asarray(data[field].transpose("t", ...).values, float)
    return values.reshape(len(values), -1)


def _places(data: xarray.Dataset, name: str) -> np.ndarray:
    """(N,) a coordinate of all points, in the order of `_flat`."""
    return np.ravel(np.asarray(data[name].broadcast_like(data["u"].isel(t=0)).values, float))


def answer(case: Case) -> Row:
    """Fit one draw by the flow."""
    draw = drawn(case)
    fit, row = fitted(EQUATION, draw.snapshots, model="flow", time_limit=3600)
    if fit is None:
        return row
    if case["noise"]:
        row["bounds"] = fit.cramer_rao(draw.noise)
    data = recorded(case)
    if case["snapshots"] == 2 and "point" not in data.dims:
        row["pressure"] = pressure_agreement(fit, data, draw.times)
    return row


def pressure_agreement(fit: Any, data: xarray.Dataset, times: slice) -> dict[str, float]:
    """Correlations of p_x and p_y, halfway between a pair, with −(u_t + u·∇u) + ν ∇²u of the recorded velocity.

    Finite differences of second order on the recording's grid, and places a little inside of its edges.
    """
    pair = data.isel(t=slice(times.start, times.stop, times.stop - 1 - times.start)).transpose("t", "x", "y")
    t, x, y = (np.asarray(pair[name].values, float) for name in ("t", "x", "y"))
    rate = {f: np.diff(pair[f].values.astype(float), axis=0)[0] / (t[1] - t[0]) for f in ("u", "v")}
    mean = {f: pair[f].values.astype(float).mean(axis=0) for f in ("u", "v")}
    inside = slice(EDGE, -EDGE, EDGE)
    px, py = np.meshgrid(x[inside], y[inside], indexing="ij")
    found = {}
    for field, told in (("u", "p_x"), ("v", "p_y")):
        own = mean[field]
        slopes = np.gradient(own, x, y)
        twice = np.gradient(slopes[0], x, axis=0) + np.gradient(slopes[1], y, axis=1)
        moved = mean["u"] * slopes[0] + mean["v"] * slopes[1]
        balance = -(rate[field] + TRUTH["a"] * moved) + TRUTH["b"] * twice
        seen = fit.predict(told, px.ravel(), py.ravel(), t=float(t.mean()))[0]
        found[told] = float(np.corrcoef(np.ravel(balance[inside, inside]), np.ravel(seen))[0, 1])
    return found


def report(rows: Sequence[Row]) -> str:
    """Return the table: a line for every cell and parameter."""
    head = (
        "snapshots, gap, noise, draws, parameter, median, bias sd, error %, stated %, bound %, mean square, covered, "
        "p_x p_y, seconds, bad"
    )
    return "## The wake of a cylinder, model flow\n\n" + table(head.split(", "), _lines(rows))


def _lines(rows: Sequence[Row]) -> Iterator[Sequence[object]]:
    def cell(row: Row) -> tuple[object, ...]:
        return tuple(row["case"][name] for name in ("snapshots", "gap", "noise"))

    for key in dict.fromkeys(map(cell, rows)):
        own = [row for row in rows if cell(row) == key]
        ended = [row for row in own if "estimates" in row]
        bad = sum(row["status"] != "converged" for row in own)
        pressure = [min(row["pressure"].values()) for row in ended if row.get("pressure")]
        for name, truth in TRUTH.items():
            off = errors(own, name, truth)
            middle = _median([row["estimates"][name] for row in ended])
            stated = _median([row["stds"][name] for row in ended])
            bound = _median([row["bounds"][name] for row in ended if row.get("bounds")])
            yield (
                key[0],
                f"{STEP * float(str(key[1])):g}",
                key[2],
                len(own),
                name,
                middle,
                None if middle is None or not stated else (middle - truth) / stated,
                off.percent,
                None if stated is None else 100 * stated / truth,
                None if bound is None else 100 * bound / truth,
                off.mean_square,
                off.covered,
                _median(pressure),
                median(own, "seconds"),
                bad,
            )


def _median(values: Sequence[float]) -> float | None:
    return float(np.median(values)) if values else None


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, run what is left, write the table."""
    parser = arguments(__doc__)
    parser.add_argument(
        "--recording", type=Path, help="folder of the whole recording; the extract without it"
    )
    parser.add_argument("--draws", type=int, help="so many of every cell, in place of 100 or 20")
    given = parser.parse_args(words)
    if given.case:
        return answered(answer, given.case)
    folder = str(given.recording) if given.recording else None
    cells = (*CELLS, *LONG) if folder else CELLS
    # Draw by draw, not cell by cell: a run that is stopped early has some of every cell.
    cases = [
        {"snapshots": c.snapshots, "gap": c.gap, "noise": c.noise, "seed": seed, "recording": folder}
        for seed in range(1 if given.small else given.draws or max(c.draws for c in cells))
        for c in (cells[:1] if given.small else cells)
        if seed < (given.draws or c.draws)
    ]
    rows = carry_out("benchmarks.wake", cases, given.to, retry=given.retry, workers=given.workers, kept=True)
    return write(given.to, "wake", report(rows))


if __name__ == "__main__":
    main()
