"""Where independent work runs: in this process, in worker processes on this machine, or by an executor.

What is done is a function of one argument, its task, that returns an answer; both travel as plain data, so a
function is known by its name and never sent. A process keeps the code that it has compiled, so pieces of work of one
shape, one after the other, stay in one process. Chains keep their order.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, Protocol, TypeVar

from hiddenphysics.errors import ModelError

ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "NPROC": "1",  # the pool that XLA runs its own loops in, whatever its flags say
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # of several processes on one GPU the first would take its memory
}
"""Environment of a worker process: several that each use all cores slow each other down 10 to 25 times."""
AHEAD = 3
"""Tasks in flight for each thread of a cluster: enough to keep it busy, few enough to keep memory small."""
READY = "ready"
"""What a worker process says when it has been started and its imports are done."""


class Placed(Protocol):
    """A piece of work that waits: what matters to where and when it runs."""

    @property
    def shape(self) -> Hashable:
        """Work of one shape shares compiled code when it runs in one process."""

    @property
    def chained(self) -> bool:
        """Whether work of this shape must keep its order, one at a time."""


Unit = TypeVar("Unit", bound=Placed)
Task = TypeVar("Task")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Lost:
    """Stands in the place of an answer that a worker has not lived to give."""

    reason: str


class TimeIsUp(Exception):  # noqa: N818  # it is a message, like StopIteration: the work itself is sound
    """The deadline has passed with work still to be done."""


class Executor(Protocol):
    """What is asked of an executor: `concurrent.futures.Executor` has it, and so have clients of Dask."""

    def submit(self, function: Callable[[Any], Any], task: Any, /) -> Any:
        """Return a future with `add_done_callback`, `result` and `cancel`."""


def in_this_process(
    units: Sequence[Unit], task: Callable[[Unit], Task], perform: Callable[[Task], Answer]
) -> Iterator[tuple[Unit, Answer]]:
    """Do one piece of work after the other, here."""
    for unit in units:
        yield unit, perform(task(unit))


def in_processes(
    units: Sequence[Unit],
    task: Callable[[Unit], Task],
    perform: Callable[[Task], Answer],
    workers: int,
    *,
    deadline: float | None = None,
) -> Iterator[tuple[Unit, Answer | Lost]]:
    """Do the work in several processes with one thread each; yield each answer as it comes.

    Parameters
    ----------
    units, task
        What waits, and the task that it becomes when its turn has come; by then all answers before it were yielded.
    perform
        The function that a worker calls with a task: of a module, since a process looks it up by its name.
    workers
        The largest number of processes.
    deadline
        When `time.monotonic` has reached it, `TimeIsUp` is raised and the processes are ended.
    """
    waiting = Queue(units)
    processes: list[WorkerProcess[Unit, Task, Answer]] = []
    try:
        while True:
            while len(processes) < workers and waiting.left > sum(p.unit is None for p in processes):
                processes.append(WorkerProcess(perform))
            for process in (p for p in processes if p.ready and p.unit is None):
                unit = waiting.next(process.shape, [p.shape for p in processes if p.unit])
                if unit is not None:
                    process.begin(unit, task(unit))
            starting = [p for p in processes if waiting.left and not p.ready]
            expected = {p.connection: p for p in processes if p.unit is not None or p in starting}
            if not expected:
                return
            heard = wait(list(expected), _left(deadline))
            if not heard:
                raise TimeIsUp
            for ready in heard:
                assert isinstance(ready, Connection)  # noqa: S101  # only connections are waited for
                process = expected[ready]
                finished = process.hear()
                if not process.alive:
                    processes.remove(process)
                    process.stop()
                    _check_can_begin(process, processes)
                if finished is not None:
                    yield finished
    finally:
        for process in processes:
            process.stop()


def by_executor(
    units: Sequence[Unit],
    task: Callable[[Unit], Task],
    perform: Callable[[Task], Answer],
    executor: Executor,
    *,
    at_once: int,
    deadline: float | None = None,
) -> Iterator[tuple[Unit, Answer | Lost]]:
    """Let an executor do the work, `at_once` tasks in its hands; yield each answer as it comes.

    Workers need no files, only this package.
    """
    waiting = Queue(units)
    flying: dict[int, tuple[Unit, Any]] = {}
    landed: queue.SimpleQueue[int] = queue.SimpleQueue()
    numbers = iter(range(len(units)))

    def send() -> bool:
        unit = waiting.next(None, [u.shape for u, _ in flying.values()])
        if unit is None:
            return False
        number = next(numbers)
        future = executor.submit(perform, task(unit))
        flying[number] = unit, future
        future.add_done_callback(lambda _: landed.put(number))
        return True

    try:
        while len(flying) < at_once and send():
            pass
        while flying:
            try:
                number = landed.get(timeout=_left(deadline))
            except queue.Empty:
                raise TimeIsUp from None
            unit, future = flying.pop(number)
            yield unit, _landed(future)
            while len(flying) < at_once and send():
                pass
    finally:
        for _, future in flying.values():
            future.cancel()


def duration(seconds: float) -> str:
    """Write a time span.

    >>> duration(42.0), duration(150.0), duration(8000.0)
    ('42 s', '2.5 min', '2.2 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class Queue(Generic[Unit]):
    """Work that waits, by shape, and what of it comes next."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._waiting: dict[Hashable, deque[Unit]] = {}
        for unit in units:
            self._waiting.setdefault(unit.shape, deque()).append(unit)

    @property
    def left(self) -> int:
        """How many wait."""
        return sum(map(len, self._waiting.values()))

    def next(self, shape: Hashable, others: Sequence[Hashable]) -> Unit | None:
        """Return one of the same shape, else of one that nobody works on, else of the one with most left for each.

        A chain that somebody works on is left to them; None when nothing else waits.
        """
        free = [s for s, units in self._waiting.items() if not (units[0].chained and s in others)]
        if not free:
            return None
        if shape not in free:
            alone = [s for s in free if s not in others]
            shape = (
                alone[0] if alone else max(free, key=lambda s: len(self._waiting[s]) / (1 + others.count(s)))
            )
        units = self._waiting[shape]
        unit = units.popleft()
        if not units:
            del self._waiting[shape]
        return unit


class WorkerProcess(Generic[Unit, Task, Answer]):
    """One worker process, and what it has in hand.

    Attributes
    ----------
    unit, shape
        What it works on, None when it is idle, and the shape of the last.
    ready
        Whether it has said that it can begin.
    alive
        False when it was found dead.
    """

    def __init__(self, perform: Callable[[Task], Answer]) -> None:
        self.unit: Unit | None = None
        self.shape: Hashable = None
        self.ready = False
        self.alive = True
        context = multiprocessing.get_context("spawn")  # a fork after JAX has started its threads may hang
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, perform), daemon=True)
        with _pinned(), deaf_to_interrupts():
            self._process.start()
        theirs.close()

    def begin(self, unit: Unit, task: Task) -> None:
        """Hand a task to the process."""
        self.unit, self.shape = unit, unit.shape
        try:
            self.connection.send(task)
        except OSError:
            return  # it has died while it was idle; `hear` will say so
        except Exception as problem:  # whatever a class raises that cannot be copied
            raise ModelError(
                f"What was given cannot be sent to a worker process: {problem}. Define its class in a module that "
                "can be imported, or stay in this process with workers=1."
            ) from problem

    def hear(self) -> tuple[Unit, Answer | Lost] | None:
        """Return what was finished, or lost with the process; None when it had nothing in hand."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.alive = False
            self._process.join()
            if self.unit is None:
                return None
            return self.unit, Lost(
                f"the worker process ended with {self.ending}, most likely for lack of memory; use fewer workers"
            )
        if not self.ready:
            self.ready = True
            return None
        unit, self.unit = self.unit, None
        assert unit is not None  # noqa: S101  # a process without a task is silent
        return unit, message

    @property
    def ending(self) -> str:
        """How a dead process has ended."""
        code = self._process.exitcode
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.terminate()
        self._process.join()
        self.connection.close()


def _serve(connection: Connection, perform: Callable[[Any], Any]) -> None:
    """Do what comes, until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        connection.send(READY)
        while True:
            connection.send(perform(connection.recv()))
    except (EOFError, OSError):
        return


def end_with_parent() -> None:
    """Leave no process behind when the parent is killed, not even one in the middle of a long fit."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _pinned() -> Iterator[None]:
    """Let a process that starts now use one thread; what the user has set stays."""
    ours = {name: value for name, value in ONE_THREAD.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]


@contextmanager
def deaf_to_interrupts() -> Iterator[None]:
    """Let a process that starts now not hear Ctrl-C, not even during its imports; here it is only heard later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _check_can_begin(dead: WorkerProcess, others: Sequence[WorkerProcess]) -> None:
    """Refuse to go on where no process comes as far as its first task; where others do, one more will."""
    if not dead.ready and not any(p.ready for p in others):
        raise ModelError(
            f"A worker process ended with {dead.ending} before it could begin. Each of them imports the script that "
            'asks for it, which has to be a file and to guard itself: put the call under if __name__ == "__main__":, '
            "or stay in this process with workers=1."
        )


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(deadline - time.monotonic(), 0.0)


def _landed(future: Any) -> Any:
    try:
        return future.result()
    except CancelledError:
        return Lost("the executor has cancelled this fit")
    except Exception as problem:  # whatever an executor raises for a worker that was lost
        return Lost(f"the executor lost this fit: {type(problem).__name__}: {problem}")
