"""The posterior of any quantity, given the learned numbers and the data."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from hiddenphysics.engines import condition, covariance, joint_covariance, stable_cholesky, variance
from hiddenphysics.errors import ModelError
from hiddenphysics.forward import Quantity
from hiddenphysics.inference.data import Data, Place
from hiddenphysics.inference.likelihood import RUNS_ONCE, at_place, covariance_and_residual, observations
from hiddenphysics.inference.parameters import Layout
from hiddenphysics.inference.problem import Problem

ROUND_OFF = 1e-6
"""A variance may come out negative by round-off of this size relative to the prior's; more is a defect and is said."""


def mean_and_std(
    problem: Problem, values: dict[str, float], quantity: Quantity, here: Place
) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, " N"]]:
    """Return posterior mean and standard deviation of a quantity, without noise, at every point of a place."""
    mean, spread, prior = _posterior(
        problem.layout, quantity, _vector(problem, values), problem.data, here, True
    )
    return np.asarray(mean), np.sqrt(_checked(np.asarray(spread), np.asarray(prior)))


def means(
    problem: Problem, values: dict[str, float], quantities: tuple[Quantity, ...], here: Place
) -> Float[np.ndarray, "J N"]:
    """Return the posterior means of several quantities at a place, from one factorisation."""
    return np.asarray(_means(problem.layout, quantities, _vector(problem, values), problem.data, here))


def draws(
    problem: Problem, values: dict[str, float], quantity: Quantity, here: Place, count: int, seed: int
) -> Float[np.ndarray, "S N"]:
    """Return samples of a quantity from its joint posterior at the points of a place."""
    mean, spread, prior = _posterior(
        problem.layout, quantity, _vector(problem, values), problem.data, here, False
    )
    scale = float(np.mean(np.diagonal(np.asarray(prior))))
    sizes, directions = np.linalg.eigh(np.asarray(spread))
    root = directions * np.sqrt(_checked(sizes, scale))
    normal = np.random.default_rng(seed).standard_normal((count, mean.shape[0]))
    return np.asarray(mean) + normal @ root.T


def _vector(problem: Problem, values: dict[str, float]) -> Array:
    return jnp.asarray(problem.layout.vector(values))


def _checked(spread: np.ndarray, prior: np.ndarray | float) -> np.ndarray:
    if np.any(spread < -ROUND_OFF * np.asarray(prior)) or not np.all(np.isfinite(spread)):
        raise ModelError(
            f"The posterior variance came out as {spread.min():.2g}, below what round-off explains: the covariance is "
            "too close to singular at these hyper-parameters. Give fewer nearly equal points, or a rougher kernel."
        )
    return np.maximum(spread, 0.0)


@partial(jax.jit, static_argnames=("layout", "quantity", "diagonal"), compiler_options=RUNS_ONCE)
def _posterior(
    layout: Layout, quantity: Quantity, vector: Array, data: Data, here: Place, diagonal: bool
) -> tuple[Array, Array, Array]:
    values = layout.values(vector)
    priors = layout.priors(values)
    K, residual = covariance_and_residual(layout, vector, data)
    observed, _ = observations(layout, values, data)
    wanted, offset = at_place(layout, quantity, values, here)
    cross = jnp.concatenate([covariance(wanted, one, priors) for one in observed], axis=1)
    prior = variance(wanted, priors) if diagonal else joint_covariance([wanted], priors)
    mean, spread = condition(K, residual, cross, prior, diagonal)
    return mean + offset, spread, prior


@partial(jax.jit, static_argnames=("layout", "quantities"), compiler_options=RUNS_ONCE)
def _means(
    layout: Layout, quantities: tuple[Quantity, ...], vector: Array, data: Data, here: Place
) -> Float[Array, "J N"]:
    values = layout.values(vector)
    priors = layout.priors(values)
    K, residual = covariance_and_residual(layout, vector, data)
    factor, _ = stable_cholesky(K)
    weights = jax.scipy.linalg.cho_solve((factor, True), residual)
    observed, _ = observations(layout, values, data)
    ends = np.cumsum([o.points.shape[0] for o in observed])[:-1]
    pieces = jnp.split(weights, ends)

    def mean(quantity: Quantity) -> Array:
        wanted, offset = at_place(layout, quantity, values, here)
        parts = [covariance(wanted, one, priors) @ w for one, w in zip(observed, pieces, strict=True)]
        return offset + jnp.sum(jnp.stack(parts), axis=0)

    return jnp.stack([mean(quantity) for quantity in quantities])
