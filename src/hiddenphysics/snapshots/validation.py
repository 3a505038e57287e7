"""The checks every array passes once, on its way into a `Snapshot`; each failure has its own sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.sentences import names, number, plural

Missing: TypeAlias = Literal["refuse", "drop"]
"""What to do with points where a value is NaN or infinite."""

COORDINATES = ("x", "y", "z")

LARGEST = 1e100
"""The largest magnitude of data: its square, and even its cube, stays inside float64 (1.8e308)."""


def time_of(value: object) -> float:
    """Read one finite time.

    >>> time_of(2)
    2.0
    """
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "iuf":
        raise DataError(
            f"The time t of a snapshot is one real number; {_kind_of(array)} was given. A snapshot holds one"
            " instant: write Snapshot(t=2.0, x=..., u=...), one for each time."
        )
    t = float(array.reshape(()))
    if not np.isfinite(t):
        raise DataError(
            f"The time of a snapshot must be finite; t = {t} was given. Write a number, as in t=2.0."
        )
    if abs(t) > LARGEST:
        raise DataError(f"The time t = {t:.3g} is too large: its square overflows. Use larger units of time.")
    return t


def vector(name: str, value: ArrayLike) -> NDArray[Any]:
    """Read a one-dimensional numeric array: float64, or complex128 when complex values were given.

    Masked entries become NaN, so that the policy for missing values sees them.
    """
    array = numeric(name, value)
    if array.ndim == 0:
        raise DataError(
            f"{name} is a single number; an array with one value per point is needed,"
            f" as in {name}=[0.0, 0.5, 1.0]."
        )
    if array.ndim == 2 and 1 in array.shape:
        raise DataError(
            f"{name} has shape {array.shape}; one dimension is needed, because rows and columns broadcast"
            f" against each other silently. Write {name}.ravel()."
        )
    if array.ndim != 1:
        raise DataError(
            f"{name} has shape {array.shape}; a snapshot takes one value per scattered point, shape (N,)."
            f" Give one time at a time and write {name}.ravel(), or give the whole grid to"
            " read({'t': t, 'x': x, 'u': u})."
        )
    if array.size == 0:
        raise DataError(f"{name} is empty; a snapshot needs at least two points.")
    return array


def numeric(name: str, value: ArrayLike) -> NDArray[Any]:
    """Read an array of any shape as float64 or complex128."""
    try:
        array = np.ma.asarray(value) if np.ma.isMaskedArray(value) else np.asarray(value)
    except (TypeError, ValueError) as problem:
        raise DataError(
            f"{name} could not be read as an array ({problem}); give a flat list or array of numbers."
        ) from problem
    if array.dtype.kind not in "iufc":
        raise DataError(
            f"{name} holds values of type {array.dtype}, not numbers; convert them first,"
            f" as in np.asarray({name}, dtype=float)."
        )
    array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    return array.filled(np.nan) if isinstance(array, np.ma.MaskedArray) else array


def real(name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    """Refuse complex coordinates."""
    if array.dtype.kind == "c":
        raise DataError(f"The coordinate {name} is complex; points in space are real. Write {name}.real.")
    return array


def coordinate_names(given: Iterable[str]) -> tuple[str, ...]:
    """Order the coordinates x, y, z and refuse holes, such as x and z without y."""
    given = set(given)
    if not given:
        raise DataError(
            "No coordinate was given; a snapshot needs the points where the field was measured,"
            " as in Snapshot(t=2.0, x=x, u=u)."
        )
    ordered = COORDINATES[: len(given)]
    if given != set(ordered):
        raise DataError(
            f"The coordinates {names(sorted(given))} were given; they must be x, or x and y, or x, y and z,"
            f" without holes. Rename them to {names(ordered)}."
        )
    return ordered


def field_names(given: Iterable[str]) -> tuple[str, ...]:
    """Refuse an empty list of fields, a name given twice, and names that mean time or space."""
    fields = tuple(given)
    if not fields:
        raise DataError(
            "No field was given; a snapshot needs at least one measured field,"
            " as in Snapshot(t=2.0, x=x, u=u)."
        )
    for name in fields:
        if name in ("t", *COORDINATES):
            raise DataError(
                f"A field cannot be called {name}: t is time and x, y, z are coordinates."
                " Use another name, as in u."
            )
        if fields.count(name) > 1:
            raise DataError(
                f"The field {name} was given twice (a complex field h is kept as h_re and h_im)."
                " Rename one of them."
            )
    return fields


def same_lengths(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse arrays that do not all have one value per point."""
    first, *others = arrays
    for other in others:
        if len(arrays[first]) != len(arrays[other]):
            raise DataError(
                f"{first} has {plural(len(arrays[first]), 'value')} and {other} has {len(arrays[other])};"
                " every array of a snapshot needs one value per point. Check that they were cut the same way."
            )


