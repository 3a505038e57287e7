"""The squared exponential prior of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.priors.gaussian_moments import moments
from hiddenphysics.priors.kernel import KERNELS, Kernel


@dataclass(frozen=True)
class SquaredExponential(Kernel):
    """ρ(r) = exp(−r²/2ℓ²): infinitely smooth, one length ℓ per dimension.

    Its derivatives are Hermite functions; ℓ² ρ^{(n+1)} = −(r ρ^{(n)} + n ρ^{(n−1)}) gives them all from one
    exponential. Raissi & Karniadakis (2018), section 3, with w = 1/ℓ.
    """

    def derivatives(
        self, r: Float[Array, "*shape"], order: int, parameters: Mapping[str, ArrayLike]
    ) -> list[Float[Array, "*shape"]]:
        """Return [ρ, ρ', …] by the Hermite recurrence."""
        inverse = 1.0 / jnp.square(parameters["length"])
        table = [jnp.exp(-0.5 * inverse * r * r)]
        for n in range(order):
            previous = n * table[n - 1] if n else 0.0
            table.append(-inverse * (r * table[n] + previous))
        return table

    def spectral_density(
        self, omega: Float[Array, "*shape"], parameters: Mapping[str, ArrayLike]
    ) -> Float[Array, "*shape"]:
        """S(ω) = √(2π) ℓ exp(−ω²ℓ²/2)."""
        length = jnp.asarray(parameters["length"])
        return math.sqrt(2 * math.pi) * length * jnp.exp(-0.5 * jnp.square(omega * length))

    def fractional(
        self, r: Float[Array, "*shape"], power: ArrayLike, parameters: Mapping[str, ArrayLike]
    ) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
        """Return ℓ^{−p} E |w|^p cos(wr/ℓ) and its sine twin, w ~ N(0, 1): S is the normal density of deviation 1/ℓ."""
        length, power = jnp.asarray(parameters["length"]), jnp.asarray(power, float)
        scale = length**-power
        even, odd = moments(r / length, power)
        return scale * even, scale * odd

    def heated(
        self, time: ArrayLike, parameters: Mapping[str, ArrayLike]
    ) -> tuple[Float[Array, ""], dict[str, Array]]:
        """Return ℓ/ℓ' and ℓ' = √(ℓ² + 2t)."""
        length = jnp.asarray(parameters["length"])
        wider = jnp.sqrt(length**2 + 2.0 * time)
        return length / wider, {"length": wider}


KERNELS.add("squared_exponential", SquaredExponential)
