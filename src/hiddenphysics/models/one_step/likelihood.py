"""The marginal likelihood of one step: the one function that is learned from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from jax import Array
from jax.scipy.linalg import solve_triangular
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.compiled_code import compiled
from hiddenphysics.equation import evaluate_by_name
from hiddenphysics.gaussian import (
    Observed,
    curvature,
    density_slopes,
    density_with_factor,
    joint_covariance,
    negative_log_density,
    stable_cholesky,
    whiten,
)
from hiddenphysics.models.one_step.places import Data, Place
from hiddenphysics.models.one_step.step import LAG, OneStep, Quantity
from hiddenphysics.priors import NOISE, Unknowns

STEP = 1e-2
"""Of a natural step: between two points of the differences in a Hessian."""


def negative_log_likelihood(
    step: OneStep, unknowns: Unknowns, vector: Float[Array, " P"], data: Data
) -> Float[Array, ""]:
    """Return −log p(y | θ, λ, σ²), equation 6 of the paper, at an unconstrained vector (see `Unknowns`)."""
    K, residual = covariance_and_residual(step, unknowns, vector, data)
    return negative_log_density(K, residual)


def covariance_and_residual(
    step: OneStep, unknowns: Unknowns, vector: Float[Array, " P"], data: Data
) -> tuple[Float[Array, "N N"], Float[Array, " N"]]:
    """Return K + σ²I + diag(known error variances) of all observed values, and the values less their mean."""
    values = unknowns.values(vector)
    observed, means = observations(step, values, data)
    K = joint_covariance(observed, unknowns.prior.processes(values))
    return K + jnp.diag(values[NOISE] + data.known_variance), data.stacked - means


def observations(
    step: OneStep, values: Mapping[str, Array], data: Data
) -> tuple[list[Observed], Float[Array, " N"]]:
    """Return what was observed, as operators with numeric coefficients, and its stacked mean."""
    observed, means = [], []
    for observation in step.observations:
        here = data.places[observation.snapshot]
        one, mean = at_place(step, observation.quantity, values, here)
        observed.append(one)
        means.append(mean)
    return observed, jnp.concatenate(means)


def at_place(
    step: OneStep, quantity: Quantity, values: Mapping[str, Array], here: Place
) -> tuple[Observed, Float[Array, " N"]]:
    """Evaluate a quantity's coefficients and mean at a place."""
    numbers = {name: values[name] for name in step.parameters}
    numbers |= {name: here.points[:, d] for d, name in enumerate(step.coordinates)}
    numbers |= {"t": here.time, str(LAG): here.lag} | here.frozen

    @cache  # scales of one field share their coefficients, and an engine knows them by that
    def number(expression: sympy.Expr) -> Array:
        return jnp.asarray(evaluate_by_name(expression, numbers, jnp))

    mean = jnp.broadcast_to(number(quantity.mean), (here.points.shape[0],)).astype(float)
    return Observed(quantity.operator.evaluate(number), here.points), mean


def value_and_gradient(
    step: OneStep, unknowns: Unknowns, vector: ArrayLike, data: Data
) -> tuple[Array, Float[Array, " P"]]:
    """Return the negative log likelihood and its gradient in the unconstrained vector.

    The closed reverse rule of the density, taken by hand in two compiled steps: as one, XLA lets the column order of
    its factorisation spread into the assembly, and the whole takes half as long again at N = 600.
    """
    value, weights, alpha = _value_and_slopes(step, unknowns, vector, data)
    return value, _pull_back(step, unknowns, vector, data, weights, alpha)


def inverse_and_weights(
    step: OneStep, unknowns: Unknowns, vector: ArrayLike, data: Data
) -> tuple[Float[np.ndarray, "N N"], Float[np.ndarray, " N"]]:
    """Return K⁻¹ and α = K⁻¹r, r the values less their mean, by what the search has compiled."""
    _, slopes, alpha = _value_and_slopes(step, unknowns, vector, data)
    weights = np.asarray(alpha)
    return 2.0 * np.asarray(slopes) + np.outer(weights, weights), weights


