"""What the long benchmarks share: every case in a process of its own, kept at once, tables in Markdown.

A benchmark is a module with a function `answer` (a case of plain data -> a row of plain data), run as
`python -m benchmarks.NAME --to FOLDER`. A run that was stopped goes on: finished cases are in `fits.jsonl` there. A
fresh process with one thread makes seconds and memory honest: nothing was compiled before, nothing else is in it. Where
coverage is what counts, and hundreds of fits are alike, a process is kept for one case after the other, and what it has
compiled with it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from hiddenphysics.compiled_code import CACHE_VARIABLE
from hiddenphysics.workers import ONE_THREAD
from hiddenphysics.writer import Journal

Case = dict[str, Any]
Row = dict[str, Any]
"""What was asked and what came out, ready for JSON."""

OUTPUT = Path("output") / "benchmarks"
ROOT = Path(__file__).parents[1]
TWO_SIDED_95 = 1.959964
"""Half width of the 95 % interval of a normal distribution, in deviations."""
DIED = "died"
"""Status of a case whose process has ended without an answer."""
ASKED = "asked"
"""Said in place of a case to a process that is kept: cases come as lines, and go as lines."""


def arguments(about: str | None) -> argparse.ArgumentParser:
    """Return a parser with what every benchmark takes."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--to", type=Path, default=OUTPUT, help=f"folder of rows and tables; {OUTPUT}")
    parser.add_argument("--small", action="store_true", help="a version for seconds instead of hours")
    parser.add_argument("--retry", action="store_true", help="run cases again whose process has died")
    parser.add_argument("--workers", type=int, default=1, help="cases side by side, each with one thread; 1")
    parser.add_argument(
        "--time-limit", type=float, metavar="SECONDS", help="of one fit; by default that of the library"
    )
    parser.add_argument("--case", type=json.loads, help=argparse.SUPPRESS)  # what the processes are told
    return parser


def answered(answer: Callable[[Case], Row], case: Case | str) -> None:
    """Answer one case in this process, or as many as are asked, and print it for the one that waits."""
    for one in map(json.loads, sys.stdin) if case == ASKED else [case]:
        print(json.dumps(answer(one)), flush=True)


def as_told(module: str, cases: Iterable[Case], given: argparse.Namespace) -> list[Row]:
    """Run cases as the command line says (`arguments`), in processes that are kept from one to the next."""
    return carry_out(
        module,
        cases,
        given.to,
        retry=given.retry,
        workers=given.workers,
        kept=True,
        time_limit=given.time_limit,
    )


def carry_out(
    module: str,
    cases: Iterable[Case],
    folder: Path,
    *,
    retry: bool = False,
    workers: int = 1,
    kept: bool = False,
    time_limit: float | None = None,
) -> list[Row]:
    """Run the cases that are not done yet, so many side by side; return the rows of all of them, in order.

    Parameters
    ----------
    module
        Name under which Python finds the benchmark, such as ``"benchmarks.points"``.
    cases
        What to run; two that are equal are one.
    folder
        Where finished cases are kept.
    kept
        Whether a process answers one case after the other; otherwise every case has its own.
    time_limit
        Seconds that a fit may take, told with the case as ``"time_limit"``; it is no part of what was asked.
    """
    journal = Journal(folder / "fits.jsonl")
    done = {row["key"]: row for row in journal.read() if "key" in row}
    every = {f"{module} {json.dumps(case, sort_keys=True)}": case for case in cases}

    def run(key: str) -> Row:
        print(key, file=sys.stderr, flush=True)
        asked = every[key] if time_limit is None else every[key] | {"time_limit": time_limit}
        if not kept:
            return {"key": key, "case": every[key]} | _in_a_process(module, asked)
        try:
            process = waiting.get_nowait()
        except Empty:
            process = _Kept(module)
        row = process.answer(asked)
        if row["status"] == DIED:
            process.end()
        else:
            waiting.put(process)
        return {"key": key, "case": every[key]} | row

    waiting: SimpleQueue[_Kept] = SimpleQueue()
    left = [key for key in every if key not in done or (retry and done[key]["status"] == DIED)]
    try:
        with ThreadPoolExecutor(workers) as threads:  # they only wait for processes
            for made in as_completed([threads.submit(run, key) for key in left]):
                row = made.result()
                journal.append(row)
                done[row["key"]] = row
    finally:
        while not waiting.empty():
            waiting.get().end()
    return [done[key] for key in every]


