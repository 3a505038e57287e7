"""The desk as a user finds it: `python -m benchmarks.desk [PART …] --folder FOLDER`.

    files       the demo's points in files of two dozen kinds, all fitted by the command line: the same parameters
    shell       commands in a shell, right and wrong ones: what they say, how they end
    notebook    the notebook of the documentation by nbclient, its pictures as files
    estimator   scikit-learn's checks, one by one
    studio      the way through the page in Chromium, timed and photographed; `--ways` chooses from it
    picture     docs/images/studio.png

What is to be looked at lies in the folder. `benchmarks.documents`, `benchmarks.neighbours.peers` and
`benchmarks.start_up` are the rest of the desk.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

PARTS = ("files", "shell", "notebook", "estimator", "studio")
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "studio.png"


def lines(part: str, folder: Path, ways: Sequence[str], recording: Path | None) -> Iterator[str]:
    """Yield what a part has to say; its packages are imported when it is asked for."""
    module = import_module(f"benchmarks.desk.{part}")
    yield from module.report(folder, ways, recording) if part == "studio" else module.report(folder)


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, and go through the parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", choices=[*PARTS, "picture"], help="all but the picture by default"
    )
    parser.add_argument("--folder", type=Path, default=Path("desk"), help="where files and pictures go")
    parser.add_argument(
        "--ways", nargs="+", default=(), help="of the studio: demo, own, ice, recording, mishaps, screens"
    )
    parser.add_argument(
        "--recording", type=Path, help="the file of the way `recording`; by default KdV's data set"
    )
    given = parser.parse_args(words)
    for part in given.parts or PARTS:
        began = time.perf_counter()
        if part == "picture":
            import_module("benchmarks.desk.studio").picture(PICTURE)
        else:
            for line in lines(part, given.folder / part, given.ways, given.recording):
                print(line, flush=True)
        print(f"-- {part}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
