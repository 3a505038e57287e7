"""Fits on a Dask cluster: any address that `distributed.Client` takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from hiddenphysics.errors import MissingExtraError, ModelError
from hiddenphysics.studies.fitting import Row, failure, perform
from hiddenphysics.studies.plan import Task, Unit
from hiddenphysics.studies.waiting import Queue

AHEAD = 3
"""Fits in flight for each thread of the cluster: enough to keep it busy, few enough to keep memory small."""


def on_cluster(
    units: Sequence[Unit], task: Callable[[Unit], Task], address: str
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
        room = AHEAD * max(1, sum(client.nthreads().values()))
        flying: dict[str, Unit] = {}

        def send() -> list[object]:
            unit = queue.next(None, [u.shape for u in flying.values()])
            if unit is None:
                return []
            future = client.submit(perform, task(unit), pure=False)
            flying[future.key] = unit
            return [future]

        finished = distributed.as_completed([future for _ in range(room) for future in send()])
        for future in finished:
            row = future.result() if future.status == "finished" else failure(_reason(future))
            yield flying.pop(future.key), row
            for new in send():
                finished.add(new)


def _reason(future: object) -> str:
    error = getattr(future, "exception", lambda: None)()
    return f"the cluster lost this fit: {type(error).__name__}: {error}"
