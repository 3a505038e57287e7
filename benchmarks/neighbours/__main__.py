"""Compare: `python -m benchmarks.neighbours --folder FOLDER`, or `--data own` for our own data sets."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.neighbours.plan import METHODS, Plan, carry_out
from benchmarks.neighbours.problems import PROBLEMS
from benchmarks.neighbours.table import table


def main() -> None:
    """Read the command line, make the fits, print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.neighbours", description=__doc__)
    data = parser.add_mutually_exclusive_group(required=True)
    data.add_argument("--folder", type=Path, help="folder of the original files, burgers.mat and so on")
    data.add_argument("--data", choices=["own"], help="make the recordings with hiddenphysics.datasets")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--noises", nargs="+", type=float, default=[0.0, 0.01, 0.05])
    parser.add_argument("--gaps", nargs="+", choices=["all", "short", "long"], default=["short", "long"])
    parser.add_argument("--pairs", type=int, default=10, help="evenly spaced pairs of snapshots")
    parser.add_argument("--rows", type=Path, help="keep every fit there; a run that was stopped goes on")
    given = parser.parse_args()
    plan = Plan(
        folder=given.folder,
        problems=tuple(given.problems),
        methods=tuple(given.methods),
        noises=tuple(given.noises),
        gaps=tuple(given.gaps),
        pairs=given.pairs,
        rows=given.rows,
    )
    print(table(carry_out(plan, lambda words: print(words, file=sys.stderr, flush=True))))


if __name__ == "__main__":
    main()
