"""The Matérn priors of half-integer order: fields of finite smoothness."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.errors import ModelError
from hiddenphysics.priors.kernel import KERNELS, Kernel


@dataclass(frozen=True)
class Matern(Kernel):
    """ρ(r) = e^{−s} q(s), s = √(2ν) |r|/ℓ, with ν = p + ½ and q a polynomial of degree p; samples have p derivatives.

    Each derivative is a sign, a power and another polynomial: d/ds (q e^{−s}) = (q' − q) e^{−s}. Up to order
    2p the odd ones vanish at r = 0, so nothing is singular there. Rasmussen & Williams (2006), equation 4.16.

    Parameters
    ----------
    nu
        ν, one of 0.5, 1.5, …, 20.5. An equation with derivatives of order m along a coordinate needs ν ≥ m +
        ½.
    """

    nu: float

    def __post_init__(self) -> None:
        if self.nu not in [p + 0.5 for p in range(21)]:
            raise ModelError(
                f"Matern(nu={self.nu}) was given; nu must be one of 0.5, 1.5, 2.5, …, 20.5, because only those have "
                "a closed form. Type Matern(4.5) for four derivatives."
            )

    @property
    def p(self) -> int:
        """The degree of q and the number of derivatives, ν − ½."""
        return int(self.nu)

    @property
    def smoothness(self) -> float:
        """Samples are p times mean-square differentiable."""
        return float(self.p)

    def derivatives(
        self, r: Float[Array, "*shape"], order: int, parameters: Mapping[str, ArrayLike]
    ) -> list[Float[Array, "*shape"]]:
        """Return [ρ, ρ', …] from the polynomials q_n."""
        rate = math.sqrt(2 * self.p + 1) / jnp.asarray(parameters["length"])
        s = rate * jnp.abs(r)
        decay, sign = jnp.exp(-s), jnp.sign(r)
        polynomial = _matern_polynomial(self.p)
        table = []
        for n in range(order + 1):
            odd = sign if n % 2 else 1.0
            table.append(odd * rate**n * _horner(polynomial, s) * decay)
            polynomial = _differentiate(polynomial)
        return table

    def spectral_density(
        self, omega: Float[Array, "*shape"], parameters: Mapping[str, ArrayLike]
    ) -> Float[Array, "*shape"]:
        """S(ω) = 2√π Γ(ν+½)/Γ(ν) · κ^{2ν} (κ² + ω²)^{−ν−½} with κ = √(2ν)/ℓ.

        Rasmussen & Williams (2006), equation 4.15.
        """
        length = jnp.asarray(parameters["length"])
        rate = math.sqrt(2 * self.nu) / length
        factor = 2 * math.sqrt(math.pi) * math.exp(math.lgamma(self.nu + 0.5) - math.lgamma(self.nu))
        return factor / rate * (1.0 + jnp.square(omega / rate)) ** (-self.nu - 0.5)


KERNELS.add("matern", Matern)


def _matern_polynomial(p: int) -> list[Fraction]:
    """Coefficients of q, lowest power first: q_j = p! (2p−j)! 2^j / ((2p)! j! (p−j)!)."""
    f = math.factorial
    return [Fraction(f(p) * f(2 * p - j) * 2**j, f(2 * p) * f(j) * f(p - j)) for j in range(p + 1)]


def _differentiate(q: list[Fraction]) -> list[Fraction]:
    """Coefficients of q' − q, the polynomial before e^{−s} after one derivative in s; exact, since it cancels."""
    slope = [j * q[j] for j in range(1, len(q))] + [Fraction(0)]
    return [a - b for a, b in zip(slope, q, strict=True)]


def _horner(q: list[Fraction], s: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    value = jnp.full_like(s, float(q[-1]))
    for coefficient in reversed(q[:-1]):
        value = value * s + float(coefficient)
    return value
