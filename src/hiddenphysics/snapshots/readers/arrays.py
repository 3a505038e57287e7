"""Arrays with names to snapshots: which is time, which are coordinates, which fields; long data or gridded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal, TypeAlias

import numpy as np

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.provenance import Provenance, common
from hiddenphysics.snapshots.readers import times
from hiddenphysics.snapshots.readers.assembly import Array, Arrays
from hiddenphysics.snapshots.readers.naming import AXES, TIME, new_names
from hiddenphysics.snapshots.readers.request import Request
from hiddenphysics.snapshots.readers.stored_assembly import assembly_of
from hiddenphysics.snapshots.sentences import names
from hiddenphysics.snapshots.stored_array import StoredArray
from hiddenphysics.snapshots.validation import COORDINATES, Missing, numeric, refuse_complex

Convention: TypeAlias = Literal["time first", "time last"]
TIME_FIRST: Convention = "time first"
TIME_LAST: Convention = "time last"

STREAMED_ABOVE = 2_000_000
"""Sources of more values than this stay on disk.

So many take 16 MB, and are read and checked at once in 0.03 s on a line, in 0.5 s as rows of points in the plane.
"""


@dataclass(frozen=True)
class Roles:
    """Arrays by their meaning.

    Attributes
    ----------
    t
        The times, (T,).
    coordinates
        Each one-dimensional, or all of them (T, N) or (N, T): points of their own at every time.
    others
        The rest, as it came.
    """

    t: Array
    coordinates: Arrays
    others: Arrays

    @property
    def moving(self) -> bool:
        """Whether every time has points of its own."""
        return any(array.ndim == 2 for array in self.coordinates.values())


@dataclass(frozen=True)
class Named:
    """Numeric arrays under the names they have here, and what is known about them beside the numbers."""

    arrays: Arrays
    provenance: Provenance


Convert: TypeAlias = Callable[[str, Any], Array | None]
"""Makes numbers of what stood under a name in the data; None where it is text, or empty."""


def named(
    raw: Mapping[str, Any],
    request: Request,
    units: Mapping[str, str] | None = None,
    convert: Convert = numeric,
) -> Named:
    """Choose and name the arrays as the request says, and make numbers of them, of dates too.

    Parameters
    ----------
    raw
        What was found, by its name there: arrays of any type, columns of a table, arrays on disk.
    units
        Units by the same names.
    convert
        How those that are no time become numbers; what it passes over is said in a note.
    """
    chosen = new_names(raw, request.columns)
    told = {chosen[name]: unit for name, unit in (units or {}).items() if name in chosen and unit}
    vectors = {new for old, new in chosen.items() if new in TIME and is_vector(_shape(raw[old]))}
    time = next((name for name in TIME if name in vectors), "")
    clock = times.Times(np.zeros(0))
    arrays: dict[str, Array] = {}
    passed: list[str] = []
    for old, new in chosen.items():
        value, unit = raw[old], told.get(new, "")
        if new == time and (request.time_unit or unit or not _is_number(value)):
            clock = times.decoded(times.array_of(old, value), unit, request.time_unit)
            arrays[new] = clock.values
            continue
        numbers = value if isinstance(value, StoredArray) else convert(old, value)
        if numbers is not None:
            arrays[new] = numbers
        elif new in (*AXES, *request.columns):
            raise DataError(
                f"the column {old}, which is to be {new}, holds no numbers. Name another one as {new}."
            )
        else:
            passed.append(old)
    if clock.unit:
        told["t"] = clock.unit
    notes = [
        clock.note,
        f"{names(passed)} {'hold' if len(passed) > 1 else 'holds'} no numbers: not used." if passed else "",
    ]
    return Named(arrays, Provenance(told, clock.start, tuple(filter(None, notes))))


def _shape(value: Any) -> tuple[int, ...]:
    shape = getattr(value, "shape", None)
    return tuple(shape) if shape is not None else np.shape(value)


def _is_number(value: Any) -> bool:
    return getattr(getattr(value, "dtype", None), "kind", "O") in "iufc"


def snapshots_from(
    given: Named, missing: Missing, convention: Convention, *, all_fit: bool = True, origin: str = ""
) -> Snapshots:
    """Build snapshots from arrays with names.

    Parameters
    ----------
    given
        Numeric arrays by name: time, coordinates, fields.
    missing
        The policy for NaN and infinity.
    convention
        Order of the axes of a field where the lengths do not tell.
    all_fit
        Whether an array that fits nowhere is an error (the user listed it), or passed over (a file's extra).
    origin
        Name of the file, for what turns out to be wrong with arrays on disk when they are read.
    """
    try:
        built = _built(given.arrays, missing, convention, all_fit, origin)
    except DataError as problem:
        if set(given.arrays) & {*AXES, *TIME}:
            raise
        # Nothing was found that says where or when: what was passed over may tell why, such as a wrong first line.
        raise DataError(" ".join((str(problem), *given.provenance.notes))) from problem
    return Snapshots(built, common([given.provenance, built.provenance]))


def _built(arrays: Arrays, missing: Missing, convention: Convention, all_fit: bool, origin: str) -> Snapshots:
    roles, build = classify(arrays), assembly_of(arrays, missing, origin)
    if roles.moving:
        points, values = _at_moving_points(roles, convention, all_fit)
        return build.at_points(roles.t, points, values)
    lengths = {"t": len(roles.t)} | {name: len(axis) for name, axis in roles.coordinates.items()}
    fields = {name: _oriented(name, array, lengths, convention) for name, array in roles.others.items()}
    gridded = {name: array for name, array in fields.items() if array is not None}
    if gridded:
        _all_fit(roles, lengths, gridded, all_fit)
        return build.on_grid(roles.t, roles.coordinates, gridded)
    if len({len(axis) for axis in roles.coordinates.values()}) == 1:
        scattered = _scattered(roles.others, len(roles.t), lengths["x"], convention)
        if scattered:
            _all_fit(roles, lengths, scattered, all_fit)
            return build.at_points(roles.t, roles.coordinates, scattered)
    rows = _rows(roles, lengths)
    _all_fit(roles, lengths, rows, all_fit)
    return build.of_rows(roles.t, roles.coordinates, rows)


def is_large(sizes: Iterable[int]) -> bool:
    """Whether arrays of so many values stay on disk."""
    return sum(sizes) > STREAMED_ABOVE


def classify(arrays: Arrays) -> Roles:
    """Find time and coordinates by their names; MATLAB's (n, 1) and (1, n) axes become (n,).

    Where x is no vector, coordinates (T, N) or (N, T) are points of their own at every time.
    """
    time = next((name for name in TIME if name in arrays and is_vector(arrays[name].shape)), None)
    keys = [(c, key) for c in COORDINATES for key in (c + c, c) if key in arrays]
    space = {c: key for c, key in keys if is_vector(arrays[key].shape)}
    if time is not None and "x" not in space:
        count = arrays[time].size
        space = {c: key for c, key in keys if arrays[key].ndim == 2 and count in arrays[key].shape}
    lacking = [what for what, there in (("time t", time), ("coordinate x", space.get("x"))) if there is None]
    if time is None or lacking:
        raise DataError(
            f"There is no {names(lacking)} among the names found: {_shapes(arrays)}. Time is called t, time"
            " or tt, coordinates x, y, z, each one-dimensional; for other names type --column t=YOURS, or"
            " columns={'t': 'YOURS'}."
        )
    axes = {time, *space.values()}
    return Roles(
        t=_flat("t", arrays[time]),
        coordinates={c: _flat(c, arrays[key]) for c, key in space.items()},
        others={name: array for name, array in arrays.items() if name not in axes},
    )


def is_vector(shape: tuple[int, ...]) -> bool:
    """Whether at most one dimension is longer than one: (n,), (n, 1), (1, n), or a single number."""
    return bool(sum(length > 1 for length in shape) <= 1)


def _shapes(arrays: Mapping[str, Array]) -> str:
    """List names with their shapes, for messages."""
    return names((f"{name} {array.shape}" for name, array in arrays.items()), nothing="nothing")


def _at_moving_points(roles: Roles, convention: Convention, all_fit: bool) -> tuple[Arrays, Arrays]:
    """Return coordinates and fields (T, N) of points that differ from time to time."""
    times, count = len(roles.t), roles.coordinates["x"].size // len(roles.t)
    points = _scattered(roles.coordinates, times, count, convention)
    if len(points) < len(roles.coordinates):
        raise DataError(
            f"There are {times} times, and the coordinates have the shapes {_shapes(roles.coordinates)};"
            " each needs one value for every time and point, (T, N), all of one shape."
        )
    values = _scattered(roles.others, times, count, convention)
    _all_fit(roles, {"t": times, "points": count}, values, all_fit)
    return points, values


def _scattered(arrays: Arrays, times: int, points: int, convention: Convention) -> Arrays:
    """Return those arrays that have one value for every time and point, with the axes (t, point)."""
    lengths = {"t": times, "points": points}
    fitting = {name: _oriented(name, array, lengths, convention) for name, array in arrays.items()}
    return {name: array for name, array in fitting.items() if array is not None}


def _oriented(name: str, array: Array, lengths: dict[str, int], convention: Convention) -> Array | None:
    """Return the field with its axes in the order (t, x, y, z); None when its shape fits no order.

    `lengths` gives the length of each axis, t first. For a single time the axis t may be absent.
    """
    axes = tuple(lengths)
    if lengths["t"] == 1 and array.ndim == len(axes) - 1:
        array = array.reshape((1, *array.shape) if convention == "time first" else (*array.shape, 1))
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
    return {name: a.reshape(-1) for name, a in roles.others.items() if is_vector(a.shape) and a.size == count}


def _all_fit(roles: Roles, lengths: dict[str, int], fitting: Collection[str], every_one: bool) -> None:
    unfit = {name: array for name, array in roles.others.items() if name not in fitting}
    if fitting and not (unfit and every_one):
        return
    if not unfit:
        raise DataError(
            f"only time and coordinates were found ({names(lengths)}), no field; add the measured values, u."
        )
    axes = names(f"{name} has {length}" for name, length in lengths.items())
    along = [length for name, length in lengths.items() if name != "t"]
    alike = len(along) > 1 and len(set(along)) == 1
    scattered = f" at scattered points ({lengths['t']}, {along[0]});" if alike else ""
    raise DataError(
        f"{axes} values, but the other arrays do not fit: {_shapes(unfit)}. A field needs one axis for each of"
        f" {names(lengths)}, here {tuple(lengths.values())} in some order;{scattered} or give all arrays one length n,"
        " one row per measurement."
    )


def _flat(name: str, array: Array) -> Array:
    refuse_complex(name, array.dtype)
    return array.reshape(-1) if is_vector(array.shape) else array
