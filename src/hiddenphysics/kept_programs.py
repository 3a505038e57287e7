"""Compiled programs, kept on disk: a function of arrays that was once compiled is neither traced nor lowered again.

JAX keeps what it compiles, too, under a name that it finds by tracing and lowering the function: in a second process
that is most of the time of a small fit. Here the same machine code lies under a name that needs neither: the function,
the source of this package, the versions of JAX, the processor, and everything that the program depends on, that is
static arguments and the shapes and types of arrays. What has no such name, a user's own kernel for one, goes the way
of JAX.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
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
import numpy as np
from jax.sharding import SingleDeviceSharding

from hiddenphysics.errors import HiddenPhysicsError
from hiddenphysics.writer import write_file

FOLDER = "programs"
"""Where the programs lie, below the folder of JAX's compiled code."""

MOST = 2000
"""Programs that are kept: a fit needs about twenty, of 5 to 300 kB each. The oldest go first."""

NEVER = 1e9
"""Seconds of compiling from which on JAX keeps a program that is kept here."""

OURS = __name__.partition(".")[0]
"""Only what this package's own source defines has a name: another's may change without one."""


SPECIAL = (
    "jax_default_device",
    "jax_default_matmul_precision",
    "jax_debug_nans",
    "jax_debug_infs",
    "jax_disable_jit",
)
"""What a user may ask of JAX for a while: programs are not kept then."""


class NamelessError(Exception):
    """Something has no name that would change with what it does."""


def kept(
    name: str,
    static: Any,
    avals: Sequence[Any],
    tree: Any,
    options: Mapping[str, Any],
    compile_it: Callable[[], Any],
) -> Callable[..., Any] | None:
    """Return the compiled program of a flat function of arrays, read from disk or compiled and written.

    None where it has no name, where programs are not kept, or where JAX was asked for something special.

    Parameters
    ----------
    name
        Of the function, with its module.
    static
        What the function depends on besides arrays.
    avals
        Shape and type of every leaf of its arguments.
    tree
        How the leaves belong together.
    options
        Of the compiler.
    compile_it
        Makes a `jax.stages.Compiled` that takes all leaves and returns any tree of arrays.

    Returns
    -------
    Callable
        Takes leaves, returns what the function returns.
    """
    folder = _folder()
    if folder is None or any(asked_of_jax()) or not name.startswith(f"{OURS}.") or "<locals>" in name:
        return None
    try:
        words = [name, named(static), named_tree(tree), list(map(_type_of, avals)), sorted(options.items())]
    except NamelessError:
        return None
    digest = hashlib.blake2b(repr((_circumstances(), words)).encode(), digest_size=20).hexdigest()
    path = folder / digest
    found = _read(path, name, avals)
    if found is None:
        program = _compiled(compile_it)
        _write(path, program)
        return program
    program, shape = found

    def run(*leaves: Any) -> Any:
        return _assembled(shape, program(*leaves))

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
    machine = jax.default_backend(), jax.devices()[0].device_kind, platform.machine(), _processor()
    return source.hexdigest(), jax.__version__, version("jaxlib"), os.environ.get("XLA_FLAGS", ""), *machine


