"""Find the recorded times that a user asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.words import names, number

# Of the smallest gap between recorded times.
DEFAULT_FRACTION = 0.01


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
    found = [_one(available, float(t), allowed) for t in times]
    if len(set(found)) < len(found):
        raise DataError(
            f"Two of the times {names(map(number, times))} are nearest to the same snapshot;"
            " ask for each once."
        )
    return found


def _one(available: NDArray[np.float64], t: float, tolerance: float) -> int:
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
    return DEFAULT_FRACTION * float(np.min(np.diff(available)))
