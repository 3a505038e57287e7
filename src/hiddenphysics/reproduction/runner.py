"""One runner for all studies: any number of processes or a cluster, resumed where it stopped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from hiddenphysics.errors import MissingExtraError, ModelError
from hiddenphysics.reproduction.checkpoint import FAILED, Checkpoint, Row, failure
from hiddenphysics.reproduction.fit_plan import FitJob, Plan, Unit
from hiddenphysics.reproduction.fitting import perform
from hiddenphysics.reproduction.study import Study
from hiddenphysics.reproduction.study_data import Library
from hiddenphysics.workers import AHEAD, Lost, by_executor, in_processes, in_this_process


@dataclass(frozen=True)
class Progress:
    """How far a run is; `left` is the estimated time to its end in seconds, None before the first fit."""

    done: int
    total: int
    left: float | None
    doing: str


@dataclass(frozen=True)
class Outcome:
    """The plan and, by key, the rows of its fits."""

    plan: Plan
    rows: dict[str, Row]

    @property
    def failed(self) -> int:
        """How many fits have no answer."""
        return sum(row["status"] == FAILED for row in self.rows.values())


def run(
    studies: Sequence[Study],
    folder: Path,
    *,
    workers: int = 1,
    scheduler: str | None = None,
    data: Path | None = None,
    datasets: Path | None = None,
    retry: bool = False,
    fit: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Run studies, or what is left of them.

    Parameters
    ----------
    studies
        What to run, such as ``STUDIES.values()`` or ``choose(["burgers"])``.
    folder
        Every finished fit is kept here (`fits.jsonl`); a run that was killed goes on from there.
    workers
        Processes, one thread each; 0 runs in this process. A script that asks for processes must guard itself with
        ``if __name__ == "__main__"``, since each of them imports it.
    scheduler
        Address of a `dask.distributed` scheduler, instead of processes.
    data, datasets
        An original file or a folder of them; the folder of the project's own data sets.
    retry
        Run fits again that failed before.
    fit
        Whether to run what is left, or to return what is there.
    """
    checkpoint = Checkpoint(folder)
    # Who only reads may do so while another process fits.
    with checkpoint.held() if fit else nullcontext():
        plan = Plan(tuple(studies), Library(data, datasets))
        digests = _Digests(plan)
        kept = checkpoint.read()
        rows = {u.key: kept[u.key] for u in plan.units if _usable(kept.get(u.key), digests.of(u), retry)}
        waiting = [unit for unit in plan.units if fit and unit.key not in rows]
        clock = _Clock(plan, rows, workers)
        tell = progress or (lambda progress: None)
        idle = "nothing left to fit" if fit else "nothing is fitted"
        tell(clock.read(_words(waiting[0]) if waiting else idle))

        def task(unit: Unit) -> FitJob:
            return plan.task(unit, _end_before(unit, rows))

        for unit, fit_row in _fits(waiting, task, workers, scheduler):
            row = {"key": unit.key, "digest": digests.of(unit)} | fit_row
            checkpoint.append(row)
            rows[unit.key] = row
            clock.count(unit, row)
            tell(clock.read(_words(unit)))
        return Outcome(plan, rows)


def _fits(
    units: Sequence[Unit], task: Callable[[Unit], FitJob], workers: int, scheduler: str | None
) -> Iterator[tuple[Unit, Row]]:
    """Yield every fit as it finishes, wherever it was made; a worker that died leaves a failed one."""
    answers: Iterator[tuple[Unit, Row | Lost]] = iter(())
    if units and scheduler is not None:
        answers = _on_cluster(units, task, scheduler)
    elif units and workers > 0:
        answers = in_processes(units, task, perform, workers)
    elif units:
        answers = in_this_process(units, task, perform)
    for unit, answer in answers:
        yield unit, failure(answer.reason) if isinstance(answer, Lost) else answer


def _on_cluster(
    units: Sequence[Unit], task: Callable[[Unit], FitJob], address: str
) -> Iterator[tuple[Unit, Row | Lost]]:
    try:
        distributed = import_module("distributed")
    except ImportError as missing:
        raise MissingExtraError(
            'A cluster needs dask.distributed. Type: pip install "hiddenphysics[cluster]"'
        ) from missing
    try:
        client = distributed.Client(address, timeout="20s")
    except (OSError, ValueError) as problem:
        raise ModelError(
            f"No scheduler answered at {address!r}: {problem}. Start one with `dask scheduler` and workers with "
            "`dask worker ADDRESS --nthreads 1`, and give its address, such as --scheduler tcp://127.0.0.1:8786."
        ) from problem
    with client:
        at_once = AHEAD * max(1, sum(client.nthreads().values()))
        yield from by_executor(units, task, perform, client.get_executor(pure=False), at_once=at_once)


def _end_before(unit: Unit, rows: Mapping[str, Row]) -> dict[str, float] | None:
    """Return where the pair before ended, or the last one before that has an end; None where a chain begins."""
    before = unit.before
    while before is not None:
        row = rows.get(before.key, {})
        if "end" in row:
            return dict(row["end"])
        before = before.before
    return None


def _usable(row: Row | None, digest: str, retry: bool) -> bool:
    return row is not None and row.get("digest") == digest and not (retry and row["status"] == FAILED)


class _Digests:
    """The digest of a unit, which depends on its study, its data and whether it is searched in a chain."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._known: dict[tuple[str, str, bool], str] = {}

    def of(self, unit: Unit) -> str:
        key = unit.study, unit.data, unit.chained
        if key not in self._known:
            self._known[key] = self._plan.digest(unit)
        return self._known[key]


class _Clock:
    """Estimates the time left from the seconds that fits of each study and model took.

    Until one of them has ended, the same model's fits of other studies stand for it, and until then all fits.
    """

    def __init__(self, plan: Plan, rows: dict[str, Row], workers: int) -> None:
        self._left: dict[tuple[str, str], int] = defaultdict(int)
        self._seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
        self._total, self._done = len(plan.units), 0
        self._workers = max(workers, 1)
        for unit in plan.units:
            self._left[unit.study, unit.model] += 1
        for unit in plan.units:
            if unit.key in rows:
                self.count(unit, rows[unit.key])

    def count(self, unit: Unit, row: Row) -> None:
        self._left[unit.study, unit.model] -= 1
        self._seconds[unit.study, unit.model].append(float(row.get("seconds") or 0.0))
        self._done += 1

    def read(self, doing: str) -> Progress:
        left = None
        if self._done:
            left = sum(n * self._expected(kind) for kind, n in self._left.items() if n) / self._workers
        return Progress(self._done, self._total, left, doing)

    def _expected(self, kind: tuple[str, str]) -> float:
        """Return the seconds that a fit will take, by those most like it."""
        others = [seconds for (_, model), seconds in self._seconds.items() if model == kind[1]]
        like = [self._seconds[kind]] if kind in self._seconds else others or list(self._seconds.values())
        return sum(map(_usual, like)) / len(like)


def _usual(seconds: Sequence[float]) -> float:
    """Return the mean without the first, which has waited for the compiler."""
    later = seconds[1:] or seconds
    return sum(later) / len(later)


def _words(unit: Unit) -> str:
    return f"{unit.study}, {unit.model}"
