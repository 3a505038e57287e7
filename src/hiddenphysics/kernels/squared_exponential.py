"""The squared exponential prior of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.kernels.base import Kernel


@dataclass(frozen=True)
class SquaredExponential(Kernel):
    """ρ(r) = exp(−r²/2ℓ²): infinitely smooth, one length ℓ per dimension.

    Its derivatives are Hermite functions; ℓ² ρ^{(n+1)} = −(r ρ^{(n)} + n ρ^{(n−1)}) gives them all from one
    exponential. Raissi & Karniadakis (2018), section 3, with w = 1/ℓ.
    """

    @property
    def smoothness(self) -> float:
        """Samples are analytic."""
        return math.inf

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
