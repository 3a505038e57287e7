"""What runs in the process of a fit: its imports at once, then one fit, its file and its pictures, then the end.

What goes to and fro is JSON. The page's own process never imports JAX; this one knows nothing of the page.
"""

from __future__ import annotations

import _thread
import json
import math
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenphysics.errors import HiddenPhysicsError
from hiddenphysics.studio.fit_request import FitRequest
from hiddenphysics.workers import end_with_parent

if TYPE_CHECKING:
    from hiddenphysics.result import Estimate, Result

STOP = b"stop"
RESULT_FILE = "result.nc"
STOPPED_TOO_EARLY = (
    "The fit was stopped before it had a first estimate, so there is nothing to keep. Your file and your equation are "
    "still here: press Fit to begin again."
)

Tell = Callable[[dict[str, Any]], None]


def work(connection: Connection) -> None:
    """Wait for one request, answer it, and end."""
    before_watch = BeforeWatch()
    signal.signal(signal.SIGINT, before_watch)
    threading.Thread(target=end_with_parent, daemon=True).start()

    def tell(message: dict[str, Any]) -> None:
        before_watch.is_over = True  # whatever is told comes from under a watch, or when the fit has ended
        connection.send_bytes(json.dumps(message).encode())

    try:
        import hiddenphysics.identification  # noqa: F401  # now, so that pressing the button pays for no import
        from hiddenphysics.result import load_figure_class

        if not connection.poll():  # what is waited for already needs its numbers first
            load_figure_class()
        order = json.loads(connection.recv_bytes())
        threading.Thread(target=_listen, args=(connection,), daemon=True).start()
        _answer(FitRequest.of_plain(order["request"]), Path(order["folder"]), tell)
    except KeyboardInterrupt:
        tell({"refused": STOPPED_TOO_EARLY})
    except (EOFError, OSError):
        pass  # nobody listens any more
    learning = sys.modules.get("hiddenphysics.learning")
    if learning is not None and learning.is_left_computing():
        os._exit(0)  # all is told: this process does not wait for the compiler of a fit that was stopped


class BeforeWatch:
    """Answers the interrupt where no watch does: before it, there is nothing to keep; after it, nothing to stop."""

    def __init__(self) -> None:
        self.is_over = False

    def __call__(self, _signal: int, _frame: object) -> None:
        """End what comes before the watch, such as the reading of a file."""
        if not self.is_over:
            raise KeyboardInterrupt


def _listen(connection: Connection) -> None:
    """Turn the word that comes while a fit runs into the interrupt that its watch knows what to do with."""
    try:
        while connection.recv_bytes() == STOP:
            _thread.interrupt_main(signal.SIGINT)
    except (EOFError, OSError):
        return


def _answer(request: FitRequest, folder: Path, tell: Tell) -> None:
    """Fit; tell the numbers first, then the file and each picture when it is there: a file takes a second or two."""
    try:
        result = _fit(request, lambda stage: tell({"stage": stage}))
    except HiddenPhysicsError as problem:
        tell({"refused": str(problem).replace(request.path, request.name)})
        return
    # Nobody's mistake but ours: the trace goes to the terminal, the page gets a sentence.
    except Exception as problem:
        traceback.print_exc(file=sys.stderr)
        sentence = (
            f"The fit failed with {type(problem).__name__}: {problem!s:.300}. This is a defect of ours."
        )
        tell({"refused": sentence})
        return
    tell({"answer": _described(result)})
    for name, does, make in (
        ("result", "writing", _write_result),
        ("fields", "drawing", _draw_fields),
        ("residuals", "drawing", _draw_residuals),
    ):
        tell({"stage": f"{does} the {name}"})
        try:
            make(result, folder)
            tell({"made": name})
        except Exception as problem:  # the numbers are there: what fails now takes nothing away
            why = f"{type(problem).__name__}: {problem!s:.200}"
            tell({"not_made": f"{does.capitalize()} the {name} failed ({why})."})
    tell({"finished": True})


def _fit(request: FitRequest, say: Callable[[str], None]) -> Result:
    """Do what `FitRequest.python_lines` says, word for word."""
    from hiddenphysics.identification import identify
    from hiddenphysics.models import Sensors
    from hiddenphysics.snapshots import read

    data = read(request.path, missing=request.missing, columns=request.columns or None)
    if request.times:
        data = data.at(request.times)
    if request.points is not None:
        data = data.subsample(request.points, seed=request.seed)
    return identify(
        request.pde,
        data,
        model=request.model,
        fields=request.fields or None,
        constants=request.constants or None,
        sensors=Sensors(offsets=True) if request.offsets else None,
        boundary=request.boundary,
        progress=say,
        time_limit=request.time_limit,
    )


def _described(result: Result) -> dict[str, Any]:
    """Return what the page shows of a result."""
    return {
        **result.summary(),
        "latex": result.latex(),
        "text": str(result),
        "usable": not result.status.is_bad,
        "numbers": {name: _row(estimate) for name, estimate in result.parameters.items()},
    }


def _row(estimate: Estimate) -> list[str]:
    """Return an estimate and its interval as the page shows them; some fits cannot tell how sure they are."""
    if math.isfinite(estimate.std):
        return [str(estimate), estimate.interval_text(0.95)]
    return [f"{estimate.estimate:.3g}", "not known"]


def _write_result(result: Result, folder: Path) -> None:
    result.save(folder / RESULT_FILE)


def _draw_fields(result: Result, folder: Path) -> None:
    result.plot(folder / "fields.png")


def _draw_residuals(result: Result, folder: Path) -> None:
    result.plot_residuals(folder / "residuals.png")
