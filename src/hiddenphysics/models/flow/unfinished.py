"""What a flow fit returns that was stopped: the best of its rounds, or before the first where it began."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hiddenphysics.learning import unfinished
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.gauss_newton import SoFar
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.models.model import Fit
from hiddenphysics.priors import Prior, Unknowns


def stopped_at(so_far: SoFar, reason: str, count: int) -> Fit:
    """Return how far a search had come after so many rounds; no number that is not to be trusted looks certain."""
    task, at = so_far.task, so_far.at
    parameters, others = len(task.windows.equation.parameters), len(task.prior.names)
    return Fit(
        values=numbers_of(task, at.parameters, at.theta),
        covariance=np.pad(np.full((parameters, parameters), np.inf), (0, others)),
        evidence=so_far.evidence,
        verdict=unfinished(reason),
        jitter=0.0,
        evaluations=count,
        learned=LearnedFlow.at(task.windows, task.domain, at, so_far.dt, so_far.belief),
        stopped=True,
    )


def numbers_of(task: FlowTask, parameters: ArrayLike, theta: ArrayLike) -> dict[str, float]:
    """Every number of a task in natural units."""
    return natural_numbers(task.windows, task.prior, parameters, theta)


def natural_numbers(
    windows: Windows, prior: Prior, parameters: ArrayLike, theta: ArrayLike
) -> dict[str, float]:
    """Every number in natural units; with several measured fields the noise is the mean over the fields."""
    natural = np.array(theta)
    natural[-1] += np.log(np.mean(windows.units**2))
    names = windows.equation.parameters
    own = np.asarray(parameters)[: len(names)]
    return Unknowns(names, prior).numbers(np.concatenate([own, natural]))
