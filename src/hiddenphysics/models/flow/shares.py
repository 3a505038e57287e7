"""What every experiment says of the parameters by itself, read off the linear model at the common optimum."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.compiled_code import compiled
from hiddenphysics.gaussian import RestrictedLikelihood, evaluate
from hiddenphysics.learning import Heterogeneity, Progress, heterogeneity
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.one_round import Round
from hiddenphysics.models.flow.path import Path
from hiddenphysics.models.flow.sweep import sweep
from hiddenphysics.together import together

INPUT_DRAWS = 24
"""Draws of the inputs: their share of a variance is known to 30 %, and a sweep is all that each costs."""


def agreement(
    task: FlowTask, last: Round, scale_at: Callable[[np.ndarray], np.ndarray], say: Progress
) -> Heterogeneity | None:
    """Compare the experiments of a fit; None where there is one, or something beside the states carries a prior.

    No experiment is fitted again: around the common optimum each has its own generalised least squares step and
    information, with the prior and the noise that they share. `scale_at` takes parameters (P,) to their natural sizes.
    """
    windows, at = task.windows, last.point
    count = len(windows.experiments)
    if count < 2 or not np.all(task.border.is_flat):
        return None
    owners, theta = np.asarray(windows.owners), np.asarray(last.tuned.theta)
    latent, path = task.domain.latent(at.z), task.path(last.dt, last.rough)
    steps, information = [], []
    for number in range(count):
        say(f"experiment {number + 1} of {count} by itself")
        seen = sweep(
            task.domain.program,
            task.seen,
            latent,
            at.parameters,
            _only(path, owners == number),
            squares=task.squares,
        )
        step, own = _alone(task.likelihood(seen.data, at.parameters), theta)
        steps.append(np.asarray(step))
        information.append(np.asarray(own))
    parameters = dict(zip(windows.equation.parameters, at.parameters.tolist(), strict=True))
    return heterogeneity(
        windows.experiments, parameters, np.stack(steps), np.stack(information), scale_at(at.parameters)
    )


def from_inputs(task: FlowTask, last: Round, say: Progress) -> np.ndarray:
    """Return what the errors of known inputs add to the parameters' covariance, (P, P); 0 where there are none.

    For every draw of the inputs from their posterior the linear model around the optimum has another generalised least
    squares step; the scatter of these steps is, to first order, that of the estimate.
    """
    inputs, at, theta = task.windows.inputs, last.point, np.asarray(last.tuned.theta)
    count = len(at.parameters)
    if inputs is None:
        return np.zeros((count, count))
    latent, path = task.domain.latent(at.z), task.path(last.dt, last.rough)
    steps = []
    for seed in range(-1, INPUT_DRAWS):
        say(f"draw {seed + 1} of the inputs")
        drawn = inputs.driving(task.windows, task.domain.features.grid, None if seed < 0 else seed)
        here = latent._replace(driving=drawn)
        seen = sweep(task.domain.program, task.seen, here, at.parameters, path, squares=task.squares)
        steps.append(np.asarray(_alone(task.likelihood(seen.data, at.parameters), theta)[0]))
    away = np.stack(steps[1:]) - steps[0]
    return away.T @ away / INPUT_DRAWS


def _only(path: Path, chosen: np.ndarray) -> Path:
    """Return the way through some of the windows (W,): the others stay where they are, and see nothing."""
    here = chosen[:, None]
    stops = path.stops
    return path._replace(
        stops=stops._replace(
            fine=stops.fine._replace(steps=stops.fine.steps * here),
            coarse=stops.coarse._replace(steps=stops.coarse.steps * here),
            rough=stops.rough._replace(steps=stops.rough.steps * here),
            compared=stops.compared & here,
            visited=stops.visited & here,
        )
    )


@together
@compiled()
def _alone(linear: RestrictedLikelihood, theta: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the generalised least squares step (P,) of a linear model, and its information (P, P)."""
    spectrum = linear.spectrum(theta)
    at = evaluate(linear.data, spectrum, jnp.exp(theta[-1]), jnp.zeros((spectrum.size, 1)))
    return at.estimate, at.information
