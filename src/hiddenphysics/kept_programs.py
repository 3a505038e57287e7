"""Traced programs, kept on disk: a function of arrays that was once traced by Python is not traced again.

JAX keeps what it compiles, under a name that it finds by tracing the function: in a second process that is half of the
time of a small fit. Here the traced program (StableHLO, written by `jax.export`) lies beside it, under a name that
needs no tracing: the function, the source of this package, the versions of JAX, and everything that the program depends
on, that is static arguments and the shapes and types of arrays. What has no such name, a user's own kernel for one, is
traced as always.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax

from hiddenphysics.errors import HiddenPhysicsError
from hiddenphysics.writer import write_file

FOLDER = "traced"
"""Where the programs lie, below the folder of JAX's compiled code."""

MOST = 4000
"""Programs that are kept: a fit needs about twenty, of 5 to 80 kB each. The oldest go first."""

OURS = __name__.partition(".")[0]
"""Only what this package's own source defines has a name: another's may change without one."""


class NamelessError(Exception):
    """Something has no name that would change with what it does."""


def kept(
    name: str, function: Callable[..., Any], static: Any, avals: Sequence[Any], tree: Any
) -> Callable[..., Any] | None:
    """Return the traced program of a flat function of arrays, read from disk or traced and written; None if nameless.

    Parameters
    ----------
    name
        Of the function, with its module.
    function
        Takes a list of leaves, returns any tree of arrays.
    static
        What the function depends on besides.
    avals
        Shape and type of every leaf.
    tree
        How the leaves belong together.

    Returns
    -------
    Callable
        Takes leaves, returns what the function returns; traceable, to be compiled.
    """
    folder = _folder()
    if folder is None or not name.startswith(f"{OURS}.") or "<locals>" in name:
        return None
    try:
        words = [name, named(static), named_tree(tree), [(a.shape, str(a.dtype), a.weak_type) for a in avals]]
    except NamelessError:
        return None
    digest = hashlib.blake2b(repr((_circumstances(), words)).encode(), digest_size=20).hexdigest()
    path = folder / digest
    found = _read(path)
    if found is None:
        found = _trace(function, avals)
        if found is None:
            return None
        _write(path, found)
    program, shape = found

    def run(*leaves: Any) -> Any:
        return _assembled(shape, program.call(*leaves))

    run.__name__ = function.__name__
    return run


def named(value: Any) -> Any:
    """Return words that tell a static value from every other one, in this process and the next."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return (type(value).__name__, repr(value))
    if isinstance(value, Enum) and _is_ours(type(value)):
        return (type(value).__qualname__, value.name)
    if isinstance(value, tuple | list):
        return (_class_name(type(value)), [named(item) for item in value])
    if isinstance(value, Mapping):
        return (_class_name(type(value)), [(named(key), named(item)) for key, item in value.items()])
    if is_dataclass(value) and not isinstance(value, type) and _is_ours(type(value)):
        told = [(f.name, named(getattr(value, f.name))) for f in fields(value) if f.compare]
        return (_class_name(type(value)), told)
    if type(value).__module__.partition(".")[0] == "sympy":
        from sympy import srepr

        return ("sympy", srepr(value))
    raise NamelessError(f"{type(value).__name__} has no name")


def named_tree(tree: Any) -> Any:
    """Return words that tell a tree's structure from every other one."""
    node = tree.node_data()
    if node is None:
        return "leaf" if tree.num_leaves else "none"
    kind, data = node
    if isinstance(data, type):  # a named tuple's data is its class
        return (_class_name(data), [named_tree(child) for child in tree.children()])
    return (_class_name(kind), named(data), [named_tree(child) for child in tree.children()])


def _class_name(kind: type) -> str:
    if kind.__module__ != "builtins" and not _is_ours(kind):
        raise NamelessError(f"{kind.__qualname__} is not of this package")
    return f"{kind.__module__}:{kind.__qualname__}"


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == OURS


