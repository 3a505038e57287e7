"""The posterior of any quantity, given the learned numbers and the data; the state around which a step is expanded."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from jax import Array
from jaxtyping import Float

from hiddenphysics.compiled_code import compiled
from hiddenphysics.equation import derivative_symbol, field_name
from hiddenphysics.errors import ModelError
from hiddenphysics.gaussian import (
    condition,
    covariance,
    joint_covariance,
    stable_cholesky,
    variance,
)
from hiddenphysics.learning import Smoother
from hiddenphysics.models.one_step.likelihood import at_place, covariance_and_residual, observations
from hiddenphysics.models.one_step.places import Data, Place, State, place
from hiddenphysics.models.one_step.problem import Problem
from hiddenphysics.models.one_step.step import OneStep, Quantity
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.priors import Unknowns
from hiddenphysics.snapshots import Snapshots

ROUND_OFF = 1e-6
"""A variance may come out negative by round-off of this size relative to the prior's; more is a defect and is said."""


def mean_and_std(
    problem: Problem, values: dict[str, float], quantity: Quantity, here: Place
) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, " N"]]:
    """Return posterior mean and standard deviation of a quantity, without noise, at every point of a place."""
    mean, spread, prior = _posterior(
        problem.step, problem.unknowns, quantity, _vector(problem, values), problem.data, here, True
    )
    return np.asarray(mean), np.sqrt(_checked(np.asarray(spread), np.asarray(prior)))


def means(
    problem: Problem, values: dict[str, float], quantities: tuple[Quantity, ...], here: Place
) -> Float[np.ndarray, "J N"]:
    """Return the posterior means of several quantities at a place, from one factorisation."""
    return np.asarray(
        _means(problem.step, problem.unknowns, quantities, _vector(problem, values), problem.data, here)
    )


def draws(
    problem: Problem, values: dict[str, float], quantity: Quantity, here: Place, count: int, seed: int
) -> Float[np.ndarray, "S N"]:
    """Return samples of a quantity from its joint posterior at the points of a place."""
    mean, spread, prior = _posterior(
        problem.step, problem.unknowns, quantity, _vector(problem, values), problem.data, here, False
    )
    scale = float(np.mean(np.diagonal(np.asarray(prior))))
    sizes, directions = np.linalg.eigh(np.asarray(spread))
    root = directions * np.sqrt(_checked(sizes, scale))
    normal = np.random.default_rng(seed).standard_normal((count, mean.shape[0]))
    return np.asarray(mean) + normal @ root.T


def _vector(problem: Problem, values: dict[str, float]) -> Array:
    return jnp.asarray(problem.unknowns.vector(values))


def _checked(spread: np.ndarray, prior: np.ndarray | float) -> np.ndarray:
    if np.any(spread < -ROUND_OFF * np.asarray(prior)) or not np.all(np.isfinite(spread)):
        raise ModelError(
            f"The posterior variance came out as {spread.min():.2g}, below what round-off explains: the covariance is "
            "too close to singular at these hyper-parameters. Give fewer nearly equal points, or a rougher kernel."
        )
    return np.maximum(spread, 0.0)


@compiled(once=True, static_argnames=("step", "unknowns", "quantity", "diagonal"))
def _posterior(
    step: OneStep,
    unknowns: Unknowns,
    quantity: Quantity,
    vector: Array,
    data: Data,
    here: Place,
    diagonal: bool,
) -> tuple[Array, Array, Array]:
    values = unknowns.values(vector)
    priors = unknowns.prior.processes(values)
    K, residual = covariance_and_residual(step, unknowns, vector, data)
    observed, _ = observations(step, values, data)
    wanted, offset = at_place(step, quantity, values, here)
    cross = jnp.concatenate([covariance(wanted, one, priors) for one in observed], axis=1)
    prior = variance(wanted, priors) if diagonal else joint_covariance([wanted], priors)
    mean, spread = condition(K, residual, cross, prior, diagonal)
    return mean + offset, spread, prior


