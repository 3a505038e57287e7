"""What generalised least squares leaves out: log|K|, which depends on the parameters too, and what groups are worth."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.compiled_code import compiled
from hiddenphysics.gaussian import RestrictedLikelihood, evaluate, evidence
from hiddenphysics.learning import tune
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.one_round import Point, Round
from hiddenphysics.together import together

STENCIL = 0.5
"""Distance of the two sides of a difference quotient of log|K|, in standard deviations."""

NOTHING = 1e-4
"""Size, relative to what it is, of errors that are taken away."""


class Worth(NamedTuple):
    """Size of a group with a prior, and by how much the log evidence would fall without it."""

    size: float
    evidence: float


def worth_of_groups(task: FlowTask, last: Round) -> dict[str, Worth]:
    """Return the size of every group with a prior, and by how much the log evidence would fall without it, by name.

    The linear model of the last round is tuned again with the group's size at next to nothing: to first order that is
    the fit without it.
    """
    theta, bounds = np.asarray(last.tuned.theta), task.prior_bounds
    names = task.prior.names
    worth = {}
    for group in task.prior.groups:
        at = names.index(group.names[0])
        without = bounds.copy()
        without[at] = theta[at] + np.log(NOTHING)
        tuned = tune(last.linear, theta, without)
        worth[group.name] = Worth(
            float(np.exp(theta[at])), float(tuned.at.value) - float(last.tuned.at.value)
        )
    return worth


@together
@compiled(once=True)
def half_log_determinant(linear: RestrictedLikelihood, theta: Any) -> jax.Array:
    """½ log|K| of a linear model, up to a constant: with y = 0 and no fixed effects the evidence is that alone.

    Columns with a prior are part of K, as the state is.
    """
    data, held = linear.data, linear.held(theta)
    spectrum, noise = linear.spectrum(theta), jnp.exp(theta[-1])
    if held is None:
        nothing = jnp.zeros((1, 1))
        empty = data._replace(B=data.B[..., :0], y=jnp.zeros_like(data.y), rest=nothing)
        return evidence(empty, spectrum, noise)
    # A flat column without any effect adds a constant.
    carries = (held.precision > 0) * 1.0
    both = jnp.append(carries, 0.0)
    empty = data._replace(
        B=data.B * carries, y=jnp.zeros_like(data.y), rest=data.rest * jnp.outer(both, both)
    )
    alone = held._replace(precision=jnp.where(carries > 0, held.precision, 1.0), mean=jnp.zeros_like(carries))
    return evaluate(empty, spectrum, noise, jnp.zeros((spectrum.size, 1)), alone).value


@together
@compiled(once=True)
def half_log_of(linear: RestrictedLikelihood, theta: Any, chosen: Any) -> jax.Array:
    """½ log|σ² + X S Xᵀ| of some columns X of the state alone, `chosen` (K,) is 1 for them and 0 for others."""
    data, spectrum = linear.data, linear.spectrum(theta) * chosen
    empty = data._replace(B=data.B[..., :0], y=jnp.zeros_like(data.y), rest=jnp.zeros((1, 1)))
    return evidence(empty, spectrum, jnp.exp(theta[-1]))


def log_determinant_slopes(task: FlowTask, last: Round) -> tuple[np.ndarray, np.ndarray]:
    """Return first and second derivatives (P,) of ½ log|K| in λ, with the state at its posterior mean for each λ.

    They are 0 for columns with a prior, which are part of K.

    The marginal likelihood of λ, with the state integrated out in Laplace's approximation, is
    −½ rᵀK⁻¹r − ½ log|K|. Generalised least squares moves along the first part alone; its stationary point moves by
    −C ∇(½ log|K|) when the second is there, C the covariance of λ.

    How much room what comes in at edges takes in the data depends on λ, too, and says nothing about λ: nobody knows the
    weather. As for fixed effects X that depend on a parameter, the room of its own columns is taken out, ½ log|σ² + X S
    Xᵀ| (Harville (1974), Biometrika 61, 383). With it six twins of glacier ice had a diffusivity too small by 1.6 to
    4.2 deviations; without it the errors are −2.4 to 1.6 of them.
    """
    at, theta = last.point, np.asarray(last.tuned.theta)
    carries = ~task.border.is_flat
    program = task.domain.program
    comes_in = (np.arange(np.shape(at.z)[1]) >= program.features) * 1.0

    def half_log(parameters: np.ndarray) -> float:
        there = Point(at.z - last.solved.slope @ (parameters - at.parameters), parameters, theta)
        made = task.sweep(there.z, parameters, last.dt, last.rough)
        if task.windows.equation.system.straight:
            # Columns of places are read off the state: around one that only nearly follows they are others.
            made = task.sweep(task.with_best_state(there, made).z, parameters, last.dt, last.rough)
        linear = task.likelihood(made.data, parameters)
        room = float(half_log_determinant(linear, theta))
        if program.outside and not program.at_once:
            room -= float(half_log_of(linear, theta, comes_in))
        return room

    # In a plane, where a sweep takes a second, the last round's own linear model is near enough.
    settled = task.domain.program.in_a_plane and last.settled
    middle = float(half_log_determinant(last.linear, theta)) if settled else half_log(at.parameters)
    first, second = np.zeros(at.parameters.size), np.zeros(at.parameters.size)
    own = last.information[np.ix_(carries, carries)]
    for p in np.flatnonzero(task.border.is_flat):
        h = STENCIL * last.deviations[p]
        aside = np.eye(at.parameters.size)[p] * h
        # What has a prior goes along, as the state does.
        aside[carries] = -h * np.linalg.solve(own, last.information[carries, p])
        above, below = half_log(at.parameters + aside), half_log(at.parameters - aside)
        first[p], second[p] = (above - below) / (2 * h), (above - 2 * middle + below) / h**2
    return np.nan_to_num(first), np.nan_to_num(second)
