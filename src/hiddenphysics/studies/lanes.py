"""Worker processes on this machine: fits of one shape, one after the other, stay in one process."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait

from hiddenphysics.studies.fitting import Row, failure, perform
from hiddenphysics.studies.plan import Task, Unit
from hiddenphysics.studies.waiting import Queue, Shape

ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "NPROC": "1",  # the pool that XLA runs its own loops in, whatever its flags say
}
"""Several processes that each use all cores slow each other down 10 to 25 times."""


class Lane:
    """One worker process and the fit it has in hand."""

    def __init__(self) -> None:
        self.unit: Unit | None = None
        self.shape: Shape | None = None
        context = multiprocessing.get_context("spawn")  # a fork after JAX has started its threads may hang
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _pinned():
            self._process.start()
        theirs.close()

    def begin(self, unit: Unit, task: Task) -> None:
        """Hand a fit to the process."""
        self.unit, self.shape = unit, unit.shape
        self.connection.send(task)

    def end(self) -> tuple[Unit, Row, bool]:
        """Return the finished fit, its row, and whether the process lives on."""
        unit, self.unit = self.unit, None
        assert unit is not None  # noqa: S101  # a lane without a fit is never waited for
        try:
            return unit, self.connection.recv(), True
        except (EOFError, OSError):
            self._process.join()
            return unit, failure(_death(self._process.exitcode)), False

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._process.terminate()
        self._process.join()
        self.connection.close()


def in_processes(
    units: Sequence[Unit], task: Callable[[Unit], Task], workers: int
) -> Iterator[tuple[Unit, Row]]:
    """Run fits on several processes; yield each as it finishes."""
    queue = Queue(units)
    lanes: list[Lane] = []
    try:
        while True:
            while len(lanes) < workers and queue.left > len([x for x in lanes if x.unit is None]):
                lanes.append(Lane())
            for lane in lanes:
                unit = (
                    queue.next(lane.shape, [x.shape for x in lanes if x.unit]) if lane.unit is None else None
                )
                if unit is not None:
                    lane.begin(unit, task(unit))
            busy = {lane.connection: lane for lane in lanes if lane.unit is not None}
            if not busy:
                return
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)  # noqa: S101  # only connections are waited for
                lane = busy[ready]
                unit, row, alive = lane.end()
                if not alive:
                    lanes.remove(lane)
                    lane.stop()
                yield unit, row
    finally:
        for lane in lanes:
            lane.stop()


def in_this_process(units: Sequence[Unit], task: Callable[[Unit], Task]) -> Iterator[tuple[Unit, Row]]:
    """Run fits one after the other, here."""
    for unit in units:
        yield unit, perform(task(unit))


def _serve(connection: Connection) -> None:
    """Fit what comes, until the other end is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            connection.send(perform(connection.recv()))
        except (EOFError, OSError):
            return


def _end_with_parent() -> None:
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


def _death(code: int | None) -> str:
    reason = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    return f"the worker process ended with {reason}, most likely for lack of memory; use fewer workers"
