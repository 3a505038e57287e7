"""Covariances by automatic differentiation: operators with coefficient functions applied to both sides of k(x, x')."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hiddenphysics.gaussian import Observed
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.priors import Process, RationalQuadratic, SquaredExponential

Field = Callable[[Array], Array]
Covariance = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Term:
    """c(x) ∂^m z_f with c a function of one point (D,)."""

    latent: str
    orders: tuple[int, ...]
    coefficient: Field


def observe(terms: tuple[Term, ...], points: np.ndarray) -> Observed:
    """Return the same terms as data: coefficients evaluated at the points."""
    return Observed(
        Operator.collect((t.latent, Symbol(t.orders), jax.vmap(t.coefficient)(points)) for t in terms),
        jnp.asarray(points),
    )


def plain_kernel(prior: Process) -> Covariance:
    """k(x, x') as the textbook writes it, for one pair of points."""
    form = {SquaredExponential: _squared_exponential, RationalQuadratic: _rational_quadratic}[
        type(prior.kernel)
    ]

    def k(x: Array, other: Array) -> Array:
        value = prior.variance
        for d, shape in enumerate(prior.shapes):
            value = value * form(x[d] - other[d], shape)
        return value

    return k


def _squared_exponential(r: Array, shape: dict[str, Array]) -> Array:
    return jnp.exp(-0.5 * (r / shape["length"]) ** 2)


def _rational_quadratic(r: Array, shape: dict[str, Array]) -> Array:
    return (1.0 + r**2 / (2 * shape["alpha"] * shape["length"] ** 2)) ** -shape["alpha"]


def differentiated_covariance(
    left: tuple[Term, ...],
    right: tuple[Term, ...],
    priors: dict[str, Process],
    points: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Σ c_a(x) c'_b(x') ∂_x^m ∂_x'^n k_f(x, x') for all pairs of points, one derivative of JAX after another."""

    def one_pair(x: Array, other: Array) -> Array:
        total = jnp.zeros(())
        for a in left:
            for b in right:
                if a.latent == b.latent:
                    k = plain_kernel(priors[a.latent])
                    k = _differentiate(_differentiate(k, 0, a.orders), 1, b.orders)
                    total += a.coefficient(x) * b.coefficient(other) * k(x, other)
        return total

    rows = jax.vmap(jax.vmap(one_pair, (None, 0)), (0, None))
    return np.asarray(jax.jit(rows)(*map(jnp.asarray, points)))


def _differentiate(k: Covariance, side: int, orders: tuple[int, ...]) -> Covariance:
    for d, count in enumerate(orders):
        for _ in range(count):
            k = _one_derivative(k, side, d)
    return k


def _one_derivative(k: Covariance, side: int, d: int) -> Covariance:
    def slope(x: Array, other: Array) -> Array:
        pair = (x, other)
        direction = tuple(jnp.zeros_like(p).at[d].set(1.0 if s == side else 0.0) for s, p in enumerate(pair))
        return jax.jvp(k, pair, direction)[1]

    return slope
