"""`python -m benchmarks.zoo`: fit the zoo, go on where a run was stopped, and write its table.

`--only burgers kdv` takes species by name, `--variants wrong clusters` those variants, `--draws 3` more draws of each,
`--limit 60` seconds for every fit, `--workers 8` processes; `--folder` holds the journal `zoo.jsonl` and the table
`zoo.md`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.zoo.cases import SPECIES, VARIANTS, cases
from benchmarks.zoo.run import run
from benchmarks.zoo.table import markdown
from hiddenphysics.writer import write_file


def main() -> None:
    """Run from a shell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", nargs="+", default=[], choices=[one.name for one in SPECIES], metavar="SPECIES"
    )
    parser.add_argument("--variants", nargs="+", default=[], choices=list(VARIANTS))
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for every fit")
    parser.add_argument("--workers", type=int, default=1, help="processes, one thread each")
    parser.add_argument("--folder", type=Path, default=Path("output"))
    given = parser.parse_args()
    chosen = cases(given.draws, tuple(given.only), tuple(given.variants))
    rows = run(chosen, given.folder / "zoo.jsonl", given.limit, _say, given.workers)
    write_file(given.folder / "zoo.md", markdown(rows).encode(), overwrite=True)
    print(markdown(rows))


def _say(row: dict[str, Any]) -> None:
    print(f"{row['key']}: {row['status']}, {row['seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
