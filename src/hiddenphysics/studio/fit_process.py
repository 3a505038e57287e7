"""`FitProcess`: the process that one fit runs in, seen from the page's side."""

from __future__ import annotations

import json
import multiprocessing
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hiddenphysics.studio.fit_child import STOP, work
from hiddenphysics.studio.fit_request import FitRequest
from hiddenphysics.workers import deaf_to_interrupts

Hear = Callable[[dict[str, Any]], None]


class FitProcess:
    """A process that has been started, and its imports with it; it takes one request.

    It has as many threads as a fit in a shell would have, for more or fewer change the order of sums, and the last
    digits with it.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # a fork after threads have been started may hang
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=work, args=(theirs,), daemon=True)
        with deaf_to_interrupts():
            self._process.start()
        theirs.close()

    @property
    def pid(self) -> int | None:
        """Its number, for those who watch processes."""
        return self._process.pid

    def begin(self, request: FitRequest, folder: Path, hear: Hear) -> None:
        """Hand over the request; `hear` is called from a thread with every message, with ``{"lost": how}`` at the end.

        The folder is where the result and the pictures are written.
        """
        threading.Thread(target=self._converse, args=(request, folder, hear), daemon=True).start()

    def stop(self) -> None:
        """Ask the fit to end with the best it has."""
        try:
            self._connection.send_bytes(STOP)
        except OSError:
            return  # it has ended by itself

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.join()

    def _converse(self, request: FitRequest, folder: Path, hear: Hear) -> None:
        try:
            self._connection.send_bytes(
                json.dumps({"request": request.plain(), "folder": str(folder)}).encode()
            )
            while True:
                hear(json.loads(self._connection.recv_bytes()))
        except (EOFError, OSError):
            self._process.join()
            hear({"lost": _ending(self._process.exitcode)})


def _ending(code: int | None) -> str:
    return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
