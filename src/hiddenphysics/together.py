"""Many fits as one program: what several threads ask of a compiled function at the same time is answered at once.

Fits make decisions, and each makes its own; what they compute between decisions is the same. So every fit runs in a
thread of its own, and whenever all of them wait for a compiled function, those that wait for the same one are answered
by one call of its `vmap`. A fit alone calls the function itself: there is one code for both.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache, wraps
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.compiled_code import known

SIZES = (1, 8, 64, 512, 4096)
"""Numbers of fits that programs are compiled for, one for all of a meeting: what is padded costs a GPU less than
another compilation. Of 64 fits of Burgers' equation 10.7 s were 1.8 s of the GPU, and compiling took 135 s, in three
sizes (H200, 18 November 2026)."""

ON_GPU = {"xla_gpu_autotune_level": 0}
"""How XLA compiles for a GPU: without trying how to multiply matrices best. The same 64 fits compiled for 390 s with,
and ran no quicker: 9.1 s of which 1.2 s were the GPU's."""

Function = TypeVar("Function", bound=Callable[..., Any])
Task = TypeVar("Task")
Answer = TypeVar("Answer")

_meeting: ContextVar[Meeting | None] = ContextVar("meeting", default=None)
"""The meeting that the thread takes part in; None in a thread of its own."""


def together(function: Function) -> Function:
    """Let a pure function of arrays be answered together with other threads' calls, where these have a meeting.

    Keywords, and arguments that are no arrays, numbers or trees of them, are static.
    """

    @wraps(function)
    def call(*args: Any, **static: Any) -> Any:
        meeting = _meeting.get()
        if meeting is None or any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(args)):
            return function(*args, **static)
        return meeting.ask(function, args, static)

    return call  # type: ignore[return-value]


class Part:
    """One fit's part of an answer that many fits share; it stays on the device until somebody looks at it."""

    def __init__(self, whole: _Whole, index: int) -> None:
        self.whole, self.index = whole, index

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = np.asarray(self.whole.here[self.index])
        return np.array(value, dtype=dtype) if copy or dtype is not None else value

    def __jax_array__(self) -> jax.Array:
        return jnp.asarray(self.whole.here[self.index])

    def __float__(self) -> float:
        return float(self.whole.here[self.index])

    @property
    def shape(self) -> tuple[int, ...]:
        """Of this part."""
        return tuple(self.whole.there.shape[1:])

    @property
    def dtype(self) -> Any:
        """Of its entries."""
        return self.whole.there.dtype

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(np.prod(self.shape))


class _Whole:
    """An answer of many fits: on the device, and once somebody has looked, here."""

    def __init__(self, there: jax.Array) -> None:
        self.there = there
        self._here: np.ndarray | None = None

    @property
    def here(self) -> np.ndarray:
        if self._here is None:
            self._here = np.asarray(self.there)
        return self._here


class _Call(NamedTuple):
    who: int
    leaves: list[Any]