@compiled(static_argnames=("step", "unknowns"))
def _value_and_slopes(
    step: OneStep, unknowns: Unknowns, vector: Array, data: Data
) -> tuple[Array, Array, Array]:
    K, residual = covariance_and_residual(step, unknowns, vector, data)
    value, saved = density_with_factor(K, residual)
    return value, *density_slopes(*saved)


@compiled(static_argnames=("step", "unknowns"))
def _pull_back(
    step: OneStep, unknowns: Unknowns, vector: Array, data: Data, weights: Array, alpha: Array
) -> Array:
    return jax.grad(_weighted, argnums=2)(step, unknowns, vector, data, weights, alpha)


def _weighted(
    step: OneStep, unknowns: Unknowns, vector: Array, data: Data, weights: Array, alpha: Array
) -> Array:
    """Return the linear function of K and residual whose gradient is the density's."""
    K, residual = covariance_and_residual(step, unknowns, vector, data)
    return jnp.vdot(weights, K) + alpha @ residual


@compiled(static_argnames=("step", "unknowns"))
def value(step: OneStep, unknowns: Unknowns, vector: Array, data: Data) -> Array:
    """Return the negative log likelihood alone, without the inverse that a gradient needs."""
    return negative_log_likelihood(step, unknowns, vector, data)


def hessian(
    step: OneStep,
    unknowns: Unknowns,
    vector: Float[np.ndarray, " P"],
    data: Data,
    scale: Float[np.ndarray, " P"],
    check: Callable[[], None] = lambda: None,
) -> tuple[Float[np.ndarray, "P P"], float]:
    """Return the second derivatives of the negative log likelihood in the unconstrained vector, and the jitter.

    They have two parts: one from first derivatives of K, exact (see `curvature`), and ⟨½(K⁻¹ − ααᵀ), ∂_i∂_jK⟩. The
    weights of the second are fixed numbers, so it is smooth however singular K is, and differences of its gradient give
    it to five digits. Differentiated twice, an assembly with hundreds of terms takes minutes to compile.

    Parameters
    ----------
    scale
        Natural step of every unknown; differences span `STEP` of it.
    check
        Called before each of the 4 P gradients; it may raise, to end a long computation.

    Returns
    -------
    hessian, jitter
        The jitter is what had to be added to the covariance's diagonal to factor it; normally 0.
    """
    first, jitter, weights, alpha = _first_order(step, unknowns, vector, data)

    def slopes(at: np.ndarray) -> np.ndarray:
        check()
        return np.asarray(_pull_back(step, unknowns, at, data, weights, alpha))

    moves = np.diag(STEP * scale)
    rises = np.stack([_four_point(slopes, vector, move) / move.sum() for move in moves])
    return np.asarray(first) + 0.5 * (rises + rises.T), float(jitter)


def _four_point(function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Return the change of a function over a step from its differences, to fourth order."""
    near, far = (function(at + k * step) - function(at - k * step) for k in (1.0, 2.0))
    return (8.0 * near - far) / 12.0


@compiled(static_argnames=("step", "unknowns"))
def _first_order(
    step: OneStep, unknowns: Unknowns, vector: Array, data: Data
) -> tuple[Array, Array, Array, Array]:
    """Return the part of the Hessian that first derivatives of K make, the jitter, and the density's slopes."""
    assembled = partial(covariance_and_residual, step, unknowns, data=data)
    K, residual = assembled(vector)
    factor, jitter = stable_cholesky(K)
    half = solve_triangular(factor, residual, lower=True)

    def whitened(direction: Array) -> tuple[Array, Array, Array]:
        slope, move = jax.jvp(assembled, (vector,), (direction,))[1]
        white = whiten(factor, slope)
        return white, white @ half, solve_triangular(factor, move, lower=True)

    first = curvature(*jax.lax.map(whitened, jnp.eye(vector.size)))
    return first, jitter, *density_slopes(factor, half)
