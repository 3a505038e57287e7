"""What runs in the process of a fit: at once all that any fit needs, then one fit, its file and pictures, then the end.

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
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
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
    telling = threading.Lock()

    def tell(message: dict[str, Any]) -> None:
        before_watch.is_over = True  # whatever is told comes from under a watch, or when the fit has ended
        with telling:  # a fit that was left may be in the middle of a word
            connection.send_bytes(json.dumps(message).encode())

    try:
        prepare(connection.poll)
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


def prepare(is_asked: Callable[[], bool]) -> None:
    """Do what every fit needs, whatever its data and equation, so that pressing the button does not pay for it.

    These are seconds of the processor on 18 November 2026: imports of JAX, SymPy and this package, 1.8, then pandas,
    0.2, the first compilation, 0.3, and Matplotlib, 0.4. Whoever waits already needs only the first; the rest comes
    where it is used.
    """
    import hiddenphysics.identification  # noqa: F401
    from hiddenphysics.compiled_code import QUICK, QUICKEST, known
    from hiddenphysics.result import load_figure_class

    for task in (
        partial(import_module, "pandas"),
        partial(known, QUICK),  # asks XLA which options it knows: by compiling something small
        partial(known, QUICKEST),
        load_figure_class,
    ):
        if is_asked():
            return
        task()


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
        result = _fit(request, _Teller(tell))
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


class _Teller:
    """Tells what a fit does, and the parameters that it has so far."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def __call__(self, stage: str) -> None:
        """Tell a stage."""
        self._tell({"stage": stage})

    def shown(self, values: Mapping[str, float]) -> None:
        """Tell the parameters as they stand, as the page shows them; what overflows is left untold."""
        if all(map(math.isfinite, values.values())):
            self._tell({"so_far": {name: f"{value:.3g}" for name, value in values.items()}})


def _fit(request: FitRequest, say: _Teller) -> Result:
    """Do what `FitRequest.python_lines` says, word for word, and show the parameters on the way."""
    from hiddenphysics.identification import identify
    from hiddenphysics.learning import Watch
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
        progress=Watch(say, request.time_limit, shown=say.shown),
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
