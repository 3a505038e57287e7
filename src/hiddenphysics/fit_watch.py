"""The watch of a fit, opened: who is told the stages, how long it may take, what is said where that was too short."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.learning import Stopped, Watch, silent, stage_line

USUAL_LIMIT = 600.0
"""Seconds after which a fit ends where nobody gave a limit. The longest of `benchmarks.answers` took 123 s."""
ENOUGH = 60.0
"""Seconds that are proposed, at least, where a limit did not allow a first estimate."""


@contextmanager
def watched(progress: Callable[[str], None] | bool | None, time_limit: float | None) -> Iterator[Watch]:
    """Open the watch of a fit, or again the one it is given; stopped before a first estimate, say so."""
    if isinstance(progress, Watch):
        if time_limit is not None:
            raise ModelError(
                f"time_limit={time_limit!r:.40} was given beside a watch, which has a limit of {progress.limit:g} s. "
                "Give the limit to the watch alone: Watch(say, seconds)."
            )
        with _told(progress, is_usual=False):
            yield progress
        return
    seconds = _seconds(time_limit)
    with _speaker(progress) as say, _told(Watch(say, seconds), is_usual=time_limit is None) as watch:
        yield watch


@contextmanager
def _speaker(progress: Callable[[str], None] | bool | None) -> Iterator[Callable[[str], None]]:
    """Yield who is told the stages."""
    if progress is None:
        with stage_line() as say:
            yield say
    elif callable(progress):
        yield progress
    else:
        if not isinstance(progress, bool):
            raise ModelError(
                f"progress={progress!r:.40} was given; needed is True, which prints to stderr, False, or a function "
                "that takes a line of text, such as progress=print."
            )
        yield partial(print, file=sys.stderr, flush=True) if progress else silent


@contextmanager
def _told(watch: Watch, *, is_usual: bool) -> Iterator[Watch]:
    """Open a watch; where it stops a fit before a first estimate, say what to type."""
    with watch:
        try:
            if is_usual:
                watch(f"at most {USUAL_LIMIT:g} s; --time-limit (time_limit=) changes that")
            yield watch
        except Stopped as stopped:
            if watch.interrupted:
                raise KeyboardInterrupt from None
            more = max(ENOUGH, 10.0 * watch.limit)
            raise ModelError(
                f"{stopped.reason.rstrip('.')} before a first estimate; give more: --time-limit {more:g} "
                f"(time_limit={more:g})."
            ) from None


def _seconds(time_limit: float | None) -> float:
    """Return a time limit that was checked; the usual one where none was given."""
    if time_limit is None:
        return USUAL_LIMIT
    is_number = isinstance(time_limit, int | float | np.number) and not isinstance(time_limit, bool)
    if not (is_number and time_limit > 0):
        raise ModelError(
            f"A time limit of {time_limit!r:.40} was given; needed is a positive number of seconds, such as "
            "--time-limit 60 (time_limit=60), or for no limit --time-limit none (time_limit=float('inf'))."
        )
    return float(time_limit)