@compiled(once=True, static_argnames=("step", "unknowns", "quantities"))
def _means(
    step: OneStep,
    unknowns: Unknowns,
    quantities: tuple[Quantity, ...],
    vector: Array,
    data: Data,
    here: Place,
) -> Float[Array, "J N"]:
    values = unknowns.values(vector)
    priors = unknowns.prior.processes(values)
    K, residual = covariance_and_residual(step, unknowns, vector, data)
    factor, _ = stable_cholesky(K)
    weights = jax.scipy.linalg.cho_solve((factor, True), residual)
    observed, _ = observations(step, values, data)
    ends = np.cumsum([o.points.shape[0] for o in observed])[:-1]
    pieces = jnp.split(weights, ends)

    def mean(quantity: Quantity) -> Array:
        wanted, offset = at_place(step, quantity, values, here)
        parts = [covariance(wanted, one, priors) @ w for one, w in zip(observed, pieces, strict=True)]
        return offset + jnp.sum(jnp.stack(parts), axis=0)

    return jnp.stack([mean(quantity) for quantity in quantities])


# ---- the state in the coefficients --------------------


def first_state(step: OneStep, snapshots: Snapshots, smoother: Smoother) -> State:
    """Return the state that a step's coefficients hold before anything is learned."""
    if step.frozen_snapshot is None:
        return smoothed_mean(step, smoother, snapshots.fields)
    return measured(step, snapshots, smoother)


def measured(step: OneStep, snapshots: Snapshots, smoother: Smoother) -> State:
    """Return the paper's state: a field raw where it was measured, its derivatives from the smoothed snapshot."""
    identity = Symbol.identity(len(step.coordinates))

    def state(atoms: Sequence[sympy.Expr], snapshot: int, points: np.ndarray) -> dict[str, np.ndarray]:
        values: dict[str, np.ndarray] = {}
        for atom in atoms:
            name, symbol = field_name(atom), derivative_symbol(atom, step.coordinates)
            own = symbol == identity and points is snapshots[snapshot].points
            values[str(atom)] = (
                snapshots[snapshot][name] if own else smoother(name).means((symbol,), points)[snapshot, 0]
            )
        return values

    return state


def smoothed_mean(step: OneStep, smoother: Smoother, measured_fields: Collection[str]) -> State:
    """Return where an expansion begins: the mean of the smoothed first and last snapshot; 0 for hidden fields."""

    def state(atoms: Sequence[sympy.Expr], _snapshot: int, points: np.ndarray) -> dict[str, np.ndarray]:
        values = {str(atom): np.zeros(points.shape[0]) for atom in atoms}
        for name in sorted({field_name(atom) for atom in atoms} & set(measured_fields)):
            own = [atom for atom in atoms if field_name(atom) == name]
            symbols = tuple(derivative_symbol(atom, step.coordinates) for atom in own)
            means = smoother(name).means(symbols, points)
            values |= {str(a): 0.5 * (means[0, j] + means[-1, j]) for j, a in enumerate(own)}
        return values

    return state


def posterior_mean(problem: Problem, values: dict[str, float], otherwise: State) -> State:
    """Return the state that a fit has found: the posterior mean of the latent processes at their own time.

    Fields that no latent stands for, known only as data, come from `otherwise`.
    """
    step = problem.step
    known = dict(step.quantities)

    def state(atoms: Sequence[sympy.Expr], snapshot: int, points: np.ndarray) -> dict[str, np.ndarray]:
        own = [atom for atom in atoms if field_name(atom) in known]
        here_known = otherwise([atom for atom in atoms if atom not in own], snapshot, points)
        if own:
            here = place(points, {}, 0.0, float(problem.data.places[0].time))
            quantities = tuple(derivative_of(step, atom) for atom in own)
            here_known |= dict(zip(map(str, own), means(problem, values, quantities, here), strict=True))
        return here_known

    return state


def derivative_of(step: OneStep, atom: sympy.Expr) -> Quantity:
    """Return a field, or a derivative of one, at the latent's own time, as an operator on the latents."""
    name, symbol = field_name(atom), derivative_symbol(atom, step.coordinates)
    one = Operator.of(name, symbol, sympy.Integer(1))
    return Quantity(one.after({name: step.quantity(name).without_lag().operator}), sympy.Integer(0))
