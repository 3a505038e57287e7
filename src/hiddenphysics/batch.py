"""Many questions about one equation: hundreds of data sets in, their parameters out, on all cores."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

from hiddenphysics.errors import HiddenPhysicsError, ModelError
from hiddenphysics.identification import check_model, identify
from hiddenphysics.learning import Status
from hiddenphysics.result import Packed, Result, pack, unpack
from hiddenphysics.snapshots import Experiments, Snapshots, read_experiments
from hiddenphysics.together import meet
from hiddenphysics.workers import AHEAD, Executor, Lost, TimeIsUp, by_executor, duration, in_processes

LEAST_TOGETHER = 32
"""Fits that a process makes as one program on a GPU: with fewer, another process costs more than it saves."""

INTERRUPTED = "It was interrupted before it had ended; what was done before stands."


@dataclass(frozen=True)
class Failure:
    """Stands in the place of a `Result` where a fit has no answer.

    Attributes
    ----------
    explanation
        Why, in a sentence: what `identify` would have raised, or what became of the worker.
    """

    explanation: str

    @property
    def status(self) -> Status:
        """``failed``, so that a list of results and failures can be asked for its statuses."""
        return Status.FAILED

    def __str__(self) -> str:
        return f"{self.status}: {self.explanation}"


@dataclass(frozen=True)
class Ask:
    """One fit of a batch, as a worker is given it: a question and its place in the list.

    Attributes
    ----------
    number
        Its place.
    equation, data, options
        What `identify` is called with; the data are checked `Experiments`, or a path that the worker reads.
    """

    number: int
    equation: str
    data: Any
    options: dict[str, Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of points: fits of the same shape share compiled code, so they stay in one process."""
        if not isinstance(self.data, Experiments):
            return ()
        return tuple(len(snapshot) for run in self.data for snapshot in run)

    @property
    def chained(self) -> bool:
        """No fit has to wait for another."""
        return False


@dataclass(frozen=True)
class Means:
    """What a batch may use: worker processes or an executor, and until when (`time.monotonic`)."""

    workers: int
    executor: Executor | None
    deadline: float | None


Answers = Iterator[tuple[int, Result | Failure]]
"""Places and what belongs there, as it comes, in any order."""


def identify_many(
    equation: str,
    data: Iterable[Any],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[str], None] | bool = False,
    time_limit: float | None = None,
    **options: Any,
) -> list[Result | Failure]:
    """Identify the parameters of one PDE from each of many data sets, on all cores.

    Every fit is the one that `identify` makes in a process with one thread: the same numbers to the last bit on a CPU.

    Parameters
    ----------
    equation
        The PDE as text, see `identify`.
    data
        Data sets, or a generator of them; each is whatever `identify` takes: `Snapshots`, a list of `Snapshot`, a path,
        a list of experiments that share their parameters. Paths are read by the workers. `Experiments` are fitted one
        by one, each with parameters of its own.
    workers
        Processes with one thread each; by default as many as there are cores and data sets. With 1 the fits are made in
        this process. With a GPU every process makes its share of the fits as one program. A script that asks for more
        must guard itself with
        ``if __name__ == "__main__"``, since each of them imports it. Beside an executor: how many of its workers to
        keep busy.
    executor
        Whatever has the ``submit`` of `concurrent.futures.Executor`, instead of processes; of Dask,
        ``client.get_executor()``.
    progress
        Called with such words as ``"317 of 1000 done, 12 s left"``; True prints them to stderr.
    time_limit
        Seconds for all of it; a fit that has not ended by then is a `Failure` that says so.
    **options
        The keywords of `identify`, the same for all: ``model``, ``kernel``, ``bounds``, …

    Returns
    -------
    list of Result or Failure
        In the order of the data. A data set that is refused, or a worker that dies, costs its own fit alone and leaves
        a `Failure` with the reason. Ctrl-C ends the batch: what is done is returned, the rest are failures.

    Examples
    --------
    >>> fits = identify_many("u_t + a*u*u_x - b*u_xx = 0", ["one.csv", "two.csv"])  # doctest: +SKIP
    >>> [fit.parameters["b"].estimate for fit in fits if not fit.status.is_bad]  # doctest: +SKIP
    """
    deadline = _deadline(time_limit)
    _check_options(options)
    given = [data] if isinstance(data, str | os.PathLike | Snapshots) else list(data)
    means = Means(_count(workers, len(given), executor), executor, deadline)
    found: list[Result | Failure | None] = [None] * len(given)
    asks = []
    # Paths are read by the workers, with all options; what is read here needs some of them here.
    here = {name: options[name] for name in ("columns", "time_unit", "experiment") if name in options}
    there = {name: value for name, value in options.items() if name not in here}
    for number, one in enumerate(given):
        try:
            if isinstance(one, str | os.PathLike):
                asks.append(Ask(number, equation, one, options))
            else:
                asks.append(Ask(number, equation, read_experiments(one, **here), there))
        except HiddenPhysicsError as problem:
            found[number] = Failure(str(problem))
    clock = _Clock(len(given), len(given) - len(asks), means.workers, _speaker(progress))
    why = INTERRUPTED
    try:
        for number, answer in answers(asks, means):
            found[number] = answer
            clock.count()
    except TimeIsUp:
        why = f"It had not ended within the time limit of {time_limit:g} s."
    except KeyboardInterrupt:
        clock.say("interrupted")
    return [Failure(why) if answer is None else answer for answer in found]


# ---- how a batch is answered --------------------


