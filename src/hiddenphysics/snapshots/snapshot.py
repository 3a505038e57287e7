"""`Snapshot`: fields measured at scattered points at one time, checked once and never changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import validation
from hiddenphysics.snapshots.columns import (
    IM,
    RE,
    complex_names,
    deviation_name,
    field_of,
    other_part,
    split_complex,
    split_deviations,
)
from hiddenphysics.snapshots.sentences import names, number, plural

CHUNK = 2**16
"""The most points in one piece of a snapshot: 0.5 MB a column.

A pass over 10⁷ values of a mapped file takes 1.1 s in pieces of 2¹², 0.22 s in pieces of 2¹⁶, 0.20 s in larger ones.
"""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Snapshot:
    """Fields at N scattered points in D = 1, 2 or 3 dimensions, at one time.

    Parameters
    ----------
    t
        The time, one finite number.
    *arrays
        Coordinates in the order x, y, z, each of shape (N,). When no field is named, the last array is the
        field `u`.
    missing
        What to do with NaN and infinity: ``"refuse"`` them, or ``"drop"`` every point that has one.
    **named
        Arrays of shape (N,) by name: `x`, `y`, `z` are coordinates, any other name is a field. A complex
        array `h` is kept as the two real fields `h_re` and `h_im`, unless max|imag| ≤ 1e-5 · max|real|:
        that is a solver's round-off and the field is real. Two real fields named so make a complex `h` too.
        An array `u_std` beside a field `u` is no field but the known standard deviation of its values, such as
        the counting error of a histogram; it must be positive.

    Attributes
    ----------
    t
        The time.
    coordinates
        ``("x",)``, ``("x", "y")`` or ``("x", "y", "z")``.
    points
        The points, shape (N, D), read-only.
    fields
        Names of the F real fields.
    values
        Their values, shape (F, N), read-only.
    stds
        Known standard deviations (N,) by field, for those that have one, read-only.

    Examples
    --------
    >>> s = Snapshot(t=2.0, x=[0.0, 0.5, 1.0], u=[1.0, 0.7, 0.2])
    >>> s
    Snapshot(t=2, 3 points in x, field u)
    >>> s["u"][1]
    np.float64(0.7)
    >>> Snapshot(2.0, [0.0, 1.0], [1.0, 3.0]).fields  # the last array is u
    ('u',)
    """

    t: float
    coordinates: tuple[str, ...]
    points: NDArray[np.float64]
    fields: tuple[str, ...]
    values: NDArray[np.float64]
    stds: Mapping[str, NDArray[np.float64]]

    def __init__(
        self, t: float, *arrays: ArrayLike, missing: validation.Missing = "refuse", **named: ArrayLike
    ) -> None:
        coordinates, fields = _tell_apart(arrays, named)
        self._fill(t, coordinates, fields, missing)

    @classmethod
    def from_columns(
        cls,
        t: float,
        coordinates: Mapping[str, ArrayLike],
        fields: Mapping[str, ArrayLike],
        *,
        missing: validation.Missing = "refuse",
    ) -> Snapshot:
        """Build from columns by name, for names known only when the program runs; same validation."""
        snapshot = cls.__new__(cls)
        snapshot._fill(t, coordinates, fields, missing)
        return snapshot

    def _fill(
        self,
        t: float,
        coordinates: Mapping[str, ArrayLike],
        fields: Mapping[str, ArrayLike],
        missing: validation.Missing,
    ) -> None:
        t = validation.time_of(t)
        axes = validation.coordinate_names(coordinates)
        validation.field_names(fields)
        columns = {name: validation.real(name, validation.vector(name, coordinates[name])) for name in axes}
        columns |= {name: validation.vector(name, value) for name, value in fields.items()}
        validation.same_lengths(columns)
        columns = validation.finite_points(columns, missing, t)
        points = np.stack([columns[name] for name in axes], axis=-1)
        validation.distinct_points(axes, points, t)
        self._set(t, axes, points, {name: columns[name] for name in fields})

    def _set(
        self,
        t: float,
        coordinates: tuple[str, ...],
        points: NDArray[np.float64],
        fields: Mapping[str, NDArray[Any]],
    ) -> None:
        fields, stds = split_deviations(fields)
        real_fields = split_complex(fields)
        names_of_fields = validation.field_names(name for name, _ in real_fields)
        values = np.stack([array for _, array in real_fields])
        for name, row in zip(names_of_fields, values, strict=True):
            validation.moderate(name, row)
        self._put(t, coordinates, points, names_of_fields, values, stds)

    def _put(
        self,
        t: float,
        coordinates: tuple[str, ...],
        points: NDArray[np.float64],
        fields: tuple[str, ...],
        values: NDArray[np.float64],
        stds: Mapping[str, NDArray[np.float64]],
    ) -> None:
        for array in (points, values, *stds.values()):
            array.flags.writeable = False
        # The class is frozen, so that nobody assigns by accident; its own constructor has to go around that.
        put = object.__setattr__
        put(self, "t", t)
        put(self, "coordinates", coordinates)
        put(self, "points", points)
        put(self, "fields", fields)
        put(self, "values", values)
        put(self, "stds", MappingProxyType(dict(stds)))

    @staticmethod
    def _checked(
        t: float,
        coordinates: tuple[str, ...],
        points: NDArray[np.float64],
        fields: tuple[str, ...],
        values: NDArray[np.float64],
        stds: Mapping[str, NDArray[np.float64]],
    ) -> Snapshot:
        """Return a snapshot of arrays that have passed the checks already."""
        snapshot = Snapshot.__new__(Snapshot)
        snapshot._put(t, coordinates, points, fields, values, stds)
        return snapshot

    def __reduce__(self) -> tuple[Any, ...]:
        # The mapping of deviations cannot be copied to another process; the columns can, and are checked again there.
        points = {name: self[name] for name in self.coordinates}
        return Snapshot.from_columns, (self.t, points, {name: self[name] for name in self.columns})

    def replace(self, *, t: float | None = None, fields: Mapping[str, ArrayLike] | None = None) -> Snapshot:
        """Return a snapshot at the same points with another time, or with other fields instead of all these.

        The points are shared, not copied and not checked again, which is what makes recordings on a fixed
        grid quick to load. Non-finite values are refused.
        """
        t = self.t if t is None else validation.time_of(t)
        new: Mapping[str, ArrayLike] = (
            {name: self[name] for name in self.columns} if fields is None else fields
        )
        validation.field_names(new)
        columns = {"points": self.points} | {
            name: validation.vector(name, value) for name, value in new.items()
        }
        validation.same_lengths(columns)
        columns = validation.finite_points({name: columns[name] for name in new}, "refuse", t)
        snapshot = type(self).__new__(type(self))
        snapshot._set(t, self.coordinates, self.points, columns)
        return snapshot

    def select(self, columns: Mapping[str, str]) -> Snapshot:
        """Return the snapshot with some of its columns, in this order, under new names: ``{old: new}``."""
        return self.replace(fields={new: self[old] for old, new in columns.items()})

    def with_complex(self, complex_names: Collection[str]) -> Snapshot:
        """Add the imaginary part 0 to the real fields of these names."""
        fields: dict[str, ArrayLike] = {}
        for name in self.columns:
            if name in self.fields and name in complex_names:
                fields |= {name + RE: self[name], name + IM: np.zeros(len(self))}
            elif field_of(name) not in complex_names:
                fields[name] = self[name]
        return self.replace(fields=fields)

    def chunks(self, most: int = CHUNK) -> Iterator[Snapshot]:
        """Give the snapshot in pieces of at most so many points, in order; they share its memory.

        A piece is a `Snapshot` in memory whose points need not extend along every coordinate.
        """
        for start in range(0, len(self), validation.count_of_points(most)):
            yield self._part(slice(start, start + most))

    def sample(self, count: int, seed: int) -> Snapshot:
        """Draw so many points at random without replacement, in their order, or all when there are fewer."""
        count = min(validation.count_of_points(count), len(self))
        drawn = validation.generator_of(seed).choice(len(self), size=count, replace=False)
        return self._part(np.sort(drawn))

    def _part(self, index: slice | NDArray[np.integer]) -> Snapshot:
        """Return some of the points; what was checked as a whole needs no check in parts."""
        return Snapshot._checked(
            self.t,
            self.coordinates,
            self.points[index],
            self.fields,
            self.values[:, index],
            {name: std[index] for name, std in self.stds.items()},
        )

    def take(self, indices: ArrayLike) -> Snapshot:
        """Return the snapshot at some of its points; `indices` are integers or a mask of shape (N,)."""
        chosen = np.asarray(indices)
        return Snapshot.from_columns(
            self.t,
            {name: self[name][chosen] for name in self.coordinates},
            {name: self[name][chosen] for name in self.columns},
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all that was measured: the fields, then the known standard deviations `u_std`."""
        return (*self.fields, *(deviation_name(field) for field in self.stds))

    @property
    def complex_fields(self) -> tuple[str, ...]:
        """Names of the complex fields: `h` where `fields` holds `h_re` and `h_im`."""
        return complex_names(self.fields)

    @property
    def constant_fields(self) -> tuple[str, ...]:
        """Names of the real fields that are the same at every point.

        A part of a complex field counts only if the other one is flat too: such a field may well be real at
        one time, as Schrödinger's initial state is.
        """
        flat = {name for name in self.fields if np.ptp(self.span(name)) == 0}
        varied = set(self.fields) - flat
        return tuple(name for name in self.fields if name in flat and other_part(name) not in varied)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Values of a field or of a coordinate at all points, shape (N,), read-only."""
        if name in self.fields:
            row: NDArray[np.float64] = self.values[self.fields.index(name)]
            return row
        if name in self.coordinates:
            column: NDArray[np.float64] = self.points[:, self.coordinates.index(name)]
            return column
        if field_of(name) in self.stds:
            return self.stds[field_of(name)]
        raise self._unknown(name)

    def _unknown(self, name: str) -> DataError:
        return DataError(
            f"This snapshot has no {name!r}; it has the coordinates {names(self.coordinates)} and the fields"
            f" {names(self.fields)}."
        )

    def span(self, name: str) -> tuple[float, float]:
        """Return the smallest and the largest value of a field or a coordinate."""
        return float(self[name].min()), float(self[name].max())

    def has_points_of(self, other: Snapshot) -> bool:
        """Whether both were measured at the same points in the same order."""
        if len(self) != len(other):
            return False
        pieces = (slice(start, start + CHUNK) for start in range(0, len(self), CHUNK))
        return self._shares_points(other) or all(
            np.array_equal(self._part(piece).points, other._part(piece).points) for piece in pieces
        )

    def _shares_points(self, other: Snapshot) -> bool:
        # Not `other.points`, which one on disk would read.
        return vars(other).get("points") is self.points

    def __contains__(self, name: object) -> bool:
        return name in self.columns or name in self.coordinates

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        noun = "field" if len(self.fields) == 1 else "fields"
        where = f"{plural(len(self), 'point')} in {', '.join(self.coordinates)}"
        return f"{type(self).__name__}(t={number(self.t)}, {where}, {noun} {', '.join(self.fields)})"


def _tell_apart(
    arrays: tuple[ArrayLike, ...], named: Mapping[str, ArrayLike]
) -> tuple[dict[str, ArrayLike], dict[str, ArrayLike]]:
    """Sort the arguments of `Snapshot` into coordinates and fields."""
    coordinates = {name: value for name, value in named.items() if name in validation.COORDINATES}
    fields = {name: value for name, value in named.items() if name not in validation.COORDINATES}
    if arrays and not fields:
        *arrays_of_space, fields["u"] = arrays
    else:
        arrays_of_space = list(arrays)
    if len(arrays_of_space) > len(validation.COORDINATES):
        raise DataError(
            f"{len(arrays_of_space)} arrays were given as coordinates; there are at most three, x, y and z."
            " Name the fields, as in Snapshot(t, x, u=u, v=v)."
        )
    for name, value in zip(validation.COORDINATES, arrays_of_space, strict=False):
        if name in coordinates:
            raise DataError(f"The coordinate {name} was given twice, by position and by name. Give it once.")
        coordinates[name] = value
    return coordinates, fields
