"""The hyperbolic secant prior: fields that are analytic in a strip, as solutions of most PDEs are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.priors.kernel import KERNELS, Kernel


@dataclass(frozen=True)
class Sech(Kernel):
    """ρ(r) = sech(r/ℓ): analytic for |Im r| < πℓ/2, with a spectrum that decays like e^{−πℓ|ω|/2}.

    Fronts, solitons and shocks have poles off the real axis, and so a spectrum that decays exponentially; the
    squared exponential's decays faster than that and calls their fine structure noise. Near r = 0 both have
    the same curvature for the same ℓ. With s = sech(r/ℓ) and t = tanh(r/ℓ), ρ^{(n)} = ℓ^{−n} q_n(t) s and
    q_{n+1} = (1 − t²) q_n' − t q_n.
    """

    def derivatives(
        self, r: Float[Array, "*shape"], order: int, parameters: Mapping[str, ArrayLike]
    ) -> list[Float[Array, "*shape"]]:
        """Return [ρ, ρ', …] from the polynomials q_n."""
        rate = 1.0 / jnp.asarray(parameters["length"])
        size = jnp.exp(-jnp.abs(rate * r))
        secant, tangent = 2.0 * size / (1.0 + size * size), jnp.tanh(rate * r)
        polynomial, table = [1.0], []
        for n in range(order + 1):
            table.append(rate**n * jnp.polyval(jnp.asarray(polynomial[::-1]), tangent) * secant)
            polynomial = _next(polynomial)
        return table

    def spectral_density(
        self, omega: Float[Array, "*shape"], parameters: Mapping[str, ArrayLike]
    ) -> Float[Array, "*shape"]:
        """S(ω) = πℓ sech(πωℓ/2)."""
        length = jnp.asarray(parameters["length"])
        decay = jnp.exp(-0.5 * math.pi * jnp.abs(omega) * length)
        return 2.0 * math.pi * length * decay / (1.0 + decay * decay)


KERNELS.add("sech", Sech)


def _next(q: list[float]) -> list[float]:
    """Coefficients of (1 − t²) q' − t q, lowest power first."""
    slope = [j * q[j] for j in range(1, len(q))]
    result = [0.0] * (len(q) + 1)
    for j, c in enumerate(slope):
        result[j] += c
        result[j + 2] -= c
    for j, c in enumerate(q):
        result[j + 1] -= c
    return result
