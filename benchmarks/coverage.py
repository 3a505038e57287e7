"""How often do stated intervals hold the truth? `python -m benchmarks.coverage --draws 200 --workers 8`.

A cell is an equation, a model, a noise and a gap: `burgers/flow/1 %/short`. `--cells burgers flow/clean` takes those
whose name holds one of these words. A run goes on where it was stopped: rows are in `coverage.jsonl` of `--folder`,
the table is `coverage.md` beside it. Data are made by the project's own simulator.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import counted, table
from hiddenphysics.reproduction import STUDIES
from hiddenphysics.snapshots import Snapshots
from hiddenphysics.workers import Lost, in_processes, in_this_process
from hiddenphysics.writer import Journal, write_file

Row = dict[str, Any]

NOISES = {"clean": 0.0, "1 %": 0.01, "5 %": 0.05}
GAPS = {
    "burgers": {"short": 1, "long": 10},
    "kdv": {"short": 2, "long": 6},
    "ks": {"short": 1, "long": 3},
    "schrodinger": {"short": 5, "long": 40},
}
"""Intervals of the recording between two snapshots; one step is made for the short ones."""

PART = (0.3, 0.9)
"""Of the recording, where the first snapshot lies: Kuramoto and Sivashinsky's waves have broken up by then."""

NOMINAL = {"95 %": (0.95, 1.959964), "50 %": (0.50, 0.674490)}
"""Probability of an interval, and its half width in deviations."""

LEAST_OF_ONE_STEP, BINOMIAL = 0.88, 3.0
"""What is asked of the 95 % intervals of the models of one step, and of the flow's in binomial deviations."""


@dataclass(frozen=True)
class Cell:
    """What is drawn again and again."""

    study: str
    model: str
    noise: str
    gap: str

    @property
    def name(self) -> str:
        """As in the table."""
        return f"{self.study}/{self.model}/{self.noise}/{self.gap}"


@dataclass(frozen=True)
class Draw:
    """One fit: a cell with a number that seeds its time, its points and its noise."""

    cell: Cell
    number: int
    limit: float

    @property
    def key(self) -> str:
        """Its name, the same in every run."""
        return f"{self.cell.name}/{self.number}"

    @property
    def shape(self) -> str:
        """Draws of one cell share compiled code."""
        return self.cell.name

    @property
    def chained(self) -> bool:
        """No draw waits for another."""
        return False


def cells(words: Sequence[str] = ()) -> list[Cell]:
    """Return the cells whose name holds one of the words; all where none is given.

    The flow at every noise over short and long gaps, the models of one step at the first two noises over short ones.
    """
    flow = [
        Cell(study, "flow", noise, gap) for study in GAPS for noise in NOISES for gap in ("short", "long")
    ]
    one_step = [
        Cell(study, model, noise, "short")
        for model in ("midpoint", "paper")
        for study in GAPS
        for noise in list(NOISES)[:2]
    ]
    return [cell for cell in (*flow, *one_step) if not words or any(word in cell.name for word in words)]


@cache
def recording(name: str) -> Snapshots:
    """Return the whole field of a study, made when it is not in the cache."""
    from hiddenphysics import datasets, read

    return read(datasets.load(STUDIES[name].data))


def snapshots(draw: Draw) -> Snapshots:
    """Return the two snapshots of a draw."""
    study, whole = STUDIES[draw.cell.study], recording(draw.cell.study)
    gap = GAPS[draw.cell.study][draw.cell.gap]
    random = np.random.default_rng([draw.number, *draw.cell.name.encode()])
    first = int(random.integers(*(int(part * (len(whole) - gap)) for part in PART)))
    seed = int(random.integers(2**31))
    pair = whole[first : first + gap + 1 : gap]
    return pair.with_noise(NOISES[draw.cell.noise], seed).subsample(list(study.points), seed)


def fitted(draw: Draw) -> Row:
    """Return one row: estimates and deviations, a refusal in the package's words, or a crash by its name."""
    import hiddenphysics as hp

    study = STUDIES[draw.cell.study]
    row: Row = {"key": draw.key, "cell": draw.cell.name}
    began = time.perf_counter()
    try:
        fit = hp.identify(study.equation, snapshots(draw), model=draw.cell.model, time_limit=draw.limit)
    except hp.HiddenPhysicsError as refusal:
        row |= {"status": "refused", "said": str(refusal)}
    except Exception as crash:  # one draw must not take its worker, and what that has compiled, along
        row |= {"status": "crashed", "said": f"{type(crash).__name__}: {crash}"[:300]}
    else:
        told = fit.summary()["parameters"]
        row |= {"status": str(fit.status), "said": fit.explanation}
        row["parameters"] = {
            p: {"estimate": one["estimate"], "std": one["std"], "truth": study.truth[p]}
            for p, one in told.items()
        }
    return row | {"seconds": time.perf_counter() - began}


