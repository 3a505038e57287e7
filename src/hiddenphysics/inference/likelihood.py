"""The marginal likelihood of a linear model: the one function that is learned from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

import jax
import jax.numpy as jnp
import sympy
from jax import Array
from jax.scipy.linalg import solve_triangular
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.engines import (
    Observed,
    curvature,
    density_slopes,
    density_with_factor,
    joint_covariance,
    negative_log_density,
    stable_cholesky,
    whiten,
)
from hiddenphysics.forward import LAG, Quantity, evaluate_by_name
from hiddenphysics.inference.data import Data, Place
from hiddenphysics.inference.parameters import NOISE, Layout

RUNS_ONCE = {"xla_backend_optimization_level": 0}
"""For functions that run once or twice in a fit: compiling them well takes longer than running them badly."""


def negative_log_likelihood(layout: Layout, vector: Float[Array, " P"], data: Data) -> Float[Array, ""]:
    """Return −log p(y | θ, λ, σ²), equation 6 of the paper, at an unconstrained vector (see `Layout`)."""
    K, residual = covariance_and_residual(layout, vector, data)
    return negative_log_density(K, residual)


def covariance_and_residual(
    layout: Layout, vector: Float[Array, " P"], data: Data
) -> tuple[Float[Array, "N N"], Float[Array, " N"]]:
    """Return K + σ²I + diag(known error variances) of all observed values, and the values less their mean."""
    values = layout.values(vector)
    observed, means = observations(layout, values, data)
    K = joint_covariance(observed, layout.priors(values))
    return K + jnp.diag(values[NOISE] + data.known_variance), data.stacked - means


def observations(
    layout: Layout, values: Mapping[str, Array], data: Data
) -> tuple[list[Observed], Float[Array, " N"]]:
    """Return what was observed, as operators with numeric coefficients, and its stacked mean."""
    observed, means = [], []
    for observation in layout.model.observations:
        here = data.places[observation.snapshot]
        one, mean = at_place(layout, observation.quantity, values, here)
        observed.append(one)
        means.append(mean)
    return observed, jnp.concatenate(means)


def at_place(
    layout: Layout, quantity: Quantity, values: Mapping[str, Array], here: Place
) -> tuple[Observed, Float[Array, " N"]]:
    """Evaluate a quantity's coefficients and mean at a place."""
    model = layout.model
    numbers = {name: values[name] for name in model.parameters}
    numbers |= {name: here.points[:, d] for d, name in enumerate(model.coordinates)}
    numbers |= {"t": here.time, str(LAG): here.lag} | here.frozen

    @cache  # scales of one field share their coefficients, and an engine knows them by that
    def number(expression: sympy.Expr) -> Array:
        return jnp.asarray(evaluate_by_name(expression, numbers, jnp))

    mean = jnp.broadcast_to(number(quantity.mean), (here.points.shape[0],)).astype(float)
    return Observed(quantity.operator.evaluate(number), here.points), mean


def value_and_gradient(layout: Layout, vector: ArrayLike, data: Data) -> tuple[Array, Float[Array, " P"]]:
    """Return the negative log likelihood and its gradient in the unconstrained vector.

    The closed reverse rule of the density, taken by hand in two compiled steps: as one, XLA lets the column order of
    its factorisation spread into the assembly, and the whole takes half as long again at N = 600.
    """
    value, weights, alpha = _value_and_slopes(layout, vector, data)
    return value, _pull_back(layout, vector, data, weights, alpha)


@partial(jax.jit, static_argnames="layout")
def _value_and_slopes(layout: Layout, vector: Array, data: Data) -> tuple[Array, Array, Array]:
    K, residual = covariance_and_residual(layout, vector, data)
    value, saved = density_with_factor(K, residual)
    return value, *density_slopes(*saved)


@partial(jax.jit, static_argnames="layout")
def _pull_back(layout: Layout, vector: Array, data: Data, weights: Array, alpha: Array) -> Array:
    return jax.grad(_weighted, argnums=1)(layout, vector, data, weights, alpha)


def _weighted(layout: Layout, vector: Array, data: Data, weights: Array, alpha: Array) -> Array:
    """Return the linear function of K and residual whose gradient is the density's."""
    K, residual = covariance_and_residual(layout, vector, data)
    return jnp.vdot(weights, K) + alpha @ residual


@partial(jax.jit, static_argnames="layout")
def value(layout: Layout, vector: Array, data: Data) -> Array:
    """Return the negative log likelihood alone, without the inverse that a gradient needs."""
    return negative_log_likelihood(layout, vector, data)


@partial(jax.jit, static_argnames="layout", compiler_options=RUNS_ONCE)
def hessian(layout: Layout, vector: Array, data: Data) -> tuple[Float[Array, "P P"], Float[Array, ""]]:
    """Return the exact second derivatives of the negative log likelihood in the unconstrained vector, and the jitter.

    The jitter is what had to be added to the covariance's diagonal to factor it; normally 0.
    """
    assembled = partial(covariance_and_residual, layout, data=data)
    directions = jnp.eye(vector.size)
    K, residual = assembled(vector)
    factor, jitter = stable_cholesky(K)
    half = solve_triangular(factor, residual, lower=True)

    def whitened(direction: Array) -> tuple[Array, Array, Array]:
        slope, move = jax.jvp(assembled, (vector,), (direction,))[1]
        white = whiten(factor, slope)
        return white, white @ half, solve_triangular(factor, move, lower=True)

    first = curvature(*jax.lax.map(whitened, directions))
    weights, alpha = density_slopes(factor, half)

    def second(pair: tuple[Array, Array]) -> Array:
        """Return one second derivative, forward over forward: compiled in half the time of forward over reverse."""

        def first_slope(v: Array) -> Array:
            return jax.jvp(
                lambda w: _weighted(layout, w, data, weights, alpha), (v,), (directions[pair[0]],)
            )[1]

        return jax.jvp(first_slope, (vector,), (directions[pair[1]],))[1]

    rows, columns = jnp.triu_indices(vector.size)
    half_bent = (
        jnp.zeros((vector.size, vector.size)).at[rows, columns].set(jax.lax.map(second, (rows, columns)))
    )
    return first + half_bent + jnp.triu(half_bent, 1).T, jitter
