"""`StoredArray`: an array that stays where it is, on disk, and is read a piece at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.validation import numeric

Index: TypeAlias = int | slice

DAMAGED = Exception
"""What the libraries that read files raise when a part of one is damaged or gone: anything at all."""


class Source(Protocol):
    """What holds the values: a mapped file, a variable of a data set, a member of an archive."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of every axis."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values."""

    def __getitem__(self, index: tuple[slice, ...], /) -> Any: ...


@dataclass(frozen=True, eq=False)
class StoredArray:
    """Values on disk, under some order of their axes.

    Parameters
    ----------
    source
        What is asked for values, by one slice for each of its axes.
    axes
        For each axis of this array, the one of the source that it is; None is an axis of length 1 which the source
        does not have. Axes of the source that are not listed have length 1.

    Examples
    --------
    >>> a = StoredArray.of(np.arange(6.0).reshape(2, 3)).transpose((1, 0))
    >>> a.shape, a.read((2, slice(0, 2)))
    ((3, 2), array([2., 5.]))
    """

    source: Source
    axes: tuple[int | None, ...]

    @classmethod
    def of(cls, source: Source) -> StoredArray:
        """Take a source as it is."""
        return cls(source, tuple(range(len(source.shape))))

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of every axis."""
        return tuple(1 if axis is None else int(self.source.shape[axis]) for axis in self.axes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values on disk; those that are read are float64 or complex128."""
        return self.source.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.axes)

    @property
    def size(self) -> int:
        """Number of values."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def transpose(self, order: Sequence[int]) -> StoredArray:
        """Put the axes in another order; nothing is read."""
        return StoredArray(self.source, tuple(self.axes[axis] for axis in order))

    def reshape(self, shape: int | tuple[int, ...]) -> StoredArray:
        """Add and remove axes of length 1; nothing is read. As in NumPy, -1 flattens what is a vector."""
        long = [axis for axis, length in zip(self.axes, self.shape, strict=True) if length != 1]
        lengths = (self.size,) if shape == -1 else shape
        if not isinstance(lengths, tuple) or [n for n in lengths if n != 1] != [
            n for n in self.shape if n != 1
        ]:
            raise ValueError(f"an array on disk of shape {self.shape} cannot take the shape {shape}")
        remaining = iter(long)
        return StoredArray(self.source, tuple(None if n == 1 else next(remaining) for n in lengths))

    def read(self, index: tuple[Index, ...]) -> NDArray[Any]:
        """Read what one integer or slice for each axis selects, as NumPy would, float64 or complex128."""
        spans = [
            slice(i, i + 1) if isinstance(i, int) else slice(*i.indices(n)) for i, n in self._pairs(index)
        ]
        wanted = [slice(0, 1)] * len(self.source.shape)
        own = [axis for axis in self.axes if axis is not None]
        for axis, span in zip(self.axes, spans, strict=True):
            if axis is not None:
                wanted[axis] = span
        block = numeric("a part of the data", self.source[tuple(wanted)])
        rest = [axis for axis in range(block.ndim) if axis not in own]
        lengths = [s.stop - s.start for s, i in zip(spans, index, strict=True) if isinstance(i, slice)]
        return block.transpose([*own, *rest]).reshape(lengths)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.read((slice(None),) * self.ndim)

    def _pairs(self, index: tuple[Index, ...]) -> Iterator[tuple[Index, int]]:
        return zip(index, self.shape, strict=True)


@dataclass(frozen=True, eq=False)
class StoredColumn:
    """One value for each of N points at one time: a run of values of a stored array, in the order of its axes.

    Parameters
    ----------
    array
        The values, of which the index `lead` along the first axes leaves those of one time.
    lead
        () or (number of the time,).
    start, length
        The first of them that belongs to this column, and how many do.
    part
        Of complex values, the part that is meant.
    """

    array: StoredArray
    lead: tuple[int, ...]
    start: int
    length: int
    part: Literal["real", "imag"] = "real"

    @classmethod
    def at(cls, array: StoredArray, time: int, part: Literal["real", "imag"] = "real") -> StoredColumn:
        """Take one time of an array of shape (T, N) or (T, Nx, Ny, Nz)."""
        return cls(array, (time,), 0, math.prod(array.shape[1:]), part)

    @classmethod
    def zeros(cls, length: int) -> StoredColumn:
        """Return a column of zeros, which takes no memory."""
        return cls(StoredArray.of(np.broadcast_to(0.0, (length,))), (), 0, length)

    def __len__(self) -> int:
        return self.length

    def read(self, start: int, stop: int) -> NDArray[np.float64]:
        """Read the values from `start` to before `stop`, shape (stop - start,)."""
        values = self.complex(start, stop)
        chosen: NDArray[np.float64] = values.imag if self.part == "imag" else values.real
        return chosen

    def complex(self, start: int, stop: int) -> NDArray[Any]:
        """Read the same, and both parts of what is complex."""
        shape = self.array.shape[len(self.lead) :]
        pieces = [
            self.array.read((*self.lead, *span)).reshape(-1)
            for span in flat_spans(shape, self.start + start, self.start + stop)
        ]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def flat_spans(shape: tuple[int, ...], start: int, stop: int) -> Iterator[tuple[Index, ...]]:
    """Cover a run of values, counted along the last axis first, by indices that NumPy and its relatives understand.

    >>> list(flat_spans((3, 4), 2, 8))
    [(0, slice(2, 4, None)), (slice(1, 2, None), slice(0, 4, None))]
    """
    if len(shape) == 1:
        yield (slice(start, stop),)
        return
    inner = math.prod(shape[1:])
    row, offset = divmod(start, inner)
    if offset or stop < (row + 1) * inner:
        end = min(stop, (row + 1) * inner)
        for rest in flat_spans(shape[1:], offset, end - row * inner):
            yield (row, *rest)
        start, row = end, row + 1
    whole = stop // inner
    if start < stop and whole > row:
        yield (slice(row, whole), *(slice(0, n) for n in shape[1:]))
        start, row = whole * inner, whole
    if start < stop:
        for rest in flat_spans(shape[1:], 0, stop - start):
            yield (row, *rest)


class StackedSource:
    """Arrays of one shape, one for each time, as one source of shape (T, …)."""

    def __init__(self, name: str, arrays: Sequence[Any]) -> None:
        self._arrays = arrays
        first = arrays[0]
        for i, array in enumerate(arrays):
            if array.shape != first.shape:
                raise DataError(
                    f"{name} is a list of arrays, of which number 0 has the shape {first.shape} and number {i}"
                    f" the shape {array.shape}; one list needs one grid. Give other grids as records of"
                    " their own: a list of {'t': t, 'x': x, 'u': u}."
                )
        self.shape: tuple[int, ...] = (len(arrays), *first.shape)
        self.dtype: np.dtype[Any] = np.result_type(*(array.dtype for array in arrays))

    def __getitem__(self, index: tuple[slice, ...]) -> NDArray[Any]:
        times, *rest = index
        return np.stack([np.asarray(array[tuple(rest)]) for array in self._arrays[times]])
