"""Recordings on a common grid: its axes, the values as arrays, and whether the fields repeat along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hiddenphysics.snapshots import Snapshots

EVEN = 1e-6
"""Steps of an axis may differ by this part of themselves: single precision and printed numbers do."""

FEWEST_STOPS, FEWEST_POINTS = 8, 16
"""Fewer do not tell whether the fields repeat."""

WIDEST = 16
"""Values on either side of the seam, at most a sixteenth of an axis, that are taken together against the noise."""

BY_CHANCE = 5.0
"""A jump at the seam may be larger than elsewhere by this many over the root of the number of times, which are not
independent. Of the paper's files, clean or with noise as large as the fields, seams have up to 1.16 (bound 1.3 to 1.5);
with a part of the axis cut off, where the fields are not small, 2.1 and more."""


@dataclass(frozen=True)
class GridRecording:
    """Values of real fields at all times on one grid of equispaced points.

    Attributes
    ----------
    axes
        (n_1,), … along each coordinate.
    values
        Field -> (T, n_1, …).
    """

    axes: tuple[np.ndarray, ...]
    values: dict[str, np.ndarray]

    @classmethod
    def of(cls, snapshots: Snapshots) -> GridRecording | None:
        """Return the recording as arrays; None where the points differ, are scattered, or unevenly spaced."""
        points = snapshots[0].points
        if any(len(s) != len(points) or s.stds for s in snapshots):
            return None
        axes = tuple(np.unique(column) for column in points.T)
        shape = tuple(len(axis) for axis in axes)
        if np.prod(shape) != len(points) or not all(_even(axis) for axis in axes):
            return None
        if not all(s.points is points or np.array_equal(s.points, points) for s in snapshots):
            return None
        order = np.lexsort(points.T[::-1])
        values = {f: np.stack([s[f][order].reshape(shape) for s in snapshots]) for f in snapshots.fields}
        return cls(axes, values)

    def periods(self) -> tuple[float | None, ...]:
        """Return after which length the fields repeat along each axis, None where they do not."""
        every = tuple(self._repeats(side) for side in range(len(self.axes)))
        return tuple(
            float((axis[-1] - axis[0]) * len(axis) / (len(axis) - 1)) if repeats else None
            for axis, repeats in zip(self.axes, every, strict=True)
        )

    def _repeats(self, side: int) -> bool:
        """Whether the fields go on from the last point to the first as they do from any point to the next.

        On either side of a seam a straight line through a few values says what stands there; the two disagree by noise
        and by curvature, at the ends as much as anywhere between.
        """
        for values in self.values.values():
            rows = np.moveaxis(values, 1 + side, -1).reshape(-1, values.shape[1 + side])
            if len(values) < FEWEST_STOPS or rows.shape[1] < FEWEST_POINTS:
                return False
            if any(jump > 1 + BY_CHANCE / np.sqrt(len(values)) for jump in _jumps(rows)):
                return False
        return True


def common_periods(grids: Sequence[GridRecording | None]) -> tuple[float | None, ...] | None:
    """Return after which length the fields of all recordings repeat along each axis; None where one has no grid.

    A side repeats where it does in every recording, from the same place on and after the same length.
    """
    known = [grid for grid in grids if grid is not None]
    if len(known) < len(grids):
        return None
    every = [grid.periods() for grid in known]

    def repeats(side: int, period: float | None) -> bool:
        begins = known[0].axes[side][0]
        return period is not None and all(
            other[side] is not None
            and np.isclose(other[side] or 0.0, period)
            and abs(grid.axes[side][0] - begins) <= EVEN * period
            for other, grid in zip(every, known, strict=True)
        )

    return tuple(period if repeats(side, period) else None for side, period in enumerate(every[0]))


def _jumps(rows: np.ndarray) -> list[float]:
    """Root mean square jump at the ends' seam over that between all points of rows (R, n), for several widths."""
    jumps = []
    count, width = rows.shape[1], 1
    while width <= max(1, min(WIDEST, count // 16)):
        weights = _edge_weights(width)
        # Value at the seam as told from the left and from the right, for seams after every point.
        around = np.concatenate([rows, rows[:, : 2 * width]], axis=1)
        told = np.lib.stride_tricks.sliding_window_view(around, 2 * width, axis=1)
        apart = told @ np.concatenate([weights[::-1], -weights])
        inside = apart[:, : count - 2 * width + 1]
        seam = apart[:, count - width]
        jumps.append(float(np.sqrt(np.mean(seam**2) / np.mean(inside**2))))
        width *= 2
    return jumps


def _edge_weights(width: int) -> np.ndarray:
    """Weights (width,) of values at ½, 1½, … whose straight line is read off at 0, nearest first."""
    at = np.arange(width) + 0.5
    if width < 3:
        return np.full(width, 1.0 / width)
    line = np.stack([np.ones(width), at], axis=1)
    return np.asarray(np.linalg.pinv(line)[0])


def _even(axis: np.ndarray) -> bool:
    steps = np.diff(axis)
    return bool(steps.size > 0 and np.ptp(steps) <= EVEN * np.abs(axis).max() + EVEN * steps.mean())
