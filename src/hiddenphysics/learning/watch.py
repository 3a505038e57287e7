"""`Watch`: a fit says what it does, never falls silent, ends in time, and can be interrupted."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from queue import Empty, SimpleQueue
from types import FrameType, TracebackType
from typing import Any

Progress = Callable[[str], None]
"""Called with a few words at every stage."""

HEARTBEAT = 8.0
"""Seconds of silence after which the last stage is said again: with a slow terminal no fit is silent for ten."""

INTERRUPT = "interrupt: stopping after this step, again to stop now"


def silent(_stage: str) -> None:
    """Say nothing."""


def keep(
    say: Progress,
    make: Callable[[], Any],
    of: int = 0,
    worth: float = math.nan,
    values: Mapping[str, float] | None = None,
) -> None:
    """Give what a fit would return now to its watch, if it has one; see `Watch.keep`."""
    if isinstance(say, Watch):
        say.keep(make, of, worth, values)


class Stopped(Exception):  # noqa: N818  # no error: a model that hears it returns the best it has
    """A fit is to end now: its time is over, or someone wants it to.

    Attributes
    ----------
    reason
        Why, as a sentence.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Watch:
    """A `Progress` with a clock: it tells the stages of a fit with the time, and when the fit is to end.

    Call it with the stage at every step of a loop. A new stage is said, with the seconds since the watch was made; the
    same stage again only asks whether to go on. Past the limit, or after Ctrl-C, a call raises `Stopped`; a model
    catches that, calls the watch no more, and returns the best it has.

    Open it around a fit (``with watch:``). While it is open

    - a thread says the last stage again whenever nothing was said for `period` seconds;
    - in the main thread the first Ctrl-C asks the fit to stop and the second raises `KeyboardInterrupt`. Raised at
      once, that was seen to crash inside compiled code. Where Ctrl-C is ignored, it stays so.

    It may be opened again inside: a fit that is part of another shares its clock. A fit that does not call it in time,
    since something is compiled, is left with what it has kept (`in_time`).

    Parameters
    ----------
    say
        Takes each line. It may be called from the thread, never twice at a time; what it raises there, the next call
        of the watch raises.
    limit_seconds
        From the making of the watch; ``inf`` for no limit.
    clock
        Returns seconds.
    period
        Longest silence, in seconds.
    shown
        Takes the parameters by name whenever what is kept has others, the first guess first: numbers without deviation
        or verdict, for those who wait. It is never called twice at a time, nor while `say` is.

    Examples
    --------
    >>> with Watch(print, limit_seconds=60.0) as watch:
    ...     watch("smoothing")
    smoothing (0 s)
    """

    def __init__(
        self,
        say: Progress,
        limit_seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        period: float = HEARTBEAT,
        shown: Callable[[Mapping[str, float]], None] | None = None,
    ) -> None:
        self._say, self._limit, self._clock, self._period = say, limit_seconds, clock, period
        self._shown = shown
        self._began = self._said = clock()
        self._stage = "starting"
        self._speaking = threading.Lock()
        # A signal may come in the middle of anything: of all queues and locks only this one allows for that.
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._failure: Exception | None = None
        self._interrupted = False
        self._stopped = False
        self._left = False
        self._beside = False
        self._kept: tuple[Callable[[], Any], int, float] | None = None
        self._depth = 0
        self._open = ExitStack()

    @property
    def elapsed(self) -> float:
        """Seconds since the watch was made."""
        return self._clock() - self._began

    @property
    def remaining(self) -> float:
        """Seconds until the limit, 0 when it is past."""
        return max(self._limit - self.elapsed, 0.0)

    @property
    def limit(self) -> float:
        """The limit in seconds."""
        return self._limit

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed."""
        return self._interrupted

    @property
    def stopped(self) -> bool:
        """Whether a call has raised `Stopped`, or a fit was left that did not come to a call in time."""
        return self._stopped

    @property
    def reason(self) -> str | None:
        """Why the fit is to end now, as a sentence; None where it may go on."""
        if self._interrupted:
            return "Interrupted."
        if self.elapsed >= self._limit:
            return f"The time limit of {self._limit:g} s was reached."
        return "Nobody waits any longer." if self._left else None

    # ---- what a fit has, should it be left --------------------

    def keep(
        self,
        make: Callable[[], Any],
        of: int = 0,
        worth: float = math.nan,
        values: Mapping[str, float] | None = None,
    ) -> None:
        """Keep what a model could make an answer of, unless what is kept explains the same data better.

        Parameters
        ----------
        make
            Returns it: the model's own business. Called at once where somebody else waits for the fit, who must not
            have to compute when it is left, and else when it is asked for.
        of, worth
            Number of values that it explains, and how well; what explains other values takes its place.
        values
            The parameters that it has, to be shown.
        """
        before = self._kept
        if before is not None and before[1] == of and before[2] > worth:
            return
        if self._beside:
            made = make()
            self._kept = (lambda: made), of, worth
        else:
            self._kept = make, of, worth
        if self._shown is not None and values and not self._stopped:
            with self._speaking:
                self._shown(values)

    def begin(self, *, beside: bool) -> None:
        """Keep nothing: another fit begins, beside the thread that waits for it or in the same."""
        self._kept, self._beside = None, beside

    @property
    def so_far(self) -> Any:
        """What was kept; None before that."""
        return None if self._kept is None else self._kept[0]()

    def leave(self) -> None:
        """Wait no longer for a fit: its next call raises `Stopped`."""
        self._left = self._stopped = True

    def __call__(self, stage: str) -> None:
        """Say a new stage; raise `Stopped` when the fit is to end."""
        if self._failure is not None:
            raise self._failure
        reason = self.reason
        if reason is not None:
            self._stopped = True
            raise Stopped(reason)
        if stage != self._stage:
            self._stage = stage
            self._tell(stage)

    def __enter__(self) -> Watch:
        if self._depth == 0:
            with ExitStack() as opened:
                opened.enter_context(self._catching_interrupts())
                opened.enter_context(self._beating())
                self._open = opened.pop_all()
        self._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._open.close()

    def _tell(self, words: str) -> None:
        with self._speaking:
            self._said = self._clock()
            self._say(f"{words} ({self.elapsed:.0f} s)")

    # ---- the thread that speaks when nobody else does --------------------

    @contextmanager
    def _beating(self) -> Iterator[None]:
        self._said = self._clock()
        thread = threading.Thread(target=self._beat, name="heartbeat of a fit", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._lines.put(None)
            thread.join()

    def _beat(self) -> None:
        """Say lines that are waiting at once, and the last stage after a silence; None ends it."""
        while True:
            due = self._said + self._period
            try:
                line = self._lines.get(timeout=max(due - self._clock(), 0.0))
            except Empty:
                if self._clock() < self._said + self._period:
                    continue  # something was said in the meantime
                line = self._stage
            if line is None:
                return
            try:
                self._tell(line)
            except Exception as failure:  # the caller's own: it belongs into the caller's thread
                self._failure = failure
                return

    # ---- Ctrl-C --------------------

    @contextmanager
    def _catching_interrupts(self) -> Iterator[None]:
        in_main_thread = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGINT) if in_main_thread else None
        if before in (None, signal.SIG_IGN):
            yield
            return
        signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True
        self._lines.put(INTERRUPT)  # for the thread: this one may be in the middle of a line
