"""Where fits run: in this process, in worker processes on this machine, or on a Dask cluster.

A process keeps the code that it has compiled, so fits of one shape, one after the other, stay in one process. Chains
keep their order.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from multiprocessing.connection import Connection, wait

from hiddenphysics.errors import MissingExtraError, ModelError
from hiddenphysics.reproduction.checkpoint import Row, failure
from hiddenphysics.reproduction.fit_plan import FitJob, Unit
from hiddenphysics.reproduction.fitting import perform

ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "NPROC": "1",  # the pool that XLA runs its own loops in, whatever its flags say
}
"""Environment of a worker process: several that each use all cores slow each other down 10 to 25 times."""
AHEAD = 3
"""Fits in flight for each thread of the cluster: enough to keep it busy, few enough to keep memory small."""

Shape = tuple[str, str]
"""See `Unit.shape`."""


def in_this_process(units: Sequence[Unit], task: Callable[[Unit], FitJob]) -> Iterator[tuple[Unit, Row]]:
    """Run fits one after the other, here."""
    for unit in units:
        yield unit, perform(task(unit))


def in_processes(
    units: Sequence[Unit], task: Callable[[Unit], FitJob], workers: int
) -> Iterator[tuple[Unit, Row]]:
    """Run fits on several processes; yield each as it finishes."""
    queue = Queue(units)
    processes: list[WorkerProcess] = []
    try:
        while True:
            while len(processes) < workers and queue.left > sum(p.unit is None for p in processes):
                processes.append(WorkerProcess())
            for process in (p for p in processes if p.unit is None):
                unit = queue.next(process.shape, [p.shape for p in processes if p.unit])
                if unit is not None:
                    process.begin(unit, task(unit))
            busy = {process.connection: process for process in processes if process.unit is not None}
            if not busy:
                return
            for ready in wait(list(busy)):
                assert isinstance(ready, Connection)  # noqa: S101  # only connections are waited for
                process = busy[ready]
                unit, row, alive = process.end()
                if not alive:
                    processes.remove(process)
                    process.stop()
                yield unit, row
    finally:
        for process in processes:
            process.stop()


def on_cluster(
    units: Sequence[Unit], task: Callable[[Unit], FitJob], address: str
) -> Iterator[tuple[Unit, Row]]:
    """Run fits on the workers of a scheduler; yield each as it finishes. Workers need no files, only this package."""
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
        queue = Queue(units)
        capacity = AHEAD * max(1, sum(client.nthreads().values()))
        flying: dict[str, Unit] = {}

        def send() -> list[object]:
            unit = queue.next(None, [u.shape for u in flying.values()])
            if unit is None:
                return []
            future = client.submit(perform, task(unit), pure=False)
            flying[future.key] = unit
            return [future]

        finished = distributed.as_completed([future for _ in range(capacity) for future in send()])
        for future in finished:
            row = future.result() if future.status == "finished" else failure(_loss(future))
            yield flying.pop(future.key), row
            for new in send():
                finished.add(new)


class Queue:
    """Fits that wait to be run, by shape, and which of them comes next."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._waiting: dict[Shape, deque[Unit]] = {}
        for unit in units:
            self._waiting.setdefault(unit.shape, deque()).append(unit)

    @property
    def left(self) -> int:
        """How many wait."""
        return sum(map(len, self._waiting.values()))

    def next(self, shape: Shape | None, others: Sequence[Shape | None]) -> Unit | None:
        """Return a fit of the same shape, else of one that nobody works on, else of the one with most left for each.

        A chain that somebody works on is left to them; None when nothing else waits.
        """
        free = [s for s, units in self._waiting.items() if not (units[0].chained and s in others)]
        if not free:
            return None
        if shape not in free:
            alone = (s for s in free if s not in others)
            shape = next(alone, None) or max(
                free, key=lambda s: len(self._waiting[s]) / (1 + others.count(s))
            )
        queue = self._waiting[shape]
        unit = queue.popleft()
        if not queue:
            del self._waiting[shape]
        return unit


class WorkerProcess:
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

    def begin(self, unit: Unit, task: FitJob) -> None:
        """Hand a fit to the process."""
        self.unit, self.shape = unit, unit.shape
        self.connection.send(task)

    def end(self) -> tuple[Unit, Row, bool]:
        """Return the finished fit, its row, and whether the process lives on."""
        unit, self.unit = self.unit, None
        assert unit is not None  # noqa: S101  # a process without a fit is never waited for
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


def _loss(future: object) -> str:
    error = getattr(future, "exception", lambda: None)()
    return f"the cluster lost this fit: {type(error).__name__}: {error}"
