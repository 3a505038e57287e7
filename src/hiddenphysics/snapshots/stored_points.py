"""Where a snapshot on disk was measured: a grid, which needs no memory, or scattered points on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.snapshots import validation
from hiddenphysics.snapshots.snapshot import CHUNK
from hiddenphysics.snapshots.stored_array import StoredColumn

MOST_SORTED = 8_000_000
"""The most points that are compared with each other at once: 64 MB of digests, twice that while they are gathered."""

MOST_NAMED = 1000
"""The most repeated points that are looked at again, to name two of them."""


class StoredPoints(Protocol):
    """N points in D dimensions, read by ranges."""

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the D coordinates."""

    def __len__(self) -> int: ...

    def read(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return the points from `start` to before `stop`, shape (stop - start, D)."""

    def check_distinct(self, t: float) -> None:
        """Refuse two measurements at one point."""


@dataclass(frozen=True, eq=False)
class GridPoints:
    """All points of a grid, the last coordinate running fastest.

    >>> GridPoints({"x": np.array([0.0, 1.0]), "y": np.array([5.0, 6.0])}).read(1, 3)
    array([[0., 6.],
           [1., 5.]])
    """

    axes: dict[str, NDArray[np.float64]]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the D coordinates."""
        return tuple(self.axes)

    def __len__(self) -> int:
        return int(np.prod([len(axis) for axis in self.axes.values()]))

    def read(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return the points from `start` to before `stop`, shape (stop - start, D)."""
        shape = tuple(len(axis) for axis in self.axes.values())
        at = np.unravel_index(np.arange(start, stop), shape)
        return np.stack([axis[i] for axis, i in zip(self.axes.values(), at, strict=True)], axis=-1)

    def check_distinct(self, t: float) -> None:
        """Refuse an axis that holds a value twice."""
        for name, axis in self.axes.items():
            validation.single_points((name,), axis[:, np.newaxis], t)


class ScatteredPoints:
    """Scattered points, whose coordinates are columns on disk."""

    def __init__(self, columns: dict[str, StoredColumn]) -> None:
        self._columns = columns
        self._distinct = False

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the D coordinates."""
        return tuple(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def read(self, start: int, stop: int) -> NDArray[np.float64]:
        """Return the points from `start` to before `stop`, shape (stop - start, D)."""
        return np.stack([column.read(start, stop) for column in self._columns.values()], axis=-1)

    def check_distinct(self, t: float) -> None:
        """Refuse two measurements at one point; points that all times share are compared once.

        Equal points have equal digests of 64 bits, which are small and quick to sort. Those of one remainder are
        compared at a time, one pass over the points for each, as many as keep them below `MOST_SORTED`.
        """
        if self._distinct:
            return
        shares = -(-len(self) // MOST_SORTED)
        for share in range(shares):
            own = [digests[digests % np.uint64(shares) == share] for _, _, digests in self._digested()]
            sorted_digests = np.concatenate(own)
            sorted_digests.sort()
            repeated = np.unique(sorted_digests[1:][sorted_digests[1:] == sorted_digests[:-1]])[:MOST_NAMED]
            if repeated.size:
                self._compare(repeated, t)
        self._distinct = True

    def _compare(self, repeated: NDArray[np.uint64], t: float) -> None:
        """Refuse equal points among those with these digests, which by chance may be those of different points."""
        indices, points = [], []
        for index, piece, digests in self._digested():
            # One more than there are digests, so that one of them appears twice.
            mine = np.flatnonzero(np.isin(digests, repeated))[: MOST_NAMED + 1]
            indices.append(index[mine])
            points.append(piece[mine])
        validation.single_points(self.coordinates, np.concatenate(points), t, np.concatenate(indices))

    def _digested(self) -> Iterator[tuple[NDArray[np.integer], NDArray[np.float64], NDArray[np.uint64]]]:
        """Give the indices of all finite points, the points and their digests, a piece at a time."""
        for start in range(0, len(self), CHUNK):
            # Adding 0 makes -0 the 0 that it equals.
            piece = self.read(start, min(start + CHUNK, len(self))) + 0.0
            finite = np.flatnonzero(np.isfinite(piece).all(axis=1))
            yield start + finite, piece[finite], _digest(piece[finite])


def _digest(points: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Mix the bits of each point (N, D) into one number (N,)."""
    mixed = np.zeros(len(points), np.uint64)
    for column in np.ascontiguousarray(points.T).view(np.uint64):
        # An odd multiplier (that of SplitMix64) spreads the bits upwards; the shift brings them down again.
        mixed = (mixed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    return mixed
