"""Test functions on a grid: products of bumps (1 − s²)^p, on a lattice that is cut into blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np
from numpy.polynomial import Polynomial

POWER = 8
"""p. Parameters of clean fields came out to 1e-5 with radii of twelve steps; p = 12 made all deviations larger."""
MOST_DERIVATIVES = POWER - 2
"""Along one axis: of higher order they do not vanish smoothly at the edge of a bump."""
LEAST_RADIUS = 6.0
"""In steps of the grid: there sums are integrals but for 3e-5 of a parameter, which noise of 0.1 % hides."""
OVERLAP = 3.0
"""Centres in one radius. With 2, deviations grew by 10 to 50 %; with 4 they hardly shrank."""
TESTS = 144
"""Rows of one block; with 100 deviations were 10 % larger than with 600, which took six times as long."""


@dataclass(frozen=True)
class GridAxis:
    """Equispaced places, or times, along one direction; on a periodic one bumps reach around."""

    size: int
    step: float
    periodic: bool

    @property
    def widest(self) -> float:
        """The largest radius, in steps, at which a bump fits."""
        return 0.5 * (self.size if self.periodic else self.size - 1)

    def stretches(self, radius: float, most: int) -> Iterator[Stretch]:
        """Yield neighbouring bumps of a radius in steps, at most so many at once."""
        first, length = (0.0, self.size) if self.periodic else (radius, self.size - 1 - 2 * radius)
        count = max(1, int(np.ceil(OVERLAP * length / radius - 1e-9)) + (not self.periodic))
        centres = first + np.linspace(0.0, length, count, endpoint=not self.periodic)
        for some in np.array_split(centres, -(-count // most)):
            reach = np.arange(np.ceil(some[0] - radius), np.floor(some[-1] + radius) + 1).astype(int)
            indices = np.unique(reach % self.size) if self.periodic else reach
            away = indices - some[:, None]
            if self.periodic:
                away = (away + 0.5 * self.size) % self.size - 0.5 * self.size
            yield Stretch(indices, away / radius, radius * self.step, self.step)


@dataclass(frozen=True)
class Stretch:
    """K neighbouring bumps along one axis.

    Attributes
    ----------
    indices
        (n,) places of the grid on which any of them stands.
    distances
        (K, n) from every centre, in radii.
    radius, step
        Of a bump and of the grid, in the units of the axis.
    """

    indices: np.ndarray
    distances: np.ndarray
    radius: float
    step: float
    _found: dict[int, np.ndarray] = field(default_factory=dict, repr=False)

    def slopes(self, order: int) -> np.ndarray:
        """Return the weights (K, n) with which a sum is (−1)^order ∫ φ^(order) · dx."""
        if order not in self._found:  # many blocks share a stretch
            shape = (Polynomial([1.0, 0.0, -1.0]) ** POWER).deriv(order)
            inside = np.abs(self.distances) < 1.0
            self._found[order] = (
                np.where(inside, shape(self.distances), 0.0) * self.step / (-self.radius) ** order
            )
        return self._found[order]


@dataclass(frozen=True)
class BumpBlock:
    """All products of the bumps of one stretch of every axis: K test functions."""

    stretches: tuple[Stretch, ...]

    @cached_property
    def window(self) -> tuple[np.ndarray, ...]:
        """Where the grid is seen by any of them."""
        return np.ix_(*(s.indices for s in self.stretches))

    def integrals(self, values: np.ndarray, orders: Sequence[int]) -> np.ndarray:
        """Return ∫ φ_k ∂^orders f, (K,), of f given on the whole grid."""
        return _contracted(values[self.window], self._slopes(orders)).ravel()

    def add(self, weights: np.ndarray, orders: Sequence[int], onto: np.ndarray) -> None:
        """Add Σ_k weights_k ∂^orders φ_k, with signs and steps as in `integrals`, to an array over the whole grid."""
        slopes = self._slopes(orders)
        shaped = weights.reshape([matrix.shape[0] for matrix in slopes])
        onto[self.window] += _contracted(shaped, [matrix.T for matrix in slopes])

    def pairs(self, weight: np.ndarray, left: Sequence[int], right: Sequence[int]) -> np.ndarray:
        """Return Σ_grid ∂^left φ_k ∂^right φ_l · weight, (K, K), with signs and steps as in `integrals`.

        This is the covariance of two integrals of white noises whose covariance at a place is the weight.
        """
        one, other = self._slopes(left), self._slopes(right)
        sizes = [matrix.shape[0] for matrix in one]
        if weight.ndim == 0:
            each = [a @ b.T for a, b in zip(one, other, strict=True)]
            together = np.asarray(weight)
            for matrix in each:
                together = np.multiply.outer(together, matrix)
        else:
            both = [(a[:, None] * b[None]).reshape(-1, a.shape[1]) for a, b in zip(one, other, strict=True)]
            together = _contracted(weight[self.window], both)
        axes, count = len(sizes), int(np.prod(sizes))
        together = together.reshape([size for size in sizes for _ in range(2)])
        return together.transpose(*range(0, 2 * axes, 2), *range(1, 2 * axes, 2)).reshape(count, count)

    def _slopes(self, orders: Sequence[int]) -> list[np.ndarray]:
        return [s.slopes(n) for s, n in zip(self.stretches, orders, strict=True)]


def bump_blocks(
    axes: Sequence[GridAxis], radii: Sequence[float], equations: int, most: int
) -> list[BumpBlock]:
    """Return blocks all over the grid: at most so many, then evenly chosen ones.

    Every test function gives as many rows as there are equations.
    """
    along = max(3, round((TESTS / equations) ** (1.0 / len(axes))))
    every = list(product(*(list(a.stretches(r, along)) for a, r in zip(axes, radii, strict=True))))
    chosen = np.unique(np.linspace(0, len(every) - 1, min(most, len(every))).astype(int))
    return [BumpBlock(every[i]) for i in chosen]


def smoothed(values: np.ndarray, axes: Sequence[GridAxis], radii: Sequence[float]) -> np.ndarray:
    """Return the mean of values under a bump around every place of the grid."""
    from scipy.ndimage import convolve1d  # a tenth of a second to import, for recordings alone

    for along, (axis, radius) in enumerate(zip(axes, radii, strict=True)):
        reach = int(radius)
        places = Stretch(np.arange(2 * reach + 1), np.arange(-reach, reach + 1.0)[None] / radius, radius, 1.0)
        weights = places.slopes(0)[0]
        values = convolve1d(
            values, weights / weights.sum(), axis=along, mode="wrap" if axis.periodic else "nearest"
        )
    return values


def _contracted(array: np.ndarray, matrices: Sequence[np.ndarray]) -> np.ndarray:
    """Sum over every axis with the matrix (K, n) of it."""
    for matrix in matrices:  # the first axis goes, its sums become the last
        array = np.tensordot(array, matrix, axes=(0, 1))
    return array