def answers(asks: Sequence[Ask], means: Means) -> Answers:
    """Answer the questions of a batch by what there is; the one place that chooses how."""
    if means.executor is not None:
        at_once = AHEAD * means.workers
        return _unpacked(
            by_executor(asks, _itself, perform, means.executor, at_once=at_once, deadline=means.deadline)
        )
    if on_gpu():
        return _on_gpu(asks, means)
    if means.workers > 1:
        return _unpacked(in_processes(asks, _itself, perform, means.workers, deadline=means.deadline))
    return _here(asks, means.deadline)


def on_gpu() -> bool:
    """Whether compiled functions run on a GPU."""
    import jax

    return bool(jax.default_backend() == "gpu")


@dataclass(frozen=True)
class Chunk:
    """Fits that are made as one program."""

    asks: tuple[Ask, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """All chunks may run anywhere."""
        return ()

    @property
    def chained(self) -> bool:
        """No chunk has to wait for another."""
        return False


def perform_together(chunk: Chunk) -> list[Packed | Failure]:
    """Make the fits of a chunk at the same time: what they ask of the GPU is answered together (`meet`)."""
    return [_packed(answer) for answer in meet(_answer, chunk.asks)]


def _on_gpu(asks: Sequence[Ask], means: Means) -> Answers:
    """Share the fits among a few processes: their decisions take a core each, the GPU serves all of them."""
    shares = min(means.workers, max(len(asks) // LEAST_TOGETHER, 1))
    chunks = [Chunk(tuple(asks[first::shares])) for first in range(shares)]
    if shares == 1:
        for ask, answer in zip(chunks[0].asks, meet(_answer, chunks[0].asks), strict=True):
            yield ask.number, answer if isinstance(answer, Result | Failure) else _failed(answer)
        return
    for chunk, answers in in_processes(chunks, _itself, perform_together, shares, deadline=means.deadline):
        each: Sequence[Packed | Failure | Lost]
        each = [answers] * len(chunk.asks) if isinstance(answers, Lost) else answers
        yield from _unpacked(iter(zip(chunk.asks, each, strict=True)))


def perform(ask: Ask) -> Packed | Failure:
    """Make one fit, as a worker does: the answer is plain data and arrays, since code does not travel."""
    return _packed(_answer(ask))


def _packed(answer: Result | Failure | Exception) -> Packed | Failure:
    return pack(answer) if isinstance(answer, Result) else _failed(answer)


def _failed(answer: Failure | Exception) -> Failure:
    return answer if isinstance(answer, Failure) else Failure(f"{type(answer).__name__}: {answer}")


def _here(asks: Sequence[Ask], deadline: float | None) -> Answers:
    """Make the fits one after the other in this process; time is looked at whenever one tells its stage."""

    def watch(stage: str) -> None:
        if deadline is not None and time.monotonic() > deadline:
            raise TimeIsUp

    for ask in asks:
        yield ask.number, _answer(ask, watch)


def _answer(ask: Ask, watch: Callable[[str], None] | bool = False) -> Result | Failure:
    try:
        return identify(ask.equation, ask.data, progress=watch, **ask.options)
    except HiddenPhysicsError as problem:
        return Failure(str(problem))
    except TimeIsUp:
        raise
    except Exception as problem:  # a fit of thousands must not end the others; its reason is kept
        return _failed(problem)


def _unpacked(travelled: Iterator[tuple[Ask, Packed | Failure | Lost]]) -> Answers:
    for ask, answer in travelled:
        if isinstance(answer, Lost):
            yield ask.number, Failure(f"{answer.reason[0].upper()}{answer.reason[1:]}.")
        else:
            yield ask.number, answer if isinstance(answer, Failure) else unpack(answer)


def _itself(ask: Any) -> Any:
    return ask


# ---- at the door --------------------


def _check_options(options: dict[str, Any]) -> None:
    """Refuse once what every fit would refuse."""
    known = [
        name
        for name, one in signature(identify).parameters.items()
        if one.kind is one.KEYWORD_ONLY and name != "progress"
    ]
    for name in options:
        if name not in known:
            raise ModelError(f"The option {name!r} was given; identify takes {', '.join(known)}.")
    check_model(options.get("model", "auto"))


def _count(workers: int | None, fits: int, executor: Executor | None) -> int:
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ModelError(
            f"{executor!r:.80} was given as executor; needed is something with submit(function, task), such as "
            "concurrent.futures.ThreadPoolExecutor() or, of Dask, client.get_executor()."
        )
    if workers is not None:
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
            raise ModelError(
                f"workers={workers!r:.80} was given; needed is a number of processes, 1 for this one alone."
            )
        return workers
    if executor is not None:
        return max(fits, 1)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(min(cores, fits), 1)


def _deadline(limit: float | None) -> float | None:
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not limit > 0:
        raise ModelError(f"time_limit={limit!r:.80} was given; needed is a number of seconds above 0.")
    return time.monotonic() + limit


# ---- progress --------------------


def _speaker(progress: Callable[[str], None] | bool) -> Callable[[str], None]:
    if callable(progress):
        return progress
    return partial(print, file=sys.stderr, flush=True) if progress else (lambda words: None)


class _Clock:
    """Tells how far a batch is, and from the pace since all workers had their first fit how long it will last.

    The first fit of every worker has waited for the compiler.
    """

    def __init__(self, total: int, done: int, workers: int, say: Callable[[str], None]) -> None:
        self.say = say
        self._total, self._done, self._first = total, done, done + workers
        self._began = self._warm = time.monotonic()

    def count(self) -> None:
        """Count a fit, and tell."""
        self._done += 1
        now = time.monotonic()
        if self._done == self._first:
            self._warm = now
        paced = self._done - self._first
        words = f"{self._done} of {self._total} done"
        left = self._total - self._done
        if left and paced > 0:
            words += f", {duration(left * (now - self._warm) / paced)} left"
        self.say(words)
