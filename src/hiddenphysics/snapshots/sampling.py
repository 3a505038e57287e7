"""Some of the data: the times asked for, a region, random points; and random noise. Seeds make draws repeatable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.sentences import names, number
from hiddenphysics.snapshots.snapshot import Snapshot
from hiddenphysics.snapshots.validation import generator_of

Predicate: TypeAlias = Callable[..., ArrayLike]
"""Says of points, given as x[, y[, z]] of shape (N,), which to keep: N booleans."""

GAP_FRACTION = 0.01
"""How far an asked time may be from a recorded one, as a fraction of the smallest gap between those.

Enough for the digits lost in writing a file, too little to take a neighbour by mistake.
"""


def nearest(available: NDArray[np.float64], asked: ArrayLike, tolerance: float | None) -> list[int]:
    """Index of the nearest available time for each asked time, one asked time to one index.

    >>> nearest(np.array([0.0, 0.1, 0.2]), [0.2, 0.0001], None)
    [2, 0]
    """
    times = np.atleast_1d(np.asarray(asked, dtype=float))
    if times.ndim != 1 or times.size == 0 or not np.isfinite(times).all():
        raise DataError(
            f"The times asked for are {asked!r}; give one or more finite numbers, as in at([0.1, 0.2])."
        )
    allowed = _default_tolerance(available) if tolerance is None else tolerance
    if not allowed >= 0:
        raise DataError(f"tolerance={tolerance} was given; it is a distance in time, zero or more.")
    indices = [_nearest_to(available, float(t), allowed) for t in times]
    if len(set(indices)) < len(indices):
        raise DataError(
            f"Two of the times {names(map(number, times))} are nearest to the same snapshot;"
            " ask for each once."
        )
    return indices


def _nearest_to(available: NDArray[np.float64], t: float, tolerance: float) -> int:
    distance = np.abs(available - t)
    best = int(np.argmin(distance))
    if distance[best] <= tolerance:
        return best
    near = np.sort(available[np.argsort(distance)[:2]])
    listed = f"{'times are' if len(near) > 1 else 'time is'} {names(map(number, near))}"
    raise DataError(
        f"No snapshot lies within the tolerance {tolerance:.3g} of t = {number(t)}; the nearest available"
        f" {listed}. Ask for one of these, or write tolerance={distance[best] * 1.01:.3g}."
    )


def _default_tolerance(available: NDArray[np.float64]) -> float:
    if len(available) == 1:
        # A single time has no gap to measure by: accept it up to the digits of single precision.
        return 1e-6 * abs(float(available[0]))
    return GAP_FRACTION * float(np.min(np.diff(available)))


def where(snapshots: Sequence[Snapshot], predicate: Predicate) -> list[Snapshot]:
    """Keep the points where the predicate holds; see `Snapshots.where`."""
    return [snapshot.take(_kept(snapshot, predicate)) for snapshot in snapshots]


def _kept(snapshot: Snapshot, predicate: Predicate) -> np.ndarray:
    kept = np.concatenate([_kept_piece(piece, predicate) for piece in snapshot.chunks(len(snapshot))])
    if kept.sum() < 2:
        raise DataError(
            f"The predicate keeps {kept.sum()} of the {len(kept)} points at t = {number(snapshot.t)}; at least 2"
            " are needed. Keep a larger region."
        )
    return kept


def _kept_piece(piece: Snapshot, predicate: Predicate) -> np.ndarray:
    kept = np.asarray(predicate(*(piece[name] for name in piece.coordinates)))
    if kept.dtype != bool or kept.shape != (len(piece),):
        raise DataError(
            f"The predicate returned values of type {kept.dtype} and shape {kept.shape}; one boolean for each of"
            f" the {len(piece)} points is needed, as in where(lambda x: x > 0)."
        )
    return kept


def subsample(snapshots: Sequence[Snapshot], counts: int | Sequence[int], seed: int) -> list[Snapshot]:
    """Draw points without replacement, anew for each snapshot; `counts` is one number or one for each."""
    generator = generator_of(seed)
    chosen: list[Snapshot] = []
    for snapshot, count in zip(snapshots, _counts(counts, len(snapshots)), strict=True):
        if not 2 <= count <= len(snapshot):
            raise DataError(
                f"{count} points were asked from the snapshot at t = {number(snapshot.t)}, which has"
                f" {len(snapshot)}; points are drawn without replacement, so ask for 2 to {len(snapshot)}."
            )
        # Kept in the order of the file: a drawn set has no order of its own, and sorted points print better.
        chosen.append(snapshot.take(np.sort(generator.choice(len(snapshot), size=count, replace=False))))
    return chosen


def with_noise(snapshots: Sequence[Snapshot], level: float, seed: int) -> list[Snapshot]:
    """Add independent Gaussian noise to every field; see `Snapshots.with_noise`."""
    if not np.isfinite(level) or level < 0:
        raise DataError(
            f"The noise level is {level}; it is a fraction of each field's spread, as in 0.05 for 5 %."
        )
    generator = generator_of(seed)
    # std over all snapshots together: one noise level per field, as one instrument would have.
    scale = level * np.std(np.concatenate([s.values for s in snapshots], axis=1), axis=1, keepdims=True)
    noisy = [s.values + scale * generator.standard_normal(s.values.shape) for s in snapshots]
    return [
        s.replace(fields={name: s[name] for name in s.columns} | dict(zip(s.fields, rows, strict=True)))
        for s, rows in zip(snapshots, noisy, strict=True)
    ]


def _counts(counts: int | Sequence[int], snapshots: int) -> list[int]:
    given = np.asarray(counts)
    if given.dtype.kind not in "iu" or given.ndim > 1:
        raise DataError(
            f"The number of points to draw is {counts!r}; write an integer, or one integer per snapshot."
        )
    if given.ndim == 1 and len(given) != snapshots:
        raise DataError(
            f"{len(given)} numbers of points were given for {snapshots} snapshots; write one integer for all,"
            " or one per snapshot."
        )
    return [int(count) for count in np.broadcast_to(given, snapshots)]