def finite_points(arrays: Mapping[str, NDArray[Any]], missing: Missing, t: float) -> dict[str, NDArray[Any]]:
    """Apply the policy for NaN and infinity: refuse them, or drop each point where any array has one."""
    if missing not in get_args(Missing):
        raise DataError(
            f"missing={missing!r} is no policy for missing values; write missing='refuse' or 'drop'."
        )
    bad = {name: ~np.isfinite(array) for name, array in arrays.items()}
    dropped = np.logical_or.reduce(list(bad.values()))
    if not dropped.any():
        return dict(arrays)
    if missing == "refuse":
        name = next(name for name in bad if bad[name].any())
        raise DataError(
            f"{name} at t = {number(t)} is NaN or infinite at {plural(int(bad[name].sum()), 'point')},"
            f" first at index {int(bad[name].argmax())}; the policy is missing='refuse'."
            " Write missing='drop' to leave out those points."
        )
    if dropped.all():
        raise DataError(
            f"Every point at t = {number(t)} has a NaN or infinite value, so missing='drop' leaves none."
            " Leave out this snapshot, or the field without values."
        )
    return {name: array[~dropped] for name, array in arrays.items()}


def moderate(name: str, array: NDArray[np.float64]) -> None:
    """Refuse magnitudes whose squares overflow."""
    largest = float(np.max(np.abs(array)))
    if largest > LARGEST:
        raise DataError(
            f"{name} reaches {largest:.3g}; squares of such values overflow in double precision. Rescale the"
            f" units, so that {name} stays below {LARGEST:g} (best near 1)."
        )


def distinct_points(coordinates: tuple[str, ...], points: NDArray[np.float64], t: float) -> None:
    """Refuse a coordinate without extent, and two measurements at one point; `points` has shape (N, D)."""
    for name, column in zip(coordinates, points.T, strict=True):
        moderate(name, column)
        if column.min() == column.max():
            raise DataError(
                f"{name} is {number(column[0])} at every point ({len(column)} in all) at"
                f" t = {number(t)}; a coordinate without extent says nothing about derivatives."
                " Give points that differ, or leave this coordinate out."
            )
    # Sorting brings equal rows together: O(N log N), where comparing all pairs would be O(N²).
    order = np.lexsort(points.T)
    equal = np.flatnonzero((points[order[1:]] == points[order[:-1]]).all(axis=1))
    if equal.size:
        # lexsort is stable, so each neighbouring pair is already in the user's order.
        i, j = min((int(order[k]), int(order[k + 1])) for k in equal)
        where = ", ".join(f"{c} = {number(v)}" for c, v in zip(coordinates, points[i], strict=True))
        raise DataError(
            f"The points {i} and {j} at t = {number(t)} are the same ({where}); each point may appear"
            " once in a snapshot. Average repeated measurements, or drop one end of a periodic grid."
        )


def _kind_of(array: NDArray[Any]) -> str:
    if array.size != 1:
        return f"an array of shape {array.shape}"
    return repr(array.item())
