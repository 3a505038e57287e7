"""What a flow fit returns that was stopped: the best of its rounds, or before the first where it began."""

from __future__ import annotations

import numpy as np
from jax.typing import ArrayLike

from hiddenphysics.gaussian import covariance_of
from hiddenphysics.learning import unfinished
from hiddenphysics.models.flow.gauss_newton import FlowTask, Round, SoFar
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.model import Fit
from hiddenphysics.priors import Unknowns


def finished(so_far: SoFar, reason: str) -> Fit:
    """Return how far a search had come when it was left."""
    task, at = so_far.task, so_far.begun
    if so_far.best is not None:
        return stopped_at(task, so_far.best, reason, so_far.rounds)
    numbers = numbers_of(task, at.parameters, at.theta)
    return _fit(task, numbers, np.nan, reason, 0, LearnedFlow.guessed(task, at))


def stopped_at(task: FlowTask, last: Round, reason: str, count: int) -> Fit:
    """Return where a search was stopped, after so many rounds."""
    learned = LearnedFlow.of(task, last, covariance_of(last.information))
    numbers = numbers_of(task, last.point.parameters, last.tuned.theta)
    return _fit(task, numbers, task.evidence(last), reason, count, learned)


def _fit(
    task: FlowTask, numbers: dict[str, float], evidence: float, reason: str, count: int, learned: LearnedFlow
) -> Fit:
    """Numbers that are not to be trusted carry no small deviations."""
    parameters, others = len(task.windows.equation.parameters), len(task.prior.names)
    return Fit(
        values=numbers,
        covariance=np.pad(np.full((parameters, parameters), np.inf), (0, others)),
        evidence=evidence,
        verdict=unfinished(reason),
        jitter=0.0,
        evaluations=count,
        learned=learned,
        stopped=True,
    )


def numbers_of(task: FlowTask, parameters: ArrayLike, theta: ArrayLike) -> dict[str, float]:
    """Every number in natural units; with several measured fields the noise is the mean over the fields."""
    windows = task.windows
    natural = np.array(theta)
    natural[-1] += np.log(np.mean(windows.units**2))
    names = windows.equation.parameters
    own = np.asarray(parameters)[: len(names)]
    return Unknowns(names, task.prior).numbers(np.concatenate([own, natural]))
