"""What JAX compiles for us: in double precision, kept on disk, and let go before a process runs out of room for it.

Every room that uses JAX imports this module before anything is traced. Covariances of fourth derivatives span twenty
orders of magnitude; single precision cannot factor them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache, wraps
from inspect import signature
from math import inf
from pathlib import Path
from typing import Any

import jax

from hiddenphysics.kept_programs import kept

FULLEST = 0.5
"""Part of the memory maps that the kernel allows a process from which on compiled code is let go. A compiled function
takes about ten; some thousand tests in one process came to the limit of 65 530, and the next compilation crashed it."""

CACHE_VARIABLE = "JAX_COMPILATION_CACHE_DIR"
"""Where a user says which folder JAX keeps compiled code in."""

QUICK = {"xla_cpu_use_fusion_emitters": False}
"""How XLA compiles for a CPU: by its older emitters, which leave no loop slower. A cold fit of the demo takes 18.0
instead of 27.8 s of processor time, three more fits 1.42 instead of 1.31 s (two cores beside other work, 18 November
2026)."""

QUICKEST = QUICK | {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""The same for functions that run once or twice in a fit: compiling them well takes longer than running them badly."""

FEW = 60_000
"""Numbers in a function's arguments up to which compiling it well is not worth it either, where it says so. Solving
and tuning Burgers' and KdV's pairs (18 000 to 59 000 numbers) compile for 3.6 instead of 7.3 s and run as fast; tuning
those of Kuramoto and Sivashinsky (248 000) would run for 2.2 instead of 1.8 s (one core, 18 November 2026)."""


def compiled(
    *, once: bool = False, light: bool = False, **static: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what compiles a pure function of arrays, quickly; `once` says that it runs once or twice in a fit.

    `light` says that with few numbers in its arguments there is little to compute, however often. Inside of another
    compiled function it is a part of that one, compiled as that is. On its own it is traced once on a machine, not in
    every process (`kept_programs`). `static_argnums` and `static_argnames` are those of `jax.jit`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        inside = jax.jit(function, **static)
        program = _Programs(function, inf if once else FEW if light else 0, **static)

        @wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((args, named)))
            return (inside if traced else program)(*args, **named)

        return call

    return decorate


class _Programs:
    """A function as one compiled program for every static argument and shape, each kept on disk where it can be.

    With no more than `quickest` numbers in its arguments it is compiled in the quickest way.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        quickest: float,
        static_argnums: int | None = None,
        static_argnames: str | tuple[str, ...] = (),
    ) -> None:
        self.function, self.quickest = function, quickest
        self.name = f"{function.__module__}:{function.__qualname__}"
        given = (static_argnames,) if isinstance(static_argnames, str) else static_argnames
        order = tuple(signature(function).parameters)
        self.static = {*given, *(() if static_argnums is None else (order[static_argnums],))}
        self.order = order
        self.made: dict[Any, Callable[..., Any]] = {}

    def __call__(self, *args: Any, **named: Any) -> Any:
        every = dict(zip(self.order, args, strict=False)) | named
        static = {name: value for name, value in every.items() if name in self.static}
        leaves, tree = jax.tree.flatten({k: v for k, v in every.items() if k not in static})
        avals = tuple(map(jax.typeof, leaves))
        key = (tuple(static.items()), tree, avals)
        program = self.made.get(key)
        if program is None:
            program = self.made[key] = self._make(static, tree, avals)
        return program(*leaves)

    def _make(self, static: dict[str, Any], tree: Any, avals: tuple[Any, ...]) -> Callable[..., Any]:
        def flat(*leaves: Any) -> Any:
            return self.function(**static, **jax.tree.unflatten(tree, leaves))

        flat.__name__ = self.function.__name__
        program = kept(self.name, flat, static, avals, tree) or flat
        options = QUICKEST if sum(aval.size for aval in avals) <= self.quickest else QUICK
        return jax.jit(program, compiler_options=dict(filter(is_known, options.items())))


@lru_cache(maxsize=16)
def is_known(option: tuple[str, Any]) -> bool:
    """Whether this version of XLA knows an option, a name with its value: what it does not know it refuses."""
    try:
        jax.jit(lambda x: x, compiler_options=dict([option])).lower(0.0).compile()
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
        jax.clear_caches()


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