class _Kept:
    """A process that answers one case after the other."""

    def __init__(self, module: str) -> None:
        words = [sys.executable, "-m", module, "--case", json.dumps(ASKED)]
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed in `end`)
        self.process = subprocess.Popen(
            words,
            env=ONE_THREAD | os.environ,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )

    def answer(self, case: Case) -> Row:
        """Return the row of a case."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        began = time.perf_counter()
        try:
            self.process.stdin.write(json.dumps(case) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.errors.seek(0)
            said = self.errors.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
            return {
                "status": DIED,
                "explanation": f"exit code {code}: {said[-1]}",
                "cold": time.perf_counter() - began,
            }
        return json.loads(line)

    def end(self) -> None:
        """Ask for no more cases."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()
        self.errors.close()


def _in_a_process(module: str, case: Case) -> Row:
    words = [sys.executable, "-m", module, "--case", json.dumps(case)]
    with tempfile.TemporaryDirectory() as nothing_compiled:
        # What was compiled before would hide the cost of compiling; what the caller has chosen stays.
        environment = ONE_THREAD | {CACHE_VARIABLE: nothing_compiled} | os.environ
        began = time.perf_counter()
        run = subprocess.run(words, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
        cold = time.perf_counter() - began
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return {"status": DIED, "explanation": f"exit code {run.returncode}: {last}", "cold": cold}
    return json.loads(run.stdout.splitlines()[-1]) | {"cold": cold}


def peak_gib() -> float:
    """Return the largest resident memory of this process so far, in GiB.

    Linux counts in `ru_maxrss` also what the parent had in memory when it started this process; VmHWM does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(w for w in status.read_text().splitlines() if w.startswith("VmHWM:"))
        return int(line.split()[1]) / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def fitted(equation: str, data: Any, **options: Any) -> tuple[Any, Row]:
    """Identify, and return the result and its row: estimates, deviations, seconds, peak memory, status, rounds.

    Where the data are refused the result is None. `rounds` is the median time of a round and their number, from the
    stages that the fit tells.
    """
    import hiddenphysics as hp

    stages: list[tuple[float, str]] = []
    began = time.perf_counter()
    try:
        fit = hp.identify(
            equation, data, progress=lambda stage: stages.append((time.perf_counter(), stage)), **options
        )
    except hp.HiddenPhysicsError as problem:
        seconds = time.perf_counter() - began
        return None, {
            "status": "refused",
            "explanation": str(problem),
            "seconds": seconds,
            "peak": peak_gib(),
        }
    ended = time.perf_counter()
    moments = [*(moment for moment, _ in stages), ended]
    rounds = [
        later - moment
        for (moment, stage), later in zip(stages, moments[1:], strict=True)
        if stage.startswith("round")
    ]
    row = {
        "status": str(fit.status),
        "explanation": fit.explanation,
        "model": fit.model,
        "estimates": {name: e.estimate for name, e in fit.parameters.items()},
        "stds": {name: e.std for name, e in fit.parameters.items()},
        "seconds": ended - began,
        "rounds": len(rounds),
        "round_seconds": sorted(rounds)[len(rounds) // 2] if rounds else None,
        "peak": peak_gib(),
    }
    return fit, row


class Errors(NamedTuple):
    """Errors of one parameter over some draws, None where there is nothing to tell.

    Attributes
    ----------
    percent
        Root mean square, in % of the truth.
    mean_square, largest
        Of errors in stated deviations: 1 is expected of the first.
    covered
        Part of the 95 % intervals that hold the truth.
    """

    percent: float | None
    mean_square: float | None
    largest: float | None
    covered: float | None


def errors(fits: Iterable[Row], name: str, truth: float) -> Errors:
    """Return the errors of a parameter in rows of `fitted`; of those without a deviation only the first is told."""
    ended = [fit for fit in fits if "estimates" in fit]
    off = np.array([fit["estimates"][name] - truth for fit in ended])
    stds = np.array([fit["stds"][name] for fit in ended])
    apart = off[stds > 0] / stds[stds > 0]
    percent = float(100 * np.sqrt(np.mean(off**2)) / abs(truth)) if len(off) else None
    if not len(apart):
        return Errors(percent, None, None, None)
    covered = np.mean(np.abs(apart) < TWO_SIDED_95)
    return Errors(percent, float(np.mean(apart**2)), float(np.abs(apart).max()), float(covered))


def median(fits: Iterable[Row], name: str) -> float | None:
    """Return the median of a number that most rows have."""
    values = [fit[name] for fit in fits if fit.get(name) is not None]
    return float(np.median(values)) if values else None


def table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown; numbers get three digits, what is missing a dash."""
    rows = ["| " + " | ".join(map(_cell, line)) + " |" for line in lines]
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *rows])


def write(folder: Path, name: str, text: str) -> None:
    """Print a report and keep it as a page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    print(text)


def counted(words: Iterable[str]) -> str:
    """Say how often each word occurs: ``converged 4, refused 1``.

    >>> counted(["b", "a", "b"])
    'b 2, a 1'
    """
    given = list(words)
    return ", ".join(f"{word} {given.count(word)}" for word in dict.fromkeys(given))


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
