"""The periodic prior: fields on a ring."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.errors import ModelError
from hiddenphysics.priors.kernel import KERNELS, Kernel


@dataclass(frozen=True)
class Periodic(Kernel):
    """ρ(r) = exp(−2 sin²(πr/p)/ℓ²) with a known period p and a dimensionless length ℓ.

    With w = 2π/p, ρ' = −(w/ℓ²) sin(wr) ρ; Leibniz' rule gives
    ρ^{(n+1)} = −(1/ℓ²) Σ_j C(n, j) w^{j+1} sin^{(j)}(wr) ρ^{(n−j)}. Rasmussen & Williams (2006), equation
    4.31.

    Parameters
    ----------
    period
        p, in the units of the coordinate; the same for every dimension.
    """

    period: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.period) and self.period > 0):
            raise ModelError(
                f"Periodic(period={self.period}) was given; the period must be a positive number."
            )

    def limits(self, spacing: float, extent: float) -> dict[str, tuple[float, float]]:
        """Bound the dimensionless length ℓ p/2π as other kernels bound theirs."""
        low, high = super().limits(spacing, extent)["length"]
        turn = 2.0 * math.pi / self.period
        return {"length": (low * turn, high * turn)}

    def start(self, length: float) -> dict[str, float]:
        """Near r = 0 the kernel is a squared exponential of length ℓ p/2π."""
        return {"length": 2.0 * math.pi * length / self.period}

    def derivatives(
        self, r: Float[Array, "*shape"], order: int, parameters: Mapping[str, ArrayLike]
    ) -> list[Float[Array, "*shape"]]:
        """Return [ρ, ρ', …] by Leibniz' rule."""
        w = 2.0 * math.pi / self.period
        inverse = 1.0 / jnp.square(parameters["length"])
        sine, cosine = jnp.sin(w * r), jnp.cos(w * r)
        turns = (sine, cosine, -sine, -cosine)  # sin and its derivatives, which repeat after four
        half = jnp.sin(0.5 * w * r)
        table = [jnp.exp(-2.0 * inverse * half * half)]
        for n in range(order):
            terms = [math.comb(n, j) * w ** (j + 1) * turns[j % 4] * table[n - j] for j in range(n + 1)]
            table.append(-inverse * sum(terms[1:], terms[0]))
        return table


KERNELS.add("periodic", Periodic)
