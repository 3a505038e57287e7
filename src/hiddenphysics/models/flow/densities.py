"""Snapshots as densities of points on a finer grid: sums over any number of points without a row for each."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.models.flow.compressed import amplitudes_at
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.spectral import Features, Grid

FINER = 2
"""How many times finer along each side the grid of the densities is: the square of a field, times a density with waves
up to twice the field's, is summed up exactly."""


class Densities(NamedTuple):
    """The values of one window's T stops, as fields on the finer grid, of shape n.

    A field v with waves up to h makes Σ_n v(x_n)² = mean(ρ v²) and Σ_n y_n v(x_n) = mean(η v), exactly, where ρ has the
    amplitudes Σ_n e^{−ik·x_n} for |k| ≤ 2h and η has Σ_n y_n e^{−ik·x_n} for |k| ≤ h.

    Attributes
    ----------
    points
        ρ, (T, *n).
    values
        η of the G measured fields in units of their sizes, (T, G, *n).
    squares
        Σ y² of all values.
    """

    points: Any
    values: Any
    squares: Any

    @classmethod
    def of(cls, windows: Windows, grid: Grid) -> Densities:
        """Sum up the snapshots of the first window."""
        low, lengths = np.array([low for low, _ in grid.box]), np.array(grid.lengths)
        highest = (np.array(grid.shape) - 1) // 2
        fine = finer_grid(grid).shape
        points, values, squares = [], [], 0.0
        for snapshot in windows.windows[0]:
            turns = np.remainder(2 * np.pi / lengths * (snapshot.points - low), 2 * np.pi)
            own = zip(windows.names, windows.units, strict=True)
            y = np.stack([snapshot[name] / size for name, size in own])
            points.append(_field(amplitudes_at(turns, np.ones((1, len(turns))), 2 * highest), fine)[0])
            values.append(_field(amplitudes_at(turns, y, highest), fine))
            squares += float(np.sum(y * y))
        return cls(np.stack(points), np.stack(values), squares)

    def residual(self, fields: jax.Array) -> jax.Array:
        """Σ (y − v)² of fields (T, G, *n) at the finer grid's points."""
        apart = self.points[:, None] * fields**2 - 2 * self.values * fields
        return self.squares + jnp.sum(apart) / self.points[0].size

    def weighted(self, fields: jax.Array) -> jax.Array:
        """EᵀE of fields (T, G, *n): with another field v their sum of products is Σ_n u(x_n) v(x_n)."""
        return self.points[:, None] * fields / self.points[0].size

    def slope(self, fields: jax.Array) -> jax.Array:
        """Eᵀ(E v − y): half of the residual's derivative in fields (T, G, *n)."""
        return (self.points[:, None] * fields - self.values) / self.points[0].size

    def gram(self, features: Features, envelope: np.ndarray) -> np.ndarray:
        """(K, K) Gram matrix of the features, times an envelope on the grid, at the points of all stops."""
        fine, sides = finer_grid(features.grid), range(-len(features.grid.shape), 0)
        modes = np.fft.rfftn(envelope, axes=sides, norm="forward")
        grown = np.asarray(fine.to_fields(features.grid.pad(jnp.asarray(modes)[None], fine)))[0]
        sums = np.fft.fftn(np.sum(self.points, axis=0) * grown**2, norm="forward")
        k = features.indices
        added = sums[tuple(np.moveaxis((k[:, None] + k[None]) % np.array(fine.shape), -1, 0))]
        apart = sums[tuple(np.moveaxis((k[:, None] - k[None]) % np.array(fine.shape), -1, 0))]
        own = sums[tuple((k % np.array(fine.shape)).T)]
        nothing = sums[(0,) * len(fine.shape)].real
        # cos a cos b, cos a sin b and sin a sin b by waves with the sum and the difference of the wave vectors.
        cross = 0.5 * (apart - added).imag
        return np.block([
            [np.full((1, 1), nothing), own.real[None], -own.imag[None]],
            [own.real[:, None], 0.5 * (apart + added).real, cross],
            [-own.imag[:, None], cross.T, 0.5 * (apart - added).real],
        ])  # fmt: skip


def finer_grid(grid: Grid) -> Grid:
    """Return the grid on which densities are kept."""
    return grid.resampled(tuple(FINER * n for n in grid.shape))


def _field(sums: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Real fields (S, *shape) whose amplitudes are the conjugates of Σ_n s_n e^{ik·x_n}, (S, 2k+1, …)."""
    sides = range(1, sums.ndim)
    modes = np.zeros((len(sums), *shape), complex)
    places = np.ix_(
        np.arange(len(sums)),
        *(np.arange(-(n // 2), n // 2 + 1) % m for n, m in zip(sums.shape[1:], shape, strict=True)),
    )
    modes[places] = np.conj(sums)
    return np.asarray(np.fft.ifftn(modes, axes=sides, norm="forward").real)