def run(draws: Sequence[Draw], path: Path, workers: int, say: Callable[[Row], None]) -> list[Row]:
    """Fit what the journal at `path` does not hold yet, in so many processes; return the rows of all draws."""
    journal = Journal(path)
    kept = {row["key"]: row for row in journal.read()}
    missing = [draw for draw in draws if draw.key not in kept]
    for name in {draw.cell.study for draw in missing}:
        recording(name)  # made once, not by every worker
    with journal.held():
        answers: Iterable[tuple[Draw, Row | Lost]] = (
            in_processes(missing, _same, fitted, workers)
            if workers > 1
            else in_this_process(missing, _same, fitted)
        )
        for draw, row in answers:
            if isinstance(row, Lost):
                row = {
                    "key": draw.key,
                    "cell": draw.cell.name,
                    "status": "died",
                    "said": row.reason,
                    "seconds": math.nan,
                }
            kept[draw.key] = row
            journal.append(row)
            say(row)
    return [kept[draw.key] for draw in draws]


def _same(draw: Draw) -> Draw:
    return draw


def errors(rows: Iterable[Row]) -> np.ndarray:
    """Errors of all numbers in their stated deviations; none where a fit states no finite one."""
    told = [one for row in rows for one in row.get("parameters", {}).values()]
    return np.array([(one["estimate"] - one["truth"]) / one["std"] for one in told if one["std"]])


def covered(off: np.ndarray, label: str) -> tuple[float, float]:
    """Return the part of the intervals that hold the truth, and its distance from nominal in binomial deviations."""
    nominal, width = NOMINAL[label]
    part = float(np.mean(np.abs(off) < width))
    return part, (part - nominal) / math.sqrt(nominal * (1 - nominal) / len(off))


def holds(model: str, off: np.ndarray) -> bool:
    """Whether a cell keeps its promise."""
    if model != "flow":
        return covered(off, "95 %")[0] >= LEAST_OF_ONE_STEP
    return all(abs(covered(off, label)[1]) <= BINOMIAL for label in NOMINAL)


def report(rows: Sequence[Row]) -> str:
    """Return the table of all cells, and what the flow's say together."""
    by_cell: dict[str, list[Row]] = {}
    for row in rows:
        by_cell.setdefault(row["cell"], []).append(row)
    head = ["cell", "draws", "status", "numbers", *(f"in {label} (deviations)" for label in NOMINAL), "holds"]
    lines: list[Sequence[object]] = []
    for name, some in by_cell.items():
        off = errors(some)
        shown = [_shown(off, label) for label in NOMINAL] if len(off) else ["–", "–"]
        verdict = "–" if not len(off) else "yes" if holds(name.split("/")[1], off) else "**no**"
        lines.append([name, len(some), counted(row["status"] for row in some), len(off), *shown, verdict])
    flow = errors(row for row in rows if row["cell"].split("/")[1] == "flow")
    together = (
        f"All of the flow's {len(flow)} numbers: "
        + ", ".join(f"{100 * covered(flow, label)[0]:.1f} % in their {label} intervals" for label in NOMINAL)
        + f"; root mean square error {np.sqrt(np.mean(flow**2)):.2f} deviations."
        if len(flow)
        else ""
    )
    return f"{table(head, lines)}\n\n{together}\n"


def _shown(off: np.ndarray, label: str) -> str:
    part, away = covered(off, label)
    return f"{100 * part:.1f} % ({away:+.1f})"


def main() -> None:
    """Run from a shell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", nargs="+", default=[], metavar="WORD")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--workers", type=int, default=1, help="processes, one thread each")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for every fit")
    parser.add_argument("--folder", type=Path, default=Path("output"))
    options = parser.parse_args()
    chosen = [
        Draw(cell, number, options.limit) for number in range(options.draws) for cell in cells(options.cells)
    ]
    rows = run(chosen, options.folder / "coverage.jsonl", options.workers, _say)
    write_file(options.folder / "coverage.md", report(rows).encode(), overwrite=True)
    print(report(rows))


def _say(row: Row) -> None:
    print(f"{row['key']}: {row['status']}, {row['seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
