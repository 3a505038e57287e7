"""The wake of a cylinder in the flow model: the cells of the paper's tables, and recordings of several snapshots.

`python -m benchmarks.wake --to RESULTS --workers 16` fits pairs of 251 + 249 points of both velocities at Re = 100,
other points in each, and tells of every cell the medians, errors, what was stated, and how many intervals hold the
truth. The data are the shipped extract, whose gaps are 0.02 to 0.22; with `--recording FOLDER`, where
`hiddenphysics datasets make cylinder --folder FOLDER` has made it, the whole recording, on which ten snapshots 0.2
apart are fitted, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

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


class Cell(NamedTuple):
    """One cell: snapshots, steps of the recording between them, noise in parts of each velocity's deviation, draws."""

    snapshots: int
    gap: int
    noise: float
    draws: int


CELLS = (
    *(Cell(2, 1, noise, 100) for noise in (0.0, 0.01, 0.05)),
    *(Cell(2, gap, 0.0, 20) for gap in (2, 3, 4, 5)),
    Cell(2, 10, 0.01, 20),
)
LONG = (Cell(10, 10, 0.05, 20),)
"""What needs the whole recording."""


def drawn(case: Case) -> Snapshots:
    """Return the snapshots of a case: a first one, points and noise drawn by its seed."""
    folder = case["recording"]
    data = datasets.load(
        "cylinder" if folder else "cylinder_extract", folder=Path(folder) if folder else None
    )
    rng = np.random.default_rng(case["seed"])
    count, gap = case["snapshots"], case["gap"]
    first = int(rng.integers(0, data.sizes["t"] - (count - 1) * gap))
    chosen = data.isel(t=slice(first, first + (count - 1) * gap + 1, gap))
    fields = {f: _flat(chosen, f) for f in ("u", "v")}
    x, y = (_places(chosen, name) for name in ("x", "y"))
    sizes = {f: case["noise"] * float(values.std()) for f, values in fields.items()}
    made = []
    for k, t in enumerate(np.asarray(chosen["t"].values, float)):
        at = rng.choice(len(x), POINTS[k] if count == 2 else SEVERAL, replace=False)
        values = {f: v[k, at] + sizes[f] * rng.standard_normal(len(at)) for f, v in fields.items()}
        made.append(Snapshot(t=float(t), x=x[at], y=y[at], **values))
    return Snapshots(made)


def _flat(data: xarray.Dataset, field: str) -> np.ndarray:
    """(T, N) values of a field."""
    values = np.asarray(data[field].transpose("t", ...).values, float)
    return values.reshape(len(values), -1)


def _places(data: xarray.Dataset, name: str) -> np.ndarray:
    """(N,) a coordinate of all points, in the order of `_flat`."""
    return np.ravel(np.asarray(data[name].broadcast_like(data["u"].isel(t=0)).values, float))


def answer(case: Case) -> Row:
    """Fit one draw by the flow."""
    return fitted(EQUATION, drawn(case), model="flow", time_limit=3600)[1]


def report(rows: Sequence[Row]) -> str:
    """Return the table: a line for every cell and parameter."""
    head = "snapshots, gap, noise, draws, parameter, median, error %, stated %, mean square, covered, seconds, bad"
    return "## The wake of a cylinder, model flow\n\n" + table(head.split(", "), _lines(rows))


def _lines(rows: Sequence[Row]) -> Iterator[Sequence[object]]:
    def cell(row: Row) -> tuple[object, ...]:
        return tuple(row["case"][name] for name in ("snapshots", "gap", "noise"))

    for key in dict.fromkeys(map(cell, rows)):
        own = [row for row in rows if cell(row) == key]
        ended = [row for row in own if "estimates" in row]
        bad = sum(row["status"] != "converged" for row in own)
        for name, truth in TRUTH.items():
            off = errors(own, name, truth)
            middle = float(np.median([row["estimates"][name] for row in ended])) if ended else None
            stated = float(100 * np.median([row["stds"][name] for row in ended]) / truth) if ended else None
            yield (
                key[0],
                f"{STEP * float(str(key[1])):g}",
                key[2],
                len(own),
                name,
                middle,
                off.percent,
                stated,
                off.mean_square,
                off.covered,
                median(own, "seconds"),
                bad,
            )


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
    cases = [
        {"snapshots": c.snapshots, "gap": c.gap, "noise": c.noise, "seed": seed, "recording": folder}
        for c in (cells[:1] if given.small else cells)
        for seed in range(1 if given.small else given.draws or c.draws)
    ]
    rows = carry_out("benchmarks.wake", cases, given.to, retry=given.retry, workers=given.workers)
    return write(given.to, "wake", report(rows))


if __name__ == "__main__":
    main()
