"""Fourier features: a latent field as a finite sum of waves on a box somewhat larger than the data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from hiddenphysics.operators import Symbol
from hiddenphysics.spectral.grid import Grid, Modes


class Gauge(NamedTuple):
    """How a stationary latent z makes a field, u(x) = g(x) z(s(x)), at the grid's points.

    Attributes
    ----------
    envelope
        g, (F, *shape).
    places
        s on a line, (F, n); None where s(x) = x.
    """

    envelope: Any
    places: Any


class Mirror(NamedTuple):
    """Fields that are mirrored at the middle of a line's box, and so at its ends.

    Attributes
    ----------
    sign
        1 for even fields, −1 for odd ones.
    other
        The sign with which they are mirrored a quarter of the box away from there, where that is another one; 0
        otherwise. An odd field that is even there has the waves 1, 3, 5 … alone.
    """

    sign: int
    other: int = 0


@dataclass(frozen=True)
class Features:
    """z(x) = z₀ + Σ_m [z_m cos(ω_m·(x − low)) + z'_m sin(ω_m·(x − low))], for a half-space of wave vectors ω_m.

    The wave vectors are those of the box with Σ_d (m_d / waves_d)² ≤ 1: an ellipse, since a product prior
    decays with |ωℓ|. Hashed by value, so it can be a static argument.

    Parameters
    ----------
    grid
        The periodic box, with the points that carry the motion; it holds more waves than the latent has.
    waves
        Largest number of oscillations along each side.
    mirror
        How fields on a line are mirrored; None where they are not.
    """

    grid: Grid
    waves: tuple[int, ...]
    mirror: Mirror | None = None

    @cached_property
    def indices(self) -> np.ndarray:
        """Integer wave vectors (M, D) of one half-space, without 0: the others are their mirror images."""
        ranges = [range(-w, w + 1) for w in self.waves]
        every = np.array(list(product(*ranges)))
        inside = np.sum((every / np.array(self.waves)) ** 2, axis=1) <= 1 + 1e-9
        # Half-space: the last coordinate that is not zero is positive, as in the modes of a real field.
        upper = np.zeros(len(every), bool)
        undecided = np.ones(len(every), bool)
        for column in every.T[::-1]:
            upper |= undecided & (column > 0)
            undecided &= column == 0
        return every[inside & upper]

    @property
    def count(self) -> int:
        """Number of features of one field: 1 + 2M."""
        return 1 + 2 * len(self.indices)

    @cached_property
    def omega(self) -> np.ndarray:
        """Wave vector of every feature, (1 + 2M, D)."""
        omega = 2 * np.pi * self.indices / np.array(self.grid.lengths)
        return np.concatenate([np.zeros((1, omega.shape[1])), omega, omega])

    @cached_property
    def measure(self) -> np.ndarray:
        """Prior variance of each feature over the spectral density there: 1/|box| for the mean, 2/|box| for waves.

        Of mirrored fields half of the waves, or a quarter of them, have all of the variance.
        """
        volume = float(np.prod(self.grid.lengths))
        return np.concatenate([[1.0], np.full(2 * len(self.indices), 2.0)]) / volume * self.allowed

    @cached_property
    def allowed(self) -> np.ndarray:
        """How many times its share of the variance every feature has, (1 + 2M,): 1, or of mirrored fields 0, 2 or 4."""
        count = len(self.indices)
        if self.mirror is None:
            return np.ones(1 + 2 * count)
        even = self.mirror.sign > 0
        own = np.concatenate([[even], np.full(count, even), np.full(count, not even)]) * 2.0
        if self.mirror.other:
            odd = self.indices[:, 0] % 2
            own = 2.0 * own * np.concatenate([[0], odd, odd])
        return own

    def to_modes(self, z: Float[jax.Array, "F K"], gauge: Gauge) -> Modes:
        """Fourier modes of g(x) z(s(x)), for feature amplitudes z."""
        if gauge.places is None:
            return self.grid.to_modes(gauge.envelope * self.grid.to_fields(self.modes_of(z)))
        fields = jax.vmap(lambda places, one: self._values(places) @ one)(gauge.places, z)
        return self.grid.to_modes(gauge.envelope * fields)

    def _values(self, places: Float[jax.Array, " N"]) -> Float[jax.Array, "N K"]:
        """Values of all features at places on a line, which may be traced."""
        low, high = self.grid.box[0]
        phase = (2 * np.pi / (high - low)) * jnp.multiply.outer(places - low, self.indices[:, 0])
        return _side_by_side(phase, jnp)

    def modes_of(self, z: Float[jax.Array, "F K"]) -> Modes:
        """Fourier modes of the latents themselves, for feature amplitudes z."""
        half = len(self.indices)
        amplitude = 0.5 * (z[:, 1 : half + 1] - 1j * z[:, half + 1 :])
        modes = jnp.zeros((z.shape[0], *self.grid.modes_shape), complex)
        modes = modes.at[(slice(None), *([0] * self.indices.shape[1]))].set(z[:, 0])
        shape = np.array(self.grid.shape)
        own = tuple((self.indices % shape).T)
        modes = modes.at[(slice(None), *own)].add(amplitude)
        # Along the last side only half of the modes is stored; the plane of index 0 there holds its mirror images too.
        flat = self.indices[:, -1] == 0
        if self.indices.shape[1] > 1 and flat.any():
            mirror = tuple((-self.indices[flat] % shape).T)
            modes = modes.at[(slice(None), *mirror)].add(jnp.conj(amplitude[:, np.flatnonzero(flat)]))
        return modes

    def amplitudes(self, modes: np.ndarray) -> np.ndarray:
        """Feature amplitudes (…, K) of modes (…, *modes), those of other waves left out: the inverse of `modes_of`."""
        sides = len(self.grid.shape)
        flat = modes.reshape(*modes.shape[: modes.ndim - sides], -1)
        places = np.ravel_multi_index(
            tuple((self.indices % np.array(self.grid.shape)).T), self.grid.modes_shape
        )
        own, mean = flat[..., places], flat[..., :1].real
        return np.concatenate([mean, 2 * own.real, -2 * own.imag], axis=-1)

    def at(self, points: np.ndarray) -> np.ndarray:
        """Values of all features at points (N, D): the matrix (N, 1 + 2M)."""
        low = np.array([side[0] for side in self.grid.box])
        half = len(self.indices)
        phase = (np.asarray(points) - low) @ self.omega[1 : half + 1].T
        return _side_by_side(phase, np)

    def with_slopes(self, points: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """Values of all features at points, and their derivatives along each coordinate: matrices (N, 1 + 2M)."""
        value = self.at(points)
        half = len(self.indices)
        turned = np.concatenate(
            [np.zeros((len(value), 1)), -value[:, half + 1 :], value[:, 1 : half + 1]], axis=1
        )
        return value, [turned * omega for omega in self.omega.T]


def _side_by_side(phase: Any, xp: Any) -> Any:
    """1, cos, sin of phases (N, M) as columns, by NumPy or JAX."""
    return xp.concatenate([xp.ones((phase.shape[0], 1)), xp.cos(phase), xp.sin(phase)], axis=1)


def values_at(
    grid: Grid, modes: Modes, points: Float[jax.Array, "N D"], symbol: Symbol | None = None
) -> Float[jax.Array, "F N"]:
    """u(x) = Σ_k τ(k) û_k e^{ik·(x − low)} at scattered points, for real fields; τ = 1 without a symbol.

    Fractional orders of the symbol must be numbers, which may be traced.
    """
    return seen_through(wave_matrix(grid, points, jnp), grid, modes, symbol, jnp)


def wave_matrix(grid: Grid, points: Any, xp: Any) -> Any:
    """All waves e^{ik·(x − low)} at points (N, D), as a complex matrix (N, number of modes), by NumPy or JAX."""
    waves: Any = 1.0
    for d, (low, _) in enumerate(grid.box):
        if xp is np:
            factor = _turns(grid, points[:, d] - low, d)
        else:
            factor = xp.exp(1j * (points[:, d : d + 1] - low) * xp.ravel(grid.wavenumbers[d]))
        waves = waves * factor.reshape(points.shape[0], *(-1 if e == d else 1 for e in range(len(grid.box))))
    # Modes with a positive last index stand for their mirror images too.
    twice = xp.where(xp.arange(grid.modes_shape[-1]) > 0, 2.0, 1.0)
    return (waves * twice).reshape(points.shape[0], -1)


def _turns(grid: Grid, x: np.ndarray, side: int) -> np.ndarray:
    """e^{ikx} for all wavenumbers along one side, (N, modes): powers of the first by doubling, ten times quicker."""
    count = grid.shape[side] // 2 + 1
    powers = np.empty((count, len(x)), complex)
    powers[0] = 1.0
    done, last = 1, np.exp(2j * np.pi / grid.lengths[side] * x)
    while done < count:
        more = min(done, count - done)
        np.multiply(powers[:more], last, out=powers[done : done + more])
        done, last = done + more, last * last
    index = np.round(np.ravel(grid.wavenumbers[side]) * grid.lengths[side] / (2 * np.pi)).astype(int)
    turned = powers[np.abs(index)]
    turned[index < 0] = np.conj(turned[index < 0])
    return turned.T


def seen_through(waves: Any, grid: Grid, modes: Any, symbol: Symbol | None, xp: Any) -> Any:
    """Values (F, N) of modes (F, *modes) at the points of a wave matrix; of what a symbol makes of them."""
    if symbol is not None:
        modes = modes * symbol.at(grid.wavenumbers, xp)
    flat = modes.reshape(modes.shape[0], -1)
    return flat.real @ waves.real.T - flat.imag @ waves.imag.T