class Meeting:
    """Threads that wait for each other's calls; see the module.

    Parameters
    ----------
    count
        Threads that take part.
    """

    def __init__(self, count: int) -> None:
        self._present = count
        self._size = next(size for size in SIZES if size >= min(count, SIZES[-1]))
        self._waiting: dict[Any, list[_Call]] = defaultdict(list)
        self._answers: dict[int, Any] = {}
        self._turn = threading.Condition()
        self._number = threading.local()

    @contextmanager
    def taking_part(self, number: int) -> Iterator[None]:
        """Take part as this number, until the end of the block; the others do not wait for this thread any longer."""
        token = _meeting.set(self)
        self._number.value = number
        try:
            yield
        finally:
            _meeting.reset(token)
            with self._turn:
                self._present -= 1
                self._answer_if_all_wait()

    def ask(self, function: Callable[..., Any], args: tuple[Any, ...], static: dict[str, Any]) -> Any:
        """Return the function's value, computed together with the others'."""
        leaves, tree = jax.tree.flatten(args)
        leaves = [leaf if isinstance(leaf, Part | jax.Array) else _array_or_static(leaf) for leaf in leaves]
        shapes = tuple((leaf.shape, str(leaf.dtype)) if _is_array(leaf) else leaf for leaf in leaves)
        key = (function, tree, shapes, tuple(sorted(static.items())))
        me = self._number.value
        with self._turn:
            self._waiting[key].append(_Call(me, leaves))
            self._answer_if_all_wait()
            self._turn.wait_for(lambda: me in self._answers)
            answer = self._answers.pop(me)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _answer_if_all_wait(self) -> None:
        waiting = sum(map(len, self._waiting.values()))
        if not waiting or waiting < self._present:
            return
        groups, self._waiting = self._waiting, defaultdict(list)
        for (function, tree, shapes, static), calls in groups.items():
            calls.sort(key=lambda call: call.who)
            try:
                made = _mapped(function, tree, shapes, static, calls, self._size)
            except Exception as problem:  # it belongs to those who asked, not to whoever came last
                made = [problem] * len(calls)
            self._answers.update(zip((call.who for call in calls), made, strict=True))
        self._turn.notify_all()


def meet(function: Callable[[Task], Answer], tasks: Sequence[Task]) -> list[Answer | Exception]:
    """Do all tasks at the same time, a thread each, and return their answers in order, or what they raised."""
    meeting = Meeting(len(tasks))
    answers: list[Any] = [None] * len(tasks)

    def work(number: int, task: Task) -> None:
        with meeting.taking_part(number):
            try:
                answers[number] = function(task)
            except Exception as problem:
                answers[number] = problem

    threads = [
        threading.Thread(target=copy_context().run, args=(work, number, task), daemon=True)
        for number, task in enumerate(tasks)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, Part | jax.Array | np.ndarray)


def _array_or_static(leaf: Any) -> Any:
    return np.asarray(leaf) if isinstance(leaf, np.ndarray | np.generic | float | int | bool) else leaf


def _mapped(
    function: Callable[..., Any],
    tree: Any,
    shapes: tuple[Any, ...],
    static: Any,
    calls: list[_Call],
    size: int,
) -> list[Any]:
    """Answer calls of the same shape by one call of the function mapped over `size` of them."""
    count = len(calls)
    arrays = [n for n, leaf in enumerate(calls[0].leaves) if _is_array(leaf)]
    fixed = tuple((n, leaf) for n, leaf in enumerate(calls[0].leaves) if not _is_array(leaf))
    stacked = [_stack([call.leaves[n] for call in calls], size) for n in arrays]
    made = _program(function, tree, len(shapes), fixed, static)(*stacked)
    leaves, shape = jax.tree.flatten(made)
    wholes = [_Whole(leaf) for leaf in leaves]
    return [jax.tree.unflatten(shape, [Part(whole, i) for whole in wholes]) for i in range(count)]


def _stack(leaves: list[Any], size: int) -> Any:
    """Put arrays side by side, the last one repeated up to a size; parts of one answer do not leave the device."""
    first = leaves[0]
    if isinstance(first, Part) and all(
        isinstance(leaf, Part) and leaf.whole is first.whole for leaf in leaves
    ):
        index = [leaf.index for leaf in leaves]
        index += index[-1:] * (size - len(index))
        if index == list(range(len(first.whole.there))):
            return first.whole.there
        return first.whole.there[np.array(index)]
    rows = [np.asarray(leaf) for leaf in leaves]
    return np.stack(rows + rows[-1:] * (size - len(rows)))


@lru_cache(maxsize=256)
def _program(function: Callable[..., Any], tree: Any, leaves: int, fixed: Any, static: Any) -> Any:
    """Return the mapped and compiled function of the stacked arrays."""
    held = dict(fixed)

    def one(*arrays: Any) -> Any:
        given = iter(arrays)
        args = jax.tree.unflatten(tree, [held[n] if n in held else next(given) for n in range(leaves)])
        return function(*args, **dict(static))

    return jax.jit(jax.vmap(one), compiler_options=known(ON_GPU))
