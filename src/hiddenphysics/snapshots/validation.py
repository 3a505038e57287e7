"""The checks every array passes once, on its way into a `Snapshot`; each failure has its own sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sized
from datetime import date, timedelta
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
SMALLEST = 1e-50
"""The smallest one, of a whole column and of a gap in time: six derivatives of a field that changes over such a length
stay inside float64."""


def time_of(value: object) -> float:
    """Read one finite time.

    >>> time_of(2)
    2.0
    """
    array = np.asarray(value)
    if array.size == 1 and (array.dtype.kind in "mM" or isinstance(value, (date, timedelta))):
        raise DataError(
            f"The time t of a snapshot is one real number; {value!s} was given. Dates and durations are counted where"
            " all times are known: write read([{'t': date, 'x': x, 'u': u}, ...]), with one mapping for each time."
        )
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
    refuse_complex(name, array.dtype)
    return array


def refuse_complex(name: str, kind: np.dtype[Any]) -> None:
    """Refuse the type of complex coordinates."""
    if kind.kind == "c":
        raise DataError(f"The coordinate {name} is complex; points in space are real. Write {name}.real.")


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
    counts = Counter(fields)
    for name in fields:
        if name in ("t", *COORDINATES):
            raise DataError(
                f"A field cannot be called {name}: t is time and x, y, z are coordinates."
                " Use another name, as in u."
            )
        if counts[name] > 1:
            raise DataError(
                f"The field {name} was given twice (a complex field h is kept as h_re and h_im)."
                " Rename one of them."
            )
    return fields


def same_lengths(arrays: Mapping[str, Sized]) -> None:
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
    policy(missing)
    bad = {name: ~np.isfinite(array) for name, array in arrays.items()}
    dropped = np.logical_or.reduce(list(bad.values()))
    if not dropped.any():
        return dict(arrays)
    if missing == "refuse":
        name = next(name for name in bad if bad[name].any())
        raise not_finite(name, t, int(bad[name].sum()), int(bad[name].argmax()))
    if dropped.all():
        raise nothing_left(t)
    return {name: array[~dropped] for name, array in arrays.items()}


def policy(missing: Missing) -> None:
    """Refuse a policy for missing values that there is not."""
    if missing not in get_args(Missing):
        raise DataError(
            f"missing={missing!r} is no policy for missing values; write missing='refuse' or 'drop'."
        )


def not_finite(name: str, t: float, count: int, first: int) -> DataError:
    """Say how many values of an array are NaN or infinite, and where the first is."""
    return DataError(
        f"{name} at t = {number(t)} is NaN or infinite at {plural(count, 'point')},"
        f" first at index {first}; the policy is missing='refuse'."
        " Type --missing drop (missing='drop') to leave out those points."
    )


def nothing_left(t: float) -> DataError:
    """Say that no point is free of NaN and infinity."""
    return DataError(
        f"Every point at t = {number(t)} has a NaN or infinite value, so missing='drop' leaves none."
        " Leave out this snapshot, or the field without values."
    )


def count_of_points(value: int) -> int:
    """Refuse a number of points that is none."""
    if not isinstance(value, (int, np.integer)) or value < 1:
        raise DataError(f"{value!r} points were asked for; write an integer, one or more.")
    return int(value)


def generator_of(seed: int) -> np.random.Generator:
    """Return the random numbers of a seed."""
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise DataError(
            f"The seed is {seed!r}; it must be an integer, zero or more, so that the draw can be repeated."
        )
    return np.random.default_rng(int(seed))


def moderate(name: str, array: NDArray[np.float64]) -> None:
    """Refuse magnitudes whose squares overflow, or underflow where not all of them are zero."""
    largest = float(np.max(np.abs(array)))
    if 0 < largest < SMALLEST:
        raise DataError(
            f"{name} is nowhere larger than {largest:.3g}; powers of such values underflow in double precision."
            f" Rescale the units, so that {name} is near 1."
        )
    if largest > LARGEST:
        raise DataError(
            f"{name} reaches {largest:.3g}; squares of such values overflow in double precision. Rescale the"
            f" units, so that {name} stays below {LARGEST:g} (best near 1)."
        )


def distinct_points(coordinates: tuple[str, ...], points: NDArray[np.float64], t: float) -> None:
    """Refuse a coordinate without extent, and two measurements at one point; `points` has shape (N, D)."""
    for name, column in zip(coordinates, points.T, strict=True):
        moderate(name, column)
        extended(name, float(column.min()), float(column.max()), len(column), t)
    single_points(coordinates, points, t)


def extended(name: str, low: float, high: float, count: int, t: float) -> None:
    """Refuse a coordinate that is the same at every point."""
    if low == high:
        raise DataError(
            f"{name} is {number(low)} at every point ({count} in all) at"
            f" t = {number(t)}; a coordinate without extent says nothing about derivatives."
            " Give points that differ, or leave this coordinate out."
        )


def single_points(
    coordinates: tuple[str, ...],
    points: NDArray[np.float64],
    t: float,
    indices: NDArray[np.integer] | None = None,
) -> None:
    """Refuse two measurements at one point; `indices` (N,) are those of the user where these are not all points."""
    # Sorting brings equal rows together: O(N log N), where comparing all pairs would be O(N²).
    order = np.lexsort(points.T)
    equal = np.flatnonzero((points[order[1:]] == points[order[:-1]]).all(axis=1))
    if equal.size:
        # lexsort is stable, so each neighbouring pair is already in the user's order.
        i, j = min((int(order[k]), int(order[k + 1])) for k in equal)
        where = ", ".join(f"{c} = {number(v)}" for c, v in zip(coordinates, points[i], strict=True))
        first, second = (i, j) if indices is None else (indices[i], indices[j])
        raise DataError(
            f"The points {first} and {second} at t = {number(t)} are the same ({where}); each point may appear"
            " once in a snapshot. Average repeated measurements, or drop one end of a periodic grid."
        )


def _kind_of(array: NDArray[Any]) -> str:
    if array.size != 1:
        return f"an array of shape {array.shape}"
    return repr(array.item())
