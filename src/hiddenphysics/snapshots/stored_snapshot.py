"""`StoredSnapshot`: a snapshot whose values stay on disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import validation
from hiddenphysics.snapshots.columns import IM, RE, check_deviations, complex_names, field_of, is_deviation
from hiddenphysics.snapshots.sentences import number
from hiddenphysics.snapshots.snapshot import CHUNK, Snapshot
from hiddenphysics.snapshots.stored_array import DAMAGED, StoredColumn
from hiddenphysics.snapshots.stored_points import StoredPoints


@dataclass(frozen=True)
class Survey:
    """What one pass over a snapshot tells.

    Attributes
    ----------
    spans
        Smallest and largest value of every coordinate and column.
    kept
        How many points of each block of `CHUNK` points are used.
    """

    spans: dict[str, tuple[float, float]]
    kept: NDArray[np.int64]


class StoredSnapshot(Snapshot):
    """Fields at N points at one time, left on disk and read a block at a time.

    It does what a `Snapshot` does. `points`, `values`, `stds` and ``snapshot["u"]`` read everything, anew each time;
    `chunks` and `sample` never hold more than a block besides what they return. Values are checked when they are read;
    all of them, and that no point appears twice, the first time somebody asks for `span` or `constant_fields`, as
    `identify` does before any work. Nothing is ever written to disk.

    Parameters
    ----------
    t
        The time.
    places
        The N points.
    columns
        The fields and the standard deviations `u_std` beside them, N values each.
    missing
        What to do with NaN and infinity: ``"refuse"`` them, or ``"drop"`` every point that has one.
    origin
        Name of the file, put in front of what is wrong with it; "" for none.
    """

    _places: StoredPoints
    _columns: dict[str, StoredColumn]
    _missing: validation.Missing
    _origin: str

    def __init__(
        self,
        t: float,
        places: StoredPoints,
        columns: Mapping[str, StoredColumn],
        *,
        missing: validation.Missing = "refuse",
        origin: str = "",
    ) -> None:
        validation.policy(missing)
        put = object.__setattr__
        put(self, "t", validation.time_of(t))
        put(self, "coordinates", validation.coordinate_names(places.coordinates))
        known = (*columns, *complex_names(columns))
        stds = [name for name in columns if is_deviation(name, known)]
        put(self, "fields", validation.field_names(name for name in columns if name not in stds))
        put(self, "_places", places)
        put(self, "_columns", dict(columns))
        put(self, "_missing", missing)
        put(self, "_origin", origin)
        validation.same_lengths({"points": places, **columns})

    @property
    def points(self) -> NDArray[np.float64]:
        """The points, shape (N, D), read from disk."""
        return self._joined(lambda piece: piece.points, 0)

    @property
    def values(self) -> NDArray[np.float64]:
        """The values of all fields, shape (F, N), read from disk."""
        return self._joined(lambda piece: piece.values, 1)

    @property
    def stds(self) -> Mapping[str, NDArray[np.float64]]:
        """Known standard deviations (N,) by field, each read from disk when it is asked for."""
        return _Deviations(self)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Values of a field or of a coordinate at all points, shape (N,), read from disk."""
        if name not in self:
            raise self._unknown(name)
        return self._joined(lambda piece: piece[name], 0)

    def __len__(self) -> int:
        return len(self._places) if self._missing == "refuse" else int(self.survey.kept.sum())

    def chunks(self, most: int = CHUNK) -> Iterator[Snapshot]:
        """Give the snapshot in pieces of at most so many points, and never more than `CHUNK`, in order."""
        validation.count_of_points(most)
        for number_of_block in range(self._blocks):
            block = self._block(number_of_block)
            if len(block):
                yield from block.chunks(most)

    def take(self, indices: ArrayLike) -> Snapshot:
        """Return the snapshot at some of its points, in memory; `indices` are integers or a mask of shape (N,)."""
        part = self._part(np.asarray(indices))
        return part.take(np.arange(len(part)))

    def replace(self, *, t: float | None = None, fields: Mapping[str, ArrayLike] | None = None) -> Snapshot:
        """Return a snapshot at the same points with another time, still on disk, or with other fields, in memory."""
        if fields is not None:
            return Snapshot.from_columns(
                self.t if t is None else t, {name: self[name] for name in self.coordinates}, fields
            )
        return self._with(self._columns, self.t if t is None else t)

    def select(self, columns: Mapping[str, str]) -> Snapshot:
        """Return the snapshot with some of its columns, in this order, under new names: ``{old: new}``."""
        for old in columns:
            if old not in self._columns:
                raise self._unknown(old)
        return self._with({new: self._columns[old] for old, new in columns.items()}, self.t)

    def with_complex(self, complex_names: Collection[str]) -> Snapshot:
        """Add the imaginary part 0 to the real fields of these names."""
        columns: dict[str, StoredColumn] = {}
        for name, column in self._columns.items():
            if name in self.fields and name in complex_names:
                columns |= {name + RE: column, name + IM: StoredColumn.zeros(len(column))}
            elif field_of(name) not in complex_names:
                columns[name] = column
        return self._with(columns, self.t)

    def span(self, name: str) -> tuple[float, float]:
        """Return the smallest and the largest value of a field or a coordinate."""
        return self.survey.spans[name]

    @cached_property
    def survey(self) -> Survey:
        """One pass over everything: what is refused, is refused here."""
        kept = np.zeros(self._blocks, np.int64)
        bad: dict[str, tuple[int, int]] = {}
        low: dict[str, float] = {}
        high: dict[str, float] = {}
        for k in range(self._blocks):
            arrays = self._raw(k)
            finite = {name: np.isfinite(array) for name, array in arrays.items()}
            used = np.logical_and.reduce(list(finite.values()))
            kept[k] = used.sum()
            if kept[k] < len(used) and self._missing == "refuse":
                for name, good in finite.items():
                    count, first = bad.get(name, (0, k * CHUNK + int(good.argmin())))
                    if not good.all():
                        bad[name] = count + int((~good).sum()), first
            if kept[k] == 0:
                continue
            for name, array in arrays.items():
                values = array[used]
                low[name] = min(low.get(name, np.inf), float(values.min()))
                high[name] = max(high.get(name, -np.inf), float(values.max()))
        with self._named():
            if bad:
                name, (count, first) = next(iter(bad.items()))
                raise validation.not_finite(name, self.t, count, first)
            if not kept.any():
                raise validation.nothing_left(self.t)
            for name in arrays:
                validation.moderate(name, np.array([low[name], high[name]]))
            for name in self.coordinates:
                validation.extended(name, low[name], high[name], int(kept.sum()), self.t)
            self._places.check_distinct(self.t)
        return Survey({name: (low[name], high[name]) for name in arrays}, kept)

    def __reduce__(self) -> tuple[Any, ...]:
        return Snapshot._checked, (
            self.t, self.coordinates, self.points, self.fields, self.values, dict(self.stds)
        )  # fmt: skip

    def _shares_points(self, other: Snapshot) -> bool:
        if not isinstance(other, StoredSnapshot) or "drop" in (self._missing, other._missing):
            return False
        return self._places is other._places

    @property
    def _blocks(self) -> int:
        return -(-len(self._places) // CHUNK)

    def _raw(self, k: int) -> dict[str, NDArray[np.float64]]:
        """Read block number k as it is: coordinates, then columns."""
        start = k * CHUNK
        stop = min(start + CHUNK, len(self._places))
        what = "the points"
        try:
            points = self._places.read(start, stop)
            arrays = dict(zip(self.coordinates, points.T, strict=True))
            for what, column in self._columns.items():
                arrays[what] = column.read(start, stop)
        except DAMAGED as problem:
            with self._named():
                raise DataError(
                    f"{what} at t = {number(self.t)} could not be read"
                    f" ({problem or type(problem).__name__}). Write the data again, or leave out this time."
                ) from problem
        return arrays

    def _block(self, k: int) -> Snapshot:
        """Read the used points of block number k."""
        arrays = self._raw(k)
        used = np.logical_and.reduce([np.isfinite(array) for array in arrays.values()])
        if not used.all():
            if self._missing == "refuse":
                _ = self.survey  # counts them in all blocks, and refuses
            arrays = {name: array[used] for name, array in arrays.items()}
        stds = {field_of(name): arrays[name] for name in self._columns if name not in self.fields}
        with self._named():
            for field, std in stds.items():
                check_deviations(field, std)
        points = np.stack([arrays[name] for name in self.coordinates], axis=-1)
        values = np.stack([arrays[name] for name in self.fields])
        return Snapshot._checked(self.t, self.coordinates, points, self.fields, values, stds)

    def _part(self, index: slice | NDArray[Any]) -> Snapshot:
        """Read the points of some indices, in their order, each block that holds one of them once."""
        kept = (
            np.diff(np.minimum(np.arange(self._blocks + 1) * CHUNK, len(self._places)))
            if self._missing == "refuse"
            else self.survey.kept
        )
        ends = np.cumsum(kept)
        wanted = _as_integers(index, int(ends[-1]))
        order = np.argsort(wanted, kind="stable")
        block_of = np.searchsorted(ends, wanted[order], side="right")
        blocks, first = np.unique(block_of, return_index=True)
        pieces = [
            self._block(int(k))._part(inside - (ends[k] - kept[k]))
            for k, inside in zip(blocks, np.split(wanted[order], first[1:]), strict=True)
        ]
        back = np.argsort(order)
        return Snapshot._checked(
            self.t,
            self.coordinates,
            np.concatenate([p.points for p in pieces])[back],
            self.fields,
            np.concatenate([p.values for p in pieces], axis=1)[:, back],
            {name: np.concatenate([p.stds[name] for p in pieces])[back] for name in self._deviations},
        )

    @property
    def _deviations(self) -> list[str]:
        """Names of the fields whose standard deviations are known."""
        return [field_of(name) for name in self._columns if name not in self.fields]

    def _joined(self, take: Callable[[Snapshot], NDArray[np.float64]], axis: int) -> NDArray[np.float64]:
        everything = np.concatenate([take(piece) for piece in self.chunks()], axis=axis)
        everything.flags.writeable = False
        return everything

    def _with(self, columns: Mapping[str, StoredColumn], t: float) -> StoredSnapshot:
        return StoredSnapshot(t, self._places, columns, missing=self._missing, origin=self._origin)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Put the name of the file in front of what is wrong."""
        try:
            yield
        except DataError as problem:
            if not self._origin:
                raise
            raise DataError(f"{self._origin}: {problem}") from problem


def _as_integers(index: slice | NDArray[Any], count: int) -> NDArray[np.integer]:
    """Turn a slice, a mask or integers, as NumPy understands them, into integers from 0 to before `count`."""
    if isinstance(index, slice):
        return np.arange(*index.indices(count))
    if index.dtype == bool:
        return np.flatnonzero(index)
    wanted = np.where(index < 0, index + count, index)
    if wanted.size and not 0 <= wanted.min() <= wanted.max() < count:
        raise DataError(f"A point was asked for that is not there: there are {count}, counted from 0.")
    return wanted


class _Deviations(Mapping[str, NDArray[np.float64]]):
    """The standard deviations of a stored snapshot by field."""

    def __init__(self, snapshot: StoredSnapshot) -> None:
        self._snapshot = snapshot

    def __getitem__(self, field: str) -> NDArray[np.float64]:
        if field not in self._snapshot._deviations:
            raise KeyError(field)
        return self._snapshot._joined(lambda piece: piece.stds[field], 0)

    def __iter__(self) -> Iterator[str]:
        return iter(self._snapshot._deviations)

    def __len__(self) -> int:
        return len(self._snapshot._deviations)
