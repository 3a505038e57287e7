"""Arrays with names to snapshots: which is time, which are coordinates, which fields; long data or gridded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.assembly import Arrays, snapshots_of_rows, snapshots_on_grid
from hiddenphysics.snapshots.sentences import names
from hiddenphysics.snapshots.validation import COORDINATES, Missing, real

TIME = ("t", "time", "tt")

Convention: TypeAlias = Literal["time first", "time last"]
TIME_FIRST: Convention = "time first"
TIME_LAST: Convention = "time last"


@dataclass(frozen=True)
class Roles:
    """Arrays by their meaning: `t` (T,), each of `coordinates` one-dimensional, `others` as they came."""

    t: NDArray[np.float64]
    coordinates: dict[str, NDArray[np.float64]]
    others: Arrays


def snapshots_from(
    arrays: Arrays, missing: Missing, convention: Convention, *, all_fit: bool = True
) -> Snapshots:
    """Build snapshots from arrays with names.

    Parameters
    ----------
    arrays
        Numeric arrays by name: time, coordinates, fields.
    missing
        The policy for NaN and infinity.
    convention
        Order of the axes of a field where the lengths do not tell.
    all_fit
        Whether an array that fits nowhere is an error (the user listed it), or passed over (a file's extra).
    """
    roles = classify(arrays)
    lengths = {"t": len(roles.t)} | {name: len(axis) for name, axis in roles.coordinates.items()}
    fields = {name: _oriented(name, array, lengths, convention) for name, array in roles.others.items()}
    gridded = {name: array for name, array in fields.items() if array is not None}
    if gridded:
        _all_fit(roles, lengths, list(gridded), all_fit)
        return snapshots_on_grid(roles.t, roles.coordinates, gridded, missing)
    rows = _rows(roles, lengths)
    _all_fit(roles, lengths, list(rows), all_fit)
    return snapshots_of_rows(roles.t, roles.coordinates, rows, missing)


def new_names(existing: Iterable[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Give every name its new one; refuse to rename what is not there, and two of one name."""
    existing = list(existing)
    unknown = [name for name in columns if name not in existing]
    if unknown:
        raise DataError(f"columns renames {names(unknown)}, but the names found are {names(existing)}.")
    chosen = {name: columns.get(name, name) for name in existing}
    if len(set(chosen.values())) < len(existing):
        raise DataError(
            f"columns would give two arrays one name: {names(chosen.values())}. Choose other names."
        )
    return chosen


def renamed(arrays: Arrays, columns: Mapping[str, str]) -> Arrays:
    """Apply the user's names."""
    chosen = new_names(arrays, columns)
    return {chosen[name]: array for name, array in arrays.items()}


def classify(arrays: Arrays) -> Roles:
    """Find time and coordinates by their names; MATLAB's (n, 1) and (1, n) axes become (n,)."""
    time = next((name for name in TIME if name in arrays and is_vector(arrays[name])), None)
    space = {c: key for c in COORDINATES for key in (c + c, c) if key in arrays and is_vector(arrays[key])}
    lacking = [what for what, there in (("time t", time), ("coordinate x", space.get("x"))) if there is None]
    if time is None or lacking:
        raise DataError(
            f"There is no {names(lacking)} among the names found: {_shapes(arrays)}. Time is called t, time"
            " or tt, coordinates x, y, z, each one-dimensional; for other names write columns={'yours': 't'}."
        )
    axes = {time, *space.values()}
    return Roles(
        t=_flat("t", arrays[time]),
        coordinates={c: _flat(c, arrays[key]) for c, key in space.items()},
        others={name: array for name, array in arrays.items() if name not in axes},
    )


def is_vector(array: NDArray[Any]) -> bool:
    """Whether at most one dimension is longer than one: (n,), (n, 1), (1, n), or a single number."""
    return bool(sum(length > 1 for length in array.shape) <= 1)


def _shapes(arrays: Mapping[str, NDArray[Any]]) -> str:
    """List names with their shapes, for messages."""
    return names((f"{name} {array.shape}" for name, array in arrays.items()), nothing="nothing")


def _oriented(
    name: str, array: NDArray[Any], lengths: dict[str, int], convention: Convention
) -> NDArray[Any] | None:
    """Return the field with its axes in the order (t, x, y, z); None when its shape fits no order.

    `lengths` gives the length of each axis, t first. For a single time the axis t may be absent.
    """
    axes = tuple(lengths)
    if lengths["t"] == 1 and array.ndim == len(axes) - 1:
        array = array[np.newaxis] if convention == "time first" else array[..., np.newaxis]
    fitting = [order for order in permutations(axes) if array.shape == tuple(lengths[a] for a in order)]
    if not fitting:
        return None
    order = _order(name, fitting, axes, convention)
    return array.transpose([order.index(axis) for axis in axes])


def _order(
    name: str, fitting: list[tuple[str, ...]], axes: tuple[str, ...], convention: Convention
) -> tuple[str, ...]:
    if len(fitting) == 1:
        return fitting[0]
    first, last = axes, (*axes[1:], "t")
    for usual in (first, last) if convention == "time first" else (last, first):
        if usual in fitting:
            return usual
    raise DataError(
        f"The axes of {name} could be {names(fitting)}: some lengths are equal. Transpose it to {first}"
        f" with np.transpose({name}, ...)."
    )


def _rows(roles: Roles, lengths: dict[str, int]) -> Arrays:
    if len(set(lengths.values())) > 1:
        return {}
    count = lengths["t"]
    return {name: a.reshape(-1) for name, a in roles.others.items() if is_vector(a) and a.size == count}


def _all_fit(roles: Roles, lengths: dict[str, int], fitting: list[str], every_one: bool) -> None:
    unfit = {name: array for name, array in roles.others.items() if name not in fitting}
    if fitting and not (unfit and every_one):
        return
    if not unfit:
        raise DataError(
            f"only time and coordinates were found ({names(lengths)}), no field; add the measured values, u."
        )
    axes = names(f"{name} has {length}" for name, length in lengths.items())
    raise DataError(
        f"{axes} values, but the other arrays do not fit: {_shapes(unfit)}. A field needs one axis for each of"
        f" {names(lengths)}, here {tuple(lengths.values())} in some order; or give all arrays one length n,"
        " one row per measurement."
    )


def _flat(name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    return real(name, array).reshape(-1)
