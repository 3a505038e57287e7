"""What JAX compiles for us: in double precision, kept on disk, and let go before a process runs out of room for it.

Every room that uses JAX imports this module before anything is traced. Covariances of fourth derivatives span twenty
orders of magnitude; single precision cannot factor them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from inspect import signature
from math import inf
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

import jax
import numpy as np

from hiddenphysics.kept_programs import asked_of_jax, kept

FULLEST = 0.5
"""Part of the memory maps that the kernel allows a process from which on compiled code is let go. A compiled function
takes about ten; some thousand tests in one process came to the limit of 65 530, and the next compilation crashed it."""

CACHE_VARIABLE = "JAX_COMPILATION_CACHE_DIR"
"""Where a user says which folder JAX keeps compiled code in."""

QUICK = {"xla_cpu_use_fusion_emitters": False}
"""How XLA compiles for a CPU: by its older emitters, which leave no loop slower. A cold fit of the demo takes 18.0
instead of 27.8 s of processor time, three more fits 1.42 instead of 1.31 s (two cores beside other work, 18 November
2026)."""

QUICKEST = QUICK | {
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
    "xla_cpu_parallel_codegen_split_count": 4,
}
"""The same for functions that run once or twice in a fit: compiling them well takes longer than running them badly.
Cut into four parts for as many cores, not into 32, each of which costs a pass of its own: the sweep of the demo
compiles in 1.0 instead of 1.3 s of the processor (18 November 2026)."""

FEW = 60_000
"""Numbers in a function's arguments up to which compiling it well is not worth it either, where it says so. Solving
and tuning Burgers' and KdV's pairs (18 000 to 59 000 numbers) compile for 3.6 instead of 7.3 s and run as fast; tuning
those of Kuramoto and Sivashinsky (248 000) would run for 2.2 instead of 1.8 s (one core, 18 November 2026)."""


def compiled(
    *, once: bool = False, light: bool | Callable[..., int] = False, **static: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what compiles a pure function of arrays, quickly; `once` says that it runs once or twice in a fit.

    `light` says that with few numbers in its arguments there is little to compute, however often; a function of the
    same arguments, of which it may ask shapes, says how many numbers count. Inside of another compiled function it is a
    part of that one, compiled as that is. On its own it is compiled once on a machine, not in every process
    (`kept_programs`). `static_argnums` and `static_argnames` are those of `jax.jit`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        inside = jax.jit(function, **static)
        count = light if callable(light) else _numbers if light else lambda **every: 0 if once else inf
        program = _Programs(function, count, **static)

        @wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((args, named)))
            return (inside if traced else program)(*args, **named)

        return call

    return decorate


class _Programs:
    """A function as one compiled program for every static argument and shape, each kept on disk where it can be.

    Where it counts no more than `FEW` numbers in its arguments, it is compiled in the quickest way.
    """

    every: ClassVar[WeakSet[_Programs]] = WeakSet()
    """All of them, so that they can be let go."""

    def __init__(
        self,
        function: Callable[..., Any],
        count: Callable[..., float],
        static_argnums: int | None = None,
        static_argnames: str | tuple[str, ...] = (),
    ) -> None:
        self.function, self.count = function, count
        self.name = f"{function.__module__}:{function.__qualname__}"
        given = (static_argnames,) if isinstance(static_argnames, str) else static_argnames
        order = tuple(signature(function).parameters)
        self.static = {*given, *(() if static_argnums is None else (order[static_argnums],))}
        self.order = order
        self.made: dict[Any, Callable[..., Any]] = {}
        self.every.add(self)

    def __call__(self, *args: Any, **named: Any) -> Any:
        every = dict(zip(self.order, args, strict=False)) | named
        static = {name: value for name, value in every.items() if name in self.static}
        leaves, tree = jax.tree.flatten({k: v for k, v in every.items() if k not in static})
        key = (tuple(static.items()), tree, tuple(map(_kind, leaves)), asked_of_jax())
        program = self.made.get(key)
        if program is None:
            program = self.made[key] = self._make(static, tree, tuple(map(jax.typeof, leaves)))
        return program(*leaves)

    def _make(self, static: dict[str, Any], tree: Any, avals: tuple[Any, ...]) -> Callable[..., Any]:
        def flat(*leaves: Any) -> Any:
            return self.function(**static, **jax.tree.unflatten(tree, leaves))

        flat.__name__ = self.function.__name__
        options = QUICKEST if self.count(**static, **jax.tree.unflatten(tree, avals)) <= FEW else QUICK

        def compile_it() -> Any:
            def itself(*leaves: Any) -> Any:
                return flat(*leaves)

            # Under this name JAX has never kept it: XLA cannot write down again what was read from a file.
            itself.__name__ = f"kept_{flat.__name__}"
            shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]
            return jax.jit(itself, keep_unused=True).lower(*shapes).compile(compiler_options=known(options))

        program = kept(self.name, static, avals, tree, options, compile_it)
        return program or jax.jit(flat, compiler_options=known(options))


def _numbers(**arguments: Any) -> int:
    """Numbers in arguments, of which there are static ones, too."""
    return sum(getattr(leaf, "size", 0) for leaf in jax.tree.leaves(arguments))


def _kind(leaf: Any) -> Any:
    """Return what a program depends on of an argument: much quicker to tell than its abstract value."""
    if isinstance(leaf, np.ndarray):
        return leaf.shape, leaf.dtype
    return jax.typeof(leaf)


def known(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those options that this version of XLA knows: what it does not know it refuses."""
    every = tuple(options.items())
    return dict(every if are_known(every) else filter(lambda one: are_known((one,)), every))


@lru_cache(maxsize=16)
def are_known(options: tuple[tuple[str, Any], ...]) -> bool:
    """Whether this version of XLA knows all of some options, names with their values."""
    try:
        jax.jit(lambda x: x, compiler_options=dict(options)).lower(0.0).compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True


def make_room() -> None:
    """Forget compiled functions where a process has nearly as many memory maps as it may have; Linux alone counts them.

    What is asked for again is read back from the folder on disk.
    """
    allowed, used = Path("/proc/sys/vm/max_map_count"), Path("/proc/self/maps")
    if not (allowed.exists() and used.exists()):
        return
    with used.open("rb") as lines:
        count = sum(1 for _ in lines)
    if count > FULLEST * int(allowed.read_text()):
        forget()


def forget() -> None:
    """Let go of everything compiled in this process."""
    jax.clear_caches()
    for one in _Programs.every:
        one.made.clear()


def _keep_on_disk() -> None:
    """Keep compiled code in the user's cache folder, unless JAX was told another: the next process skips compiling."""
    if CACHE_VARIABLE in os.environ or getattr(jax.config, "jax_compilation_cache_dir", None) is not None:
        return
    from platformdirs import user_cache_dir

    jax.config.update("jax_compilation_cache_dir", str(Path(user_cache_dir("hiddenphysics")) / "compiled"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


jax.config.update("jax_enable_x64", True)
_keep_on_disk()