def _processor() -> str:
    """Say what this processor can do: another one may not understand the machine code. Linux alone tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())


def asked_of_jax() -> tuple[Any, ...]:
    """Return what a user may have asked of JAX that makes other programs of the same functions; nothing by default."""
    return tuple(getattr(jax.config, name) for name in SPECIAL)


def _folder() -> Path | None:
    """Where programs are kept: beside what JAX compiles, if it keeps that."""
    compiled = getattr(jax.config, "jax_compilation_cache_dir", None)
    wanted = getattr(jax.config, "jax_enable_compilation_cache", True)
    return Path(compiled) / FOLDER if compiled and wanted else None


# ---- one program --------------------


def _type_of(aval: Any) -> tuple[tuple[int, ...], str, bool]:
    return tuple(aval.shape), str(aval.dtype), bool(aval.weak_type)


def _compiled(compile_it: Callable[[], Any]) -> Any:
    """Compile; JAX does not keep what is kept here."""
    from jax._src.config import persistent_cache_min_compile_time_secs as kept_by_jax_from

    with kept_by_jax_from(NEVER):
        return compile_it()


def _loaded(code: bytes, name: str, given: Sequence[Any], returned: Sequence[Any]) -> Any:
    """Return a program that takes and returns lists of arrays of one device, from its machine code.

    JAX's own `jax.experimental.serialize_executable` does the same with a pickle of what is put together here.
    """
    from jax._src.interpreters.pxla import UnloadedMeshExecutable
    from jax._src.lib import xla_client  # type: ignore[attr-defined]
    from jax._src.stages import ArgInfo

    device = jax.devices()[0]
    if device.platform == "cpu":
        from jaxlib import lapack

        lapack.prepare_lapack_call("potrf", np.dtype(float))  # lowering does this, of which there is none
    devices, here = xla_client.DeviceList((device,)), SingleDeviceSharding(device)
    executable = UnloadedMeshExecutable(
        xla_executable=device.client.deserialize_executable(code, executable_devices=devices),
        device_list=devices,
        backend=device.client,
        input_avals=given,
        input_shardings=[here] * len(given),
        output_avals=returned,
        output_shardings=[here] * len(returned),
        committed=False,
        name=name,
        unordered_effects=[],
        ordered_effects=[],
        keepalive=[],
        host_callbacks=[],
        kept_var_idx=set(range(len(given))),
        mut=None,
        xla_in_layouts=[None] * len(given),
        dispatch_in_layouts=[None] * len(given),
        xla_out_layouts=[None] * len(returned),
        all_args_info=None,
        pgle_profiler=None,
    )
    arguments: Any = (tuple(ArgInfo(aval, donated=False) for aval in given), {})
    made = jax.tree.structure(list(returned))
    return jax.stages.Compiled(executable.load(), [], arguments, made, no_kwargs=True)


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


def _read(path: Path, name: str, given: Sequence[Any]) -> tuple[Any, Any] | None:
    """Return what a file holds; None where it is not there, not whole, or not to be read by this JAX."""
    try:
        held = zlib.decompress(path.read_bytes())
        words, _, code = held.partition(b"\n")
        shape, types = json.loads(words)
        returned = [jax.core.ShapedArray(tuple(size), np.dtype(kind), weak) for size, kind, weak in types]
        _assembled(shape, returned)
        return _loaded(code, name, given, returned), shape
    except Exception:  # whatever is wrong with it: it is compiled, and written, anew
        return None


def _write(path: Path, program: Any) -> None:
    """Keep a program; where that is not possible, the next process compiles it again."""
    try:
        if program._params.const_args:
            return
        leaves = program._params.out_types[1]
        shape = _described(jax.tree.unflatten(program.out_tree, range(len(leaves))))
        code = program.runtime_executable().serialize()
    except (
        NamelessError,
        AttributeError,
        jax.errors.JaxRuntimeError,
    ):  # another JAX, or what has no description
        return
    held = json.dumps([shape, list(map(_type_of, leaves))]).encode() + b"\n" + code
    try:
        if path.parent.exists():
            _make_room(path.parent)
        write_file(path, zlib.compress(held, 1), overwrite=True)
    except (
        OSError,
        HiddenPhysicsError,
        ImportError,
    ):  # JAX can do without the library that it writes programs with
        return


def _make_room(folder: Path) -> None:
    """Remove the programs that were written first, where there are too many."""
    every = list(folder.iterdir())
    if len(every) < MOST:
        return
    every.sort(key=lambda path: path.stat().st_mtime)
    for path in every[: len(every) // 2]:
        path.unlink(missing_ok=True)
