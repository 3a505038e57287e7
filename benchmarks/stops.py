"""Many stops: Korteweg–de Vries, 8, 11 and 15 snapshots of 60 random points, gap 0.2, 1 % noise, 20 draws.

`python -m benchmarks.stops --folder FOLDER --to RESULTS` reads kdv.mat in FOLDER, without it our own data set. A
process fits one draw to warm up, then five whose seconds count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.cases import (
    Case,
    Row,
    answered,
    arguments,
    carry_out,
    counted,
    errors,
    fitted,
    median,
    table,
    write,
)
from hiddenphysics.reproduction import STUDIES, Library
from hiddenphysics.snapshots import Snapshots

STUDY = STUDIES["kdv"]
SNAPSHOTS = (8, 11, 15)
POINTS, GAP, NOISE = 60, 2, 0.01
"""Points of a snapshot, steps of the recording (0.1 each) from one to the next, noise in parts of the spread."""
DRAWS, TOGETHER, WARM_UP = 20, 5, 1000
"""Draws, those of one process, and the seed of the draw that warms it up."""


def drawn(folder: Path | None, snapshots: int, seed: int) -> Snapshots:
    """Return a stretch of the recording that begins somewhere else for every draw, at random points with noise."""
    data = Library(folder).open(STUDY)
    last = len(data.times) - 1 - GAP * (snapshots - 1)
    first = int(np.random.default_rng(seed).integers(last + 1))
    stretch = data.take([first + GAP * k for k in range(snapshots)])
    # Points and noise come from different streams, or the noise would depend on where it is seen.
    return stretch.with_noise(NOISE, seed=10_000 + seed).subsample(POINTS, seed=seed)


def answer(case: Case) -> Row:
    """Fit some draws after one that warms up."""
    folder = Path(case["folder"]) if case["folder"] else None
    fitted(STUDY.equation, drawn(folder, case["snapshots"], WARM_UP))
    fits = [fitted(STUDY.equation, drawn(folder, case["snapshots"], seed))[1] for seed in case["seeds"]]
    return {"status": "fitted", "fits": fits}


def report(rows: Sequence[Row]) -> str:
    """Return the table."""
    by_count: dict[int, list[Row]] = {}
    for row in rows:
        by_count.setdefault(row["case"]["snapshots"], []).extend(row.get("fits", [row]))
    head = (
        "snapshots, draws, parameter, error % (rms), mean square of errors in sd, largest, covered of 95 %, "
    )
    head += "seconds (median), longest, status"
    return "## Stops\n\n" + table(
        head.split(", "), (line for count, fits in by_count.items() for line in _lines(count, fits))
    )


def _lines(count: int, fits: Sequence[Row]) -> Iterator[list[object]]:
    ended = [fit for fit in fits if "estimates" in fit]
    for name, truth in STUDY.truth.items():
        found = errors(ended, name, truth)
        yield [
            count,
            len(ended),
            name,
            *found,
            median(ended, "seconds"),
            max((fit["seconds"] for fit in ended), default=None),
            counted(fit["status"] for fit in fits),
        ]


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, run what is left, write the table."""
    parser = arguments(__doc__)
    parser.add_argument("--folder", type=Path, help="folder of the original kdv.mat; without it our own data")
    parser.add_argument("--snapshots", nargs="+", type=int)
    parser.add_argument("--draws", type=int)
    given = parser.parse_args(words)
    if given.case:
        return answered(answer, given.case)
    counts = given.snapshots or ([3] if given.small else SNAPSHOTS)
    draws = given.draws or (1 if given.small else DRAWS)
    chosen = (
        {
            "folder": str(given.folder.resolve()) if given.folder else None,
            "snapshots": count,
            "seeds": list(range(first, min(first + TOGETHER, draws))),
        }
        for count in counts
        for first in range(0, draws, TOGETHER)
    )
    rows = carry_out("benchmarks.stops", chosen, given.to, retry=given.retry, workers=given.workers)
    return write(given.to, "stops", report(rows))


if __name__ == "__main__":
    main()