@lru_cache(maxsize=1)
def _circumstances() -> tuple[str, ...]:
    """Return what a program depends on that no caller says: the package's source, JAX, and the machine it is for."""
    source = hashlib.blake2b(digest_size=20)
    root = Path(__file__).parent
    for path in sorted(root.rglob("*.py")):
        source.update(str(path.relative_to(root)).encode())
        source.update(path.read_bytes())
    return source.hexdigest(), jax.__version__, version("jaxlib"), jax.default_backend()


def _folder() -> Path | None:
    """Where programs are kept: beside what JAX compiles, if it keeps that."""
    compiled = getattr(jax.config, "jax_compilation_cache_dir", None)
    wanted = getattr(jax.config, "jax_enable_compilation_cache", True)
    return Path(compiled) / FOLDER if compiled and wanted else None


# ---- one program --------------------


def _trace(function: Callable[..., Any], avals: Sequence[Any]) -> tuple[Any, Any] | None:
    """Trace a function; None where its result has no description that could be written."""
    from jax import export

    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]
    made: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        result = function(*leaves)
        flattened, tree = jax.tree.flatten(result)
        made.append(jax.tree.unflatten(tree, range(len(flattened))))
        return flattened

    try:
        program = export.export(jax.jit(flat), platforms=[_platform()])(*shapes)
        return program, _described(made[0])
    except (
        NamelessError,
        ValueError,
        NotImplementedError,
    ):  # JAX refuses calls of libraries that it does not vouch for
        return None


def _platform() -> str:
    """Return the name of the machine that programs are for, as `jax.export` has it."""
    backend = jax.default_backend()
    return "cuda" if backend == "gpu" else backend


def _described(result: Any) -> Any:
    """Describe a result whose leaves are numbered, in words that JSON has."""
    if result is None or isinstance(result, int):
        return result
    if isinstance(result, tuple | list):
        return [_class_name(type(result)), [_described(item) for item in result]]
    raise NamelessError(f"a result that holds {type(result).__name__} is not described")


def _assembled(shape: Any, leaves: Sequence[Any]) -> Any:
    """Return the result that a description stands for."""
    if shape is None:
        return None
    if isinstance(shape, int):
        return leaves[shape]
    place, parts = shape
    items = [_assembled(part, leaves) for part in parts]
    kind = _class_of(place)
    return kind(items) if kind in (list, tuple) else kind(*items)


def _class_of(place: str) -> Any:
    """Return a list, a tuple, or one of this package's named tuples: a file says nothing else."""
    module, _, name = place.partition(":")
    kind = getattr(import_module(module), name) if module.partition(".")[0] in (OURS, "builtins") else None
    if kind not in (list, tuple) and not (
        isinstance(kind, type) and issubclass(kind, tuple) and _is_ours(kind)
    ):
        raise NamelessError(f"{place:.60} is no tuple of this package")
    return kind


# ---- its file --------------------


def _read(path: Path) -> tuple[Any, Any] | None:
    """Return what a file holds; None where it is not there, not whole, or not to be read by this JAX."""
    from jax import export

    try:
        held = zlib.decompress(path.read_bytes())
        words, _, body = held.partition(b"\n")
        program, shape = export.deserialize(bytearray(body)), json.loads(words)
        _assembled(shape, program.out_avals)
        return program, shape
    except Exception:  # whatever is wrong with it: it is traced, and written, anew
        return None


def _write(path: Path, found: tuple[Any, Any]) -> None:
    """Keep a program; where that is not possible, the next process traces it again."""
    program, shape = found
    held = json.dumps(shape).encode() + b"\n" + bytes(program.serialize())
    try:
        if path.parent.exists():
            _make_room(path.parent)
        write_file(path, zlib.compress(held, 1), overwrite=True)
    except (OSError, HiddenPhysicsError):
        return


def _make_room(folder: Path) -> None:
    """Remove the programs that were written first, where there are too many."""
    every = list(folder.iterdir())
    if len(every) < MOST:
        return
    every.sort(key=lambda path: path.stat().st_mtime)
    for path in every[: len(every) // 2]:
        path.unlink(missing_ok=True)
