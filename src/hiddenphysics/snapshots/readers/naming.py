"""Which array is time, which are coordinates, which are fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.checks import COORDINATES, real
from hiddenphysics.snapshots.words import names

Arrays: TypeAlias = dict[str, NDArray[Any]]

TIME = ("t", "time", "tt")


@dataclass(frozen=True)
class Named:
    """Arrays by their meaning: `t` (T,), each of `coordinates` one-dimensional, `others` as they came."""

    t: NDArray[np.float64]
    coordinates: dict[str, NDArray[np.float64]]
    others: Arrays


def new_names(found: Iterable[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Give every found name its new one; refuse to rename what is not there, and two of one name."""
    found = list(found)
    unknown = [name for name in columns if name not in found]
    if unknown:
        raise DataError(f"columns renames {names(unknown)}, but the names found are {names(found)}.")
    chosen = {name: columns.get(name, name) for name in found}
    if len(set(chosen.values())) < len(found):
        raise DataError(
            f"columns would give two arrays one name: {names(chosen.values())}. Choose other names."
        )
    return chosen


def renamed(arrays: Arrays, columns: Mapping[str, str]) -> Arrays:
    """Apply the user's names."""
    chosen = new_names(arrays, columns)
    return {chosen[name]: array for name, array in arrays.items()}


def classify(arrays: Arrays) -> Named:
    """Find time and coordinates by their names; MATLAB's (n, 1) and (1, n) axes become (n,)."""
    time = next((name for name in TIME if name in arrays and is_vector(arrays[name])), None)
    space = {c: key for c in COORDINATES for key in (c + c, c) if key in arrays and is_vector(arrays[key])}
    lacking = [what for what, there in (("time t", time), ("coordinate x", space.get("x"))) if there is None]
    if time is None or lacking:
        raise DataError(
            f"There is no {names(lacking)} among the names found: {shapes(arrays)}. Time is called t, time"
            " or tt, coordinates x, y, z, each one-dimensional; for other names write columns={'yours': 't'}."
        )
    axes = {time, *space.values()}
    return Named(
        t=_flat("t", arrays[time]),
        coordinates={c: _flat(c, arrays[key]) for c, key in space.items()},
        others={name: array for name, array in arrays.items() if name not in axes},
    )


def is_vector(array: NDArray[Any]) -> bool:
    """Whether at most one dimension is longer than one: (n,), (n, 1), (1, n), or a single number."""
    return bool(sum(length > 1 for length in array.shape) <= 1)


def shapes(arrays: Mapping[str, NDArray[Any]]) -> str:
    """List names with their shapes, for messages."""
    return names((f"{name} {array.shape}" for name, array in arrays.items()), nothing="nothing")


def _flat(name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    return real(name, array).reshape(-1)
