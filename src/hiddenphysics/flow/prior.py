"""The prior of every latent field as variances of its features, and the names of its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from hiddenphysics.kernels import Kernel

NOISE = "noise.variance"
LARGEST_REACH = 40.0
"""Largest ωℓ that is followed: rough priors are cut off there."""


@dataclass(frozen=True)
class Prior:
    """Independent processes, one for each field of the state; static and hashable.

    The numbers live in one vector: for each latent the log variance and the log length along each coordinate, last
    the log noise variance.

    Attributes
    ----------
    latents
        (field, kernel) of each.
    coordinates
        Names of the D coordinates.
    """

    latents: tuple[tuple[str, Kernel], ...]
    coordinates: tuple[str, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names in the order of the vector."""
        own = [
            name
            for field, _ in self.latents
            for name in (f"{field}.variance", *(f"{field}.length_{c}" for c in self.coordinates))
        ]
        return (*own, NOISE)

    @property
    def per_latent(self) -> int:
        """How many numbers a latent has."""
        return 1 + len(self.coordinates)

    @cached_property
    def is_length(self) -> np.ndarray:
        """Which entries of the vector are lengths."""
        return np.array([".length_" in name for name in self.names])

    def reach(self, nothing: float) -> float:
        """ωℓ beyond which no kernel's spectrum, relative to its largest value, is more than `nothing`."""
        return max(_reach(kernel, nothing) for _, kernel in self.latents)

    def lengths(self, theta: np.ndarray) -> np.ndarray:
        """Lengths (F, D) in a vector."""
        return np.exp(theta[self.is_length]).reshape(len(self.latents), -1)

    @partial(jax.jit, static_argnums=0)
    def spectrum(
        self,
        theta: Float[jax.Array, " H"],
        omega: Float[jax.Array, "K D"],
        measure: Float[jax.Array, " K"],
        level: Float[jax.Array, " F"],
    ) -> Float[jax.Array, " FK"]:
        """Prior variance of every feature of every latent.

        `level` (F,) is the variance of an unknown constant that each field has besides: a mean costs nothing.
        """
        parts = []
        for row, (_, kernel) in enumerate(self.latents):
            mine = theta[row * self.per_latent : (row + 1) * self.per_latent]
            density = jnp.exp(mine[0]) * measure
            for d in range(len(self.coordinates)):
                density = density * kernel.spectral_density(omega[:, d], {"length": jnp.exp(mine[1 + d])})
            parts.append(density.at[0].add(level[row]))
        return jnp.concatenate(parts)

    @partial(jax.jit, static_argnums=0)
    def slopes(
        self, theta: jax.Array, omega: jax.Array, measure: jax.Array, level: jax.Array
    ) -> Float[jax.Array, "FK H"]:
        """Differentiate the spectrum in every number except the noise."""
        return jax.jacfwd(lambda t: self.spectrum(t, omega, measure, level))(theta)[:, :-1]


def _reach(kernel: Kernel, nothing: float) -> float:
    """Smallest ωℓ on a fine ladder at which the spectrum has fallen so far."""
    scaled = np.linspace(0.0, LARGEST_REACH, 401)
    density = np.asarray(kernel.spectral_density(jnp.asarray(scaled), {"length": 1.0}))
    small = scaled[density < nothing * density[0]]
    return float(small[0]) if small.size else LARGEST_REACH
