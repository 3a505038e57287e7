"""A fit in a thread of its own: the main thread waits, and answers Ctrl-C and the clock whatever the fit computes.

While XLA compiles, for seconds, no Python of the fit runs that could be asked to stop; and an exception raised inside
compiled code by a signal was seen to crash the process. So the fit never runs where signals arrive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from contextvars import copy_context
from typing import Any, Generic, TypeVar

import jax

from hiddenphysics.learning.watch import Stopped, Watch

Answer = TypeVar("Answer")

NAME = "hiddenphysics fit"
"""Name of the threads."""

GRACE = 0.4
"""Seconds that a fit has to end by itself before it is left: the demo, once compiled, does in 0.2 s of processor time.
A second in all was promised."""

SLICE = 0.05
"""Seconds between two looks at the clock."""

OF_ONE_THREAD: dict[str, Callable[[Any], AbstractContextManager[Any]]] = {
    "jax_default_device": jax.default_device,
    "jax_default_matmul_precision": jax.default_matmul_precision,
    "jax_debug_infs": jax.debug_infs,
    "jax_debug_nans": jax.debug_nans,
    "jax_disable_jit": jax.disable_jit,
    "jax_log_compiles": jax.log_compiles,
}
"""What a user sets by ``with jax.…:`` holds for one thread: it is carried over."""


class FitThread(threading.Thread, Generic[Answer]):
    """Does some work, and keeps what came out; Python waits for it before it ends, since it may be in compiled code."""

    def __init__(self, work: Callable[[], Answer]) -> None:
        wanted = {name: getattr(jax.config, name) for name in OF_ONE_THREAD}

        def working() -> Answer:
            with ExitStack() as contexts:
                for name, context in OF_ONE_THREAD.items():
                    if getattr(jax.config, name) != wanted[name]:
                        contexts.enter_context(context(wanted[name]))
                return work()

        super().__init__(target=copy_context().run, args=(self._do, working), name=NAME, daemon=False)
        self.ended = threading.Event()
        self._answer: Answer
        self._failure: BaseException | None = None

    def _do(self, work: Callable[[], Answer]) -> None:
        try:
            self._answer = work()
        except BaseException as failure:  # it belongs to whoever waits
            self._failure = failure
        finally:
            self.ended.set()

    def answer(self) -> Answer:
        """Return what the work returned, or raise what it raised."""
        if self._failure is not None:
            raise self._failure
        return self._answer


def is_left_computing() -> bool:
    """Whether a fit that nobody waits for any longer has not come to its next question yet."""
    return any(thread.name == NAME for thread in threading.enumerate())


def in_time(watch: Watch, work: Callable[[], Answer], finish: Callable[[Any, str], Answer]) -> Answer:
    """Return what some work returns; once the watch wants it to stop, what is known by then.

    A thread that does not end within `GRACE` is left: at its next question to the watch it ends.

    Parameters
    ----------
    watch
        Is asked whether to go on, and holds what the work keeps with it.
    work
        Asks the watch in every loop. It runs in a thread if this is the main one; others get no signals.
    finish
        (what was kept last, why it is to stop) -> what is returned in place of the work's answer. It must not ask
        anything of JAX, where it would wait for the compiler.

    Raises
    ------
    Stopped
        Where nothing was kept by then.
    """
    beside = threading.current_thread() is threading.main_thread()
    watch.begin(beside=beside)
    try:
        return _beside(watch, work) if beside else work()
    except Stopped as stopped:
        so_far = watch.so_far
        if so_far is None:
            raise
        return finish(so_far, stopped.reason)


def _beside(watch: Watch, work: Callable[[], Answer]) -> Answer:
    """Wait for the work in a thread, or until that is to end and does not."""
    thread = FitThread(work)
    thread.start()
    try:
        while not thread.ended.wait(SLICE):
            reason = watch.reason
            if reason is not None and not thread.ended.wait(GRACE):
                raise Stopped(reason)
    finally:
        if not thread.ended.is_set():
            watch.leave()
    return thread.answer()
