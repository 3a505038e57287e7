"""The rational quadratic prior: lengths of many sizes at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.priors.kernel import KERNELS, Kernel


@dataclass(frozen=True)
class RationalQuadratic(Kernel):
    """ρ(r) = (1 + r²/2αℓ²)^{−α}: a mixture of squared exponentials, heavier tailed the smaller α.

    With q = 1 + r²/2αℓ², differentiating q ρ' = −(r/ℓ²) ρ n times gives
    q ℓ² ρ^{(n+1)} = −(1 + n/α) r ρ^{(n)} − n (1 + (n−1)/2α) ρ^{(n−1)}; α → ∞ is the squared exponential's
    recurrence. Rasmussen & Williams (2006), equation 4.19.
    """

    parameters: ClassVar[tuple[str, ...]] = ("length", "alpha")

    def limits(self, spacing: float, extent: float) -> dict[str, tuple[float, float]]:
        """Let α go from very heavy tails to the squared exponential."""
        return super().limits(spacing, extent) | {"alpha": (0.05, 1e4)}

    def start(self, length: float) -> dict[str, float]:
        """Start near the squared exponential, but free to leave it."""
        return {"length": length, "alpha": 10.0}

    def derivatives(
        self, r: Float[Array, "*shape"], order: int, parameters: Mapping[str, ArrayLike]
    ) -> list[Float[Array, "*shape"]]:
        """Return [ρ, ρ', …] by the recurrence above."""
        alpha = jnp.asarray(parameters["alpha"])
        inverse = 1.0 / jnp.square(parameters["length"])
        q = 1.0 + 0.5 * inverse * r * r / alpha
        table = [jnp.exp(-alpha * jnp.log1p(q - 1.0))]
        for n in range(order):
            previous = n * (1.0 + (n - 1) / (2.0 * alpha)) * table[n - 1] if n else 0.0
            table.append(-inverse * ((1.0 + n / alpha) * r * table[n] + previous) / q)
        return table


KERNELS.add("rational_quadratic", RationalQuadratic)
