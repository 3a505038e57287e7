"""What every experiment says of the parameters by itself, read off the linear model at the common optimum."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.gaussian import RestrictedLikelihood, evaluate
from hiddenphysics.learning import Heterogeneity, Progress, heterogeneity
from hiddenphysics.models.flow.gauss_newton import FlowTask, Round
from hiddenphysics.models.flow.path import Path
from hiddenphysics.models.flow.sweep import sweep
from hiddenphysics.together import together


def agreement(task: FlowTask, last: Round, scale: np.ndarray, say: Progress) -> Heterogeneity | None:
    """Compare the experiments of a fit; None where there is one.

    No experiment is fitted again: around the common optimum each has its own generalised least squares step and
    information, with the prior and the noise that they share. `scale` are the parameters' natural sizes (P,).
    """
    windows, at = task.windows, last.point
    count = len(windows.experiments)
    if count < 2:
        return None
    owners, theta = np.asarray(windows.owners), np.asarray(last.tuned.theta)
    latent, path = task.domain.latent(at.z), task.path(last.dt)
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
        step, own = _alone(task.likelihood(seen.data), theta)
        steps.append(np.asarray(step))
        information.append(np.asarray(own))
    parameters = dict(zip(windows.equation.parameters, at.parameters.tolist(), strict=True))
    return heterogeneity(windows.experiments, parameters, np.stack(steps), np.stack(information), scale)


def _only(path: Path, chosen: np.ndarray) -> Path:
    """Return the way through some of the windows (W,): the others stay where they are, and see nothing."""
    here = chosen[:, None]
    stops = path.stops
    return path._replace(
        stops=stops._replace(
            fine=stops.fine._replace(steps=stops.fine.steps * here),
            coarse=stops.coarse._replace(steps=stops.coarse.steps * here),
            compared=stops.compared & here,
            visited=stops.visited & here,
        )
    )


@together
@jax.jit
def _alone(linear: RestrictedLikelihood, theta: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the generalised least squares step (P,) of a linear model, and its information (P, P)."""
    spectrum = linear.spectrum(theta)
    at = evaluate(linear.data, spectrum, jnp.exp(theta[-1]), jnp.zeros((spectrum.size, 1)))
    return at.estimate, at.information
