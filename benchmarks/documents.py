"""Documents that cannot go stale: every output in README and docs against what the code prints now.

`python -m benchmarks.documents` runs every block of every page, and the scripts of the gallery, and names those whose
output is another one; `--write` puts the new output into the page instead. `--quick` leaves out what takes long. The
tests run all of it, what takes long in tests of its own. Pages may be named:
`python -m benchmarks.documents docs/tutorials/csv.md`.

The line before a block says what is done with it.

    <!-- run -->               run; a text block right behind it is what it prints
    <!-- run long -->          run, but not by `--quick`
    <!-- printed by SCRIPT --> a text block: what a script beside the page prints, run as what takes long
    <!-- not run: WHY -->      neither run nor compared

`python -m benchmarks.documents --pictures` names the command of every picture.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from hiddenphysics.cli import app, spread
from hiddenphysics.demo import burgers_recording, two_snapshots
from hiddenphysics.writer import write_file

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md")))

PICTURES = {
    "docs/images/burgers.png": "hiddenphysics demo --plot docs/images/burgers.png --force",
    "docs/images/cylinder_vorticity.png": "hiddenphysics datasets picture docs/images/cylinder_vorticity.png --force",
    "docs/images/points.svg": "python -m benchmarks.points --draw docs/images/points.svg",
    "docs/images/reproduction/*.png": "hiddenphysics reproduce --all; python docs/reproduction.py reproduction",
    "docs/images/studio.png": "python -m benchmarks.desk picture",
    "docs/gallery/images/scratch_assay.png": "python docs/gallery/scratch_assay.py docs/gallery/images DATA",
    "docs/gallery/images/{name}.png": "python docs/gallery/{name}.py docs/gallery/images",
}
"""Every picture of the documents, and what makes it; `{name}` is the same in both."""

FENCE = re.compile(
    r"(?:<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<kind>[^`\n]*)\n(?P<body>.*?)^```$"
    r"(?:\n+```text\n(?P<printed>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")
OUT_OF_TIME = "The time limit of "
"""How a fit begins its explanation that a busy machine has stopped: that is no output for a page."""
NEARLY = 2e-3
"""Numbers of another machine may differ by so much, or by one in the last digit that is printed."""


class StaleError(Exception):
    """A page shows what the code does not print."""


@dataclass(frozen=True)
class Block:
    """A code block of a page: its language, its text, what is done with it, and what it prints.

    `place` is where the text of what it prints begins and ends in the page.
    """

    kind: str
    body: str
    mark: str | None
    printed: str | None
    place: tuple[int, int]

    @property
    def script(self) -> str | None:
        """The script whose output this block is."""
        return self.mark.removeprefix("printed by ") if (self.mark or "").startswith("printed by ") else None

    def is_run(self, *, long: bool) -> bool:
        """Whether there is something to run, also what takes long or not."""
        return self.mark == "run" or (long and (self.mark == "run long" or self.script is not None))


def blocks(text: str) -> list[Block]:
    """Return the code blocks of a page."""
    found = []
    for match in FENCE.finditer(text):
        part = match.groupdict()
        # A block that is an output itself, that of a script, may have another block behind it.
        alone = part["kind"] == "text" or part["printed"] is None
        place = match.span("body") if alone else match.span("printed")
        found.append(Block(part["kind"], part["body"], part["mark"], part["printed"], place))
    return found


def compare(printed: str, told: str) -> None:
    """Refuse other words, other counts, and numbers that differ by more than their last digit or a five hundredth."""
    ours, theirs = _numbers(printed), _numbers(told)
    same_words = NUMBER.sub("#", printed).split() == NUMBER.sub("#", told).split()
    if not same_words or not all(map(_near, ours, theirs)):
        raise StaleError(f"The page shows\n\n{told}\nbut the code prints\n\n{printed}")


def _numbers(text: str) -> list[tuple[str, bool]]:
    """Return the numbers of a text, and whether each is a count: no decimals, no deviation in brackets, 0.974(33)."""
    return [
        (
            m[0],
            m[0].lstrip("+-").isdigit()
            and not re.match(r"\d\(\d+\)", text[max(m.start() - 2, 0) : m.end() + 1]),
        )
        for m in NUMBER.finditer(text)
    ]


def _near(one: tuple[str, bool], other: tuple[str, bool]) -> bool:
    (ours, is_count), (theirs, _) = one, other
    if is_count:
        return ours == theirs
    apart = abs(float(ours) - float(theirs))
    return apart <= max(1.01 * max(_last_digit(ours), _last_digit(theirs)), NEARLY * abs(float(theirs)))


def _last_digit(number: str) -> float:
    """Return what one in the last digit is worth.

    >>> _last_digit("0.974"), _last_digit("33"), _last_digit("9.3e-05")
    (0.001, 1.0, 1e-06)
    """
    mantissa, _, power = number.partition("e")
    return float(f"1e{int(power or 0) - len(mantissa.partition('.')[2])}")


def run(block: Block, page: str, names: dict[str, Any]) -> str:
    """Run a block of Python, the commands in a block of shell, or a script; return what is printed."""
    if block.script is not None:
        script = (ROOT / page).parent / block.script
        words = [sys.executable, str(script), "."]
        return subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    if block.kind == "python":
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.body, page, "exec"), names)  # noqa: S102  (our own text)
        return printed.getvalue()
    lines = (line for line in block.body.replace("\\\n", " ").splitlines() if line.startswith("$ "))
    return "".join(_command(shlex.split(line[2:], comments=True)) for line in lines)


def _command(words: list[str]) -> str:
    if words[0] != "hiddenphysics":
        raise StaleError(f"{shlex.join(words)} is no command of ours; mark the block as not run.")
    answer = CliRunner().invoke(app, spread(words[1:]))
    if answer.exit_code:
        raise StaleError(f"{shlex.join(words)} ended with {answer.exit_code}: {answer.output}")
    return answer.stdout


def outputs(page: str, *, long: bool) -> Iterator[tuple[Block, str | None, str]]:
    """Run a page from top to bottom in the working folder; yield every block with what it shows and what it prints."""
    text = (ROOT / page).read_text(encoding="utf-8")
    if "burgers.csv" in text and "--csv burgers.csv" not in "".join(
        b.body for b in blocks(text) if b.mark == "run"
    ):
        two_snapshots(burgers_recording(), 0.01, 0).to_table().to_csv("burgers.csv", index=False)
    names: dict[str, Any] = {}
    for block in blocks(text):
        if block.is_run(long=long):
            yield block, block.body if block.script else block.printed, run(block, page, names)


def check(page: str, *, long: bool, say: Callable[[str], None] = lambda _: None, write: bool = False) -> int:
    """Compare a page with what its blocks print, in an empty folder; return how many are stale."""
    before, stale, changes = Path.cwd(), 0, []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            began = time.perf_counter()
            for block, told, printed in outputs(page, long=long):
                seconds, began = time.perf_counter() - began, time.perf_counter()
                name = block.script or block.body.strip().splitlines()[-1]
                try:
                    if told is not None:
                        compare(printed, told)
                except StaleError as found:
                    stale += 1
                    if OUT_OF_TIME in printed:
                        say(f"{page}: {name:.60}: out of time; try again on a machine that is less busy")
                        continue
                    changes.append((block.place, printed))
                    if write and block.script:
                        _renew_pictures((ROOT / page).parent / block.script)
                    say(f"{page}: {name:.60}: stale\n{found}")
                else:
                    say(f"{page}: {name:.60}: {'the same' if told is not None else 'runs'}, {seconds:.1f} s")
        finally:
            os.chdir(before)
    if write and changes:
        text = (ROOT / page).read_text(encoding="utf-8")
        for (begin, end), printed in reversed(changes):
            text = text[:begin] + printed.rstrip() + "\n" + text[end:]
        write_file(ROOT / page, text.encode(), overwrite=True)
    return stale


def _renew_pictures(script: Path) -> None:
    """Put what a script of the gallery has drawn, in the working folder, beside it."""
    for picture in Path().glob("*.png"):
        place = script.parent / "images" / picture.name
        if place.exists():
            write_file(place, picture.read_bytes(), overwrite=True)


def maker(picture: str) -> str | None:
    """Return the command that makes a picture, None where nobody knows it.

    >>> maker("docs/gallery/images/kdv_gap.png")
    'python docs/gallery/kdv_gap.py docs/gallery/images'
    """
    for pattern, command in PICTURES.items():
        form = re.escape(pattern).replace(r"\{name\}", r"(?P<name>\w+)").replace(r"\*", r"[^/]+")
        match = re.fullmatch(form, picture)
        if match is not None:
            return command.format(**match.groupdict())
    return None


def pictures() -> list[str]:
    """Return all pictures of the documents."""
    kinds = ("*.png", "*.svg", "*.jpg", "*.gif", "*.webp")
    return sorted(str(p.relative_to(ROOT)) for kind in kinds for p in (ROOT / "docs").rglob(kind))


def main(words: Sequence[str] | None = None) -> int:
    """Read the command line, check the pages, say which blocks are stale."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", default=PAGES, help="all by default")
    parser.add_argument("--quick", action="store_true", help="only what the tests run")
    parser.add_argument("--write", action="store_true", help="put the new outputs into the pages")
    parser.add_argument(
        "--pictures", action="store_true", help="print every picture and its command, run nothing"
    )
    given = parser.parse_args(words)
    if given.pictures:
        for picture in pictures():
            print(f"{picture}: {maker(picture) or 'nobody knows'}")
        return 0
    stale = 0
    for page in given.pages:
        stale += check(
            page, long=not given.quick, say=lambda text: print(text, flush=True), write=given.write
        )
    print(f"{stale} stale outputs" if stale else "nothing is stale")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
