"""A fit: an optimum, its uncertainty, and a status that says what happened."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from hiddenphysics.inference import likelihood
from hiddenphysics.inference.laplace import Laplace, laplace
from hiddenphysics.inference.optimise import Objective, Optimum, is_free, minimise
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.search import Progress, value_of
from hiddenphysics.inference.start import Start

UNDETERMINED = 5.0
"""A standard deviation of a parameter, in natural steps, that says nothing about it."""
SADDLE = 1e-2
"""A negative curvature, in natural steps, beyond what round-off makes of a flat direction."""
SMALL, TOLERATED = 1e-6, 1e-2
"""Gains in log likelihood left at the end: not worth a step; too much to call it an optimum (λ within 0.14 std)."""


class Status(StrEnum):
    """How a fit ended. Only `CONVERGED` is a success without reservations."""

    CONVERGED = "converged"
    AT_BOUND = "at_bound"
    WEAKLY_IDENTIFIED = "weakly_identified"
    NOT_CONVERGED = "not_converged"
    FAILED = "failed"


@dataclass(frozen=True)
class Fit:
    """The learned unknowns of a problem.

    Attributes
    ----------
    optimum
        The best optimum found, in the unconstrained vector.
    laplace
        Its Gaussian approximation.
    status, explanation
        How it ended, and the same in a sentence.
    jitter
        What had to be added to the covariance's diagonal to factor it.
    evaluations
        Likelihood evaluations over all starts.
    """

    optimum: Optimum
    laplace: Laplace
    status: Status
    explanation: str
    jitter: float
    evaluations: int


def judged(problem: Problem, start: Start, best: Optimum, evaluations: int, progress: Progress) -> Fit:
    """Polish an optimum, measure its curvature and say how it went."""
    progress("measuring the uncertainty")
    best, around, jitter = _polish(problem, start, best)
    if np.any(around.curvatures < -SADDLE):
        progress("leaving a saddle point")
        below = _below(problem.objective, start, best, around)
        evaluations += below.evaluations
        best, around, jitter = _polish(problem, start, below)
    status, explanation = _judge(problem, start, best, around)
    return Fit(best, around, status, explanation, jitter, evaluations)


def _below(objective: Objective, start: Start, saddle: Optimum, around: Laplace) -> Optimum:
    """Return the optimum below a saddle point: a natural step to either side, then down."""
    step = start.scale * around.weakest
    sides = (saddle.vector - step, saddle.vector + step)
    valleys = [minimise(objective, side, start.scale, start.bounds) for side in sides]
    return replace(min(saddle, *valleys, key=value_of), evaluations=sum(v.evaluations for v in valleys))


def _around(start: Start, at: Optimum, curvature: np.ndarray) -> Laplace:
    free = is_free(at.vector, start.scale, start.bounds)
    return laplace(np.nan_to_num(curvature), start.scale, free, at.gradient)


def _polish(problem: Problem, start: Start, best: Optimum) -> tuple[Optimum, Laplace, float]:
    """Take Newton steps with the whole Hessian while they gain; return the optimum, its Gaussian, and the jitter.

    The optimiser's line search gives up early where a nearly singular covariance leaves few digits in the likelihood.
    A step that gains less than `TOLERATED` is too short to change the Hessian.
    """
    curvature, jitter = likelihood.hessian(problem.layout, best.vector, problem.data, start.scale)
    while True:
        around = _around(start, best, curvature)
        if not around.is_minimum or around.decrement < SMALL:
            return best, around, jitter
        vector = np.clip(best.vector - around.newton, start.bounds[:, 0], start.bounds[:, 1])
        value, gradient = problem.objective(vector)
        if not value < best.value - 0.1 * around.decrement:
            return best, around, jitter
        best = replace(best, vector=vector, value=value, gradient=gradient, evaluations=best.evaluations + 1)
        if around.decrement > TOLERATED:
            curvature, jitter = likelihood.hessian(problem.layout, vector, problem.data, start.scale)


def _judge(problem: Problem, start: Start, best: Optimum, around: Laplace) -> tuple[Status, str]:
    if not np.isfinite(best.value):
        return Status.FAILED, (
            "The covariance could not be factored at any point that was tried, even with jitter; rescale the units of "
            "the data, or look for nearly equal points."
        )
    if np.any(around.curvatures < -SADDLE):
        return (
            Status.NOT_CONVERGED,
            f"The likelihood still rises along {_direction(problem, around)}: a saddle point.",
        )
    weak = _undetermined(problem, start, around)
    if weak:
        return Status.WEAKLY_IDENTIFIED, (
            f"The data do not determine {' and '.join(weak)}: the likelihood is flat, or almost so, along a direction "
            "that holds them."
        )
    if around.decrement > TOLERATED:
        return Status.NOT_CONVERGED, (
            f"The optimiser stopped ({best.message}) where the log likelihood could still rise by about "
            f"{around.decrement:.2g}; the numbers are not an optimum."
        )
    free = is_free(best.vector, start.scale, start.bounds)
    held = [
        n for n, f in zip(problem.names, free, strict=True) if not f and n in problem.layout.model.parameters
    ]
    if held:
        return (
            Status.AT_BOUND,
            f"{', '.join(held)} ended at a bound; the interval only says that it is in the way.",
        )
    return Status.CONVERGED, "A maximum of the likelihood was reached, with curvature in every direction."


def _undetermined(problem: Problem, start: Start, around: Laplace) -> list[str]:
    """Return the parameters whose standard deviation is many times the value that would explain all of the change."""
    spread = np.sqrt(np.diagonal(around.covariance)) / start.scale
    parameters = problem.layout.model.parameters
    return [n for n, s in zip(problem.names, spread, strict=True) if n in parameters and s > UNDETERMINED]


def _direction(problem: Problem, around: Laplace) -> str:
    """Name the unknowns that make up most of the weakest direction."""
    size = np.abs(around.weakest)
    heavy = [name for name, s in zip(problem.names, size, strict=True) if s > 0.3 * size.max()]
    return " and ".join(heavy)
