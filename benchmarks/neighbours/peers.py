"""The table of peers: `python -m benchmarks.neighbours.peers`, or `make peers`, which installs them first.

Every program gets the same three whole recordings, our own data sets with 5 % noise, drawn once, and a process of its
own for each, which is ended after `LIMIT` seconds: that is a row, too. Finished fits stand in `peers.jsonl` beside this
file, of several settings the best; what is missing there is made where the program can be imported, and the others are
named. The table then goes into `docs/comparison.md`. `--again` makes all fits anew, `--table` none.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.neighbours.fit import Fit, Job, append, load
from benchmarks.neighbours.plan import METHODS, Plan, carry_out
from benchmarks.neighbours.table import Line, best_lines, number
from hiddenphysics.writer import write_file

DATA = {"burgers": "Burgers", "kdv": "KdV", "ks": "Kuramoto–Sivashinsky"}
"""Problem -> its name in the table."""
NOISE = 0.05
NEEDS = {
    "hiddenphysics": "hiddenphysics",
    "PySINDy strong": "pysindy",
    "PySINDy weak": "pysindy",
    "DeepXDE": "deepxde",
}
"""Method -> the package that it needs."""
TITLES = {
    "hiddenphysics": "**ours**",
    "PySINDy strong": "PySINDy, strong form",
    "PySINDy weak": "weak SINDy (PySINDy)",
    "DeepXDE": "DeepXDE",
}
ROWS = Path(__file__).with_name("peers.jsonl")
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "comparison.md"
BEGIN, END = "<!-- made by python -m benchmarks.neighbours.peers -->\n", "<!-- end -->\n"
"""What the page has before and behind the table."""


LIMIT = 3600.0
"""Seconds after which a program is ended on one recording. The longest, our own on Kuramoto–Sivashinsky, took 285 on
one core (18 November 2026)."""


def run(
    rows: Path, say: Callable[[str], None], problems: Sequence[str] = tuple(DATA), limit: float = LIMIT
) -> None:
    """Make the fits that a file does not hold yet, with the programs that can be imported."""
    for method in METHODS:
        if find_spec(NEEDS[method]) is None:
            say(f'{method}: {NEEDS[method]} is not installed. Type: pip install "hiddenphysics[neighbours]"')
            continue
        done = {fit.job for fit in load(rows)}
        for name in problems:
            if Job(name, NOISE, method, 0, 0) not in done:
                say(f"{method} on {name}, at most {limit:g} s")
                in_a_process(method, name, rows, limit)


def make(method: str, name: str, rows: Path) -> None:
    """Make the fits of one program on one recording, in this process."""
    plan = Plan(None, (name,), (method,), (NOISE,), ("all",), pairs=1, rows=rows)
    carry_out(plan, lambda text: None)


def in_a_process(method: str, name: str, rows: Path, limit: float) -> None:
    """Make them in a process of their own; one that is ended, or dies, has given no answer."""
    words = [sys.executable, "-m", "benchmarks.neighbours.peers", "--only", method, name, "--rows", str(rows)]
    began = time.perf_counter()
    try:
        code = subprocess.run(words, timeout=limit, check=False, cwd=ROOT).returncode
        how = f"its process ended with code {code}"
    except subprocess.TimeoutExpired:
        how = f"ended after {limit:g} s"
    job = Job(name, NOISE, method, 0, 0)
    if job not in {fit.job for fit in load(rows)}:
        silent = Fit(job, "told", how, 0, {}, (), (), time.perf_counter() - began, answered=False)
        append(rows, [silent])


def table(fits: Sequence[Fit]) -> str:
    """Return the table: a line for each program and form, two columns for each recording."""
    lines = {(line.key[2], line.key[3], line.key[0]): line for line in best_lines(fits)}
    head = ["program", "form"]
    for title in DATA.values():
        head += [f"{title}: error, %", "seconds"]
    rows = [head, ["---"] * len(head)]
    for method in METHODS:
        for form in ("told", "found"):
            cells = [lines.get((method, form, name)) for name in DATA]
            if any(cells):
                rows.append([TITLES[method], form, *(word for line in cells for word in _cells(line))])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cells(line: Line | None) -> tuple[str, str]:
    if line is None:
        return "–", "–"
    fit = line.fits[0]
    seconds = number(fit.seconds)
    if not fit.answered:
        return "no answer", seconds
    if fit.extra or fit.missing:
        return f"wrong: {len(fit.extra)} too many, {len(fit.missing)} missing", seconds
    return ", ".join(number(error) for error in np.ravel(line.errors)), seconds


def keep(rows: Path, fits: Sequence[Fit]) -> None:
    """Write these fits over those of a file."""
    lines = (json.dumps(asdict(fit)) + "\n" for fit in fits)
    write_file(rows, "".join(lines).encode(), overwrite=True)


def renewed(page: str, text: str) -> str:
    """Return a page with the table between its two marks replaced."""
    before, _, rest = page.partition(BEGIN)
    _, mark, behind = rest.partition(END)
    if not mark:
        raise ValueError(f"The page has no {BEGIN.strip()} … {END.strip()}.")
    return f"{before}{BEGIN}\n{text}\n{END}{behind}"


def main(words: Sequence[str] | None = None) -> None:
    """Read the command line, make what is missing, write the table into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=Path, default=ROWS, help="where fits are kept")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the table goes")
    parser.add_argument("--problems", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--table", action="store_true", help="make no fits")
    parser.add_argument("--again", action="store_true", help="forget the fits that are kept")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of a program on one recording")
    parser.add_argument("--only", nargs=2, metavar=("PROGRAM", "RECORDING"), help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.only:
        make(*given.only, given.rows)
        return
    if given.again:
        given.rows.unlink(missing_ok=True)
    if not given.table:
        run(given.rows, lambda text: print(text, file=sys.stderr, flush=True), given.problems, given.limit)
    fits = [fit for line in best_lines(load(given.rows)) for fit in line.fits]
    if not given.table:
        keep(given.rows, fits)
    text = table(fits)
    write_file(given.page, renewed(given.page.read_text(encoding="utf-8"), text).encode(), overwrite=True)
    print(text)


if __name__ == "__main__":
    main()
