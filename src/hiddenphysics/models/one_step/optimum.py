"""The end of a search: an optimum polished, its curvature measured, and a verdict that says what happened.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hiddenphysics.learning import (
    Criticism,
    Guess,
    Laplace,
    Objective,
    Optimum,
    Status,
    Verdict,
    at_bound,
    gravest,
    is_free,
    laplace,
    minimise,
    undetermined,
    unfinished,
    when,
)
from hiddenphysics.models.one_step.best_so_far import BestSoFar
from hiddenphysics.models.one_step.expansion import MOST_ROUNDS, Reached
from hiddenphysics.models.one_step.problem import Problem
from hiddenphysics.models.one_step.search import value_of
from hiddenphysics.models.one_step.start import Start

SADDLE = 1e-2
"""A negative curvature, in natural steps, beyond what round-off makes of a flat direction."""
SMALL, TOLERATED = 1e-6, 1e-2
"""Gains in log likelihood left at the end: not worth a step; too much to call it an optimum (λ within 0.14 std)."""
WITHIN = 0.02
"""A change that does not matter, in standard deviations."""


class Judged(NamedTuple):
    """Where a search ended.

    Attributes
    ----------
    problem, optimum
        The likelihood and the optimum.
    covariance, curvature
        Of all unknowns; with the step's own error in it, and the inverse Hessian alone.
    verdict, jitter, evaluations
        How it ended; what was added to factor K; evaluations of all starts.
    """

    problem: Problem
    optimum: Optimum
    covariance: np.ndarray
    curvature: np.ndarray
    verdict: Verdict
    jitter: float
    evaluations: int

    def criticised(self, criticism: Criticism) -> Judged:
        """Return it with deviations that allow for what is left over, as a misfit where criticism speaks against it.

        A bound that is in the way leaves much over, and says so itself; so does a search that has not ended.
        """
        mute = self.verdict.status in (Status.AT_BOUND, Status.NOT_CONVERGED, Status.FAILED)
        if mute:
            return self
        covariance = self.covariance * criticism.wider**2
        if not criticism.speaks_against:
            return self._replace(covariance=covariance)
        return self._replace(covariance=covariance, verdict=Verdict(Status.MISFIT, criticism.sentence()))


Shift = Callable[[Problem, np.ndarray, np.ndarray], np.ndarray]
"""(problem, optimum, covariance) -> by how much the step's own error moves every unknown."""


def judged(
    reached: Reached, start: Start, guess: Guess, so_far: BestSoFar, shift: Shift | None = None
) -> Judged:
    """Polish an optimum, measure its curvature and say how it went.

    By how much the step's own error moves the unknowns, b, stands in their covariance as b bᵀ.
    """
    so_far("measuring the uncertainty")
    problem, evaluations = reached.problem, reached.evaluations
    best, around, jitter = _polish(problem, start, reached.best, so_far)
    if np.any(around.curvatures < -SADDLE):
        so_far("leaving a saddle point")
        below = _below(so_far.objective(problem), start, best, around)
        evaluations += below.evaluations
        best, around, jitter = _polish(problem, start, below, so_far)
    curvature = around.covariance
    if shift is not None and np.all(np.isfinite(around.covariance)):
        so_far("measuring the step's own error")
        moved = shift(problem, best.vector, around.covariance)
        around = replace(around, covariance=around.covariance + np.outer(moved, moved))
    verdict = _verdict(reached, start, guess, best, around)
    return Judged(problem, best, around.covariance, curvature, verdict, jitter, evaluations)


def stopped_at(so_far: BestSoFar, whole: Problem, reason: str) -> Judged:
    """Return the best of a search that was stopped, with infinite deviations: its curvature was not measured.

    Of a search that had seen a part of the data the numbers are kept, not its evidence; then `whole` is the problem.
    Before its first look the best is where it starts: the first guess, with the smoothed fields' lengths.
    """
    problem, best = so_far.kept or (whole, so_far.start)
    if problem.size < whole.size:
        best, problem = replace(best, value=np.nan), whole
    unknown = np.diag(np.full(best.vector.size, np.inf))
    return Judged(problem, best, unknown, unknown, unfinished(reason), 0.0, so_far.looks)


def _verdict(reached: Reached, start: Start, guess: Guess, best: Optimum, around: Laplace) -> Verdict:
    """Say how it went, the gravest finding first."""
    names = reached.problem.unknowns.parameters
    own = slice(0, len(names))
    sizes = guess.scale_at(dict(zip(names, best.vector[own].tolist(), strict=True)))
    scale = np.array([sizes[name] for name in names])
    moving = _moving(reached, best, around)
    return gravest(
        when(
            not np.isfinite(best.value),
            Status.FAILED,
            "The covariance could not be factored at any point that was tried, even with jitter; rescale the units of "
            "the data, or look for nearly equal points.",
        ),
        when(
            bool(np.any(around.curvatures < -SADDLE)),
            Status.NOT_CONVERGED,
            f"The likelihood still rises along {_direction(reached.problem, around)}: a saddle point.",
        ),
        undetermined(names, best.vector[own], around.covariance[own, own], scale),
        when(
            around.decrement > TOLERATED,
            Status.NOT_CONVERGED,
            f"The optimiser stopped ({best.message}) where the log likelihood could still rise by about "
            f"{around.decrement:.2g}; the numbers are not an optimum.",
        ),
        at_bound(names, is_free(best.vector, start.scale, start.bounds)[own]),
        when(
            bool(moving),
            Status.NOT_CONVERGED,
            f"{' and '.join(moving)} still moved after {MOST_ROUNDS + 1} expansions around the posterior mean.",
        ),
        otherwise="A maximum of the likelihood was reached, with curvature in every direction.",
    )


def _moving(reached: Reached, best: Optimum, around: Laplace) -> list[str]:
    """Name the parameters that the last expansion still moved by something that matters."""
    moved, names = np.abs(reached.moved), reached.problem.unknowns.parameters
    if np.all(moved <= 1e-3 * np.abs(best.vector[: moved.size])):
        return []
    spread = np.sqrt(np.diagonal(around.covariance))[: moved.size]
    return [p for p, m, s in zip(names, moved, spread, strict=True) if m > WITHIN * s]


def _direction(problem: Problem, around: Laplace) -> str:
    """Name the unknowns that make up most of the weakest direction."""
    size = np.abs(around.weakest)
    heavy = [name for name, s in zip(problem.names, size, strict=True) if s > 0.3 * size.max()]
    return " and ".join(heavy)


def _below(objective: Objective, start: Start, saddle: Optimum, around: Laplace) -> Optimum:
    """Return the optimum below a saddle point: a natural step to either side, then down."""
    step = start.scale * around.weakest
    sides = (saddle.vector - step, saddle.vector + step)
    valleys = [minimise(objective, side, start.scale, start.bounds) for side in sides]
    return replace(min(saddle, *valleys, key=value_of), evaluations=sum(v.evaluations for v in valleys))


def _around(start: Start, at: Optimum, curvature: np.ndarray) -> Laplace:
    free = is_free(at.vector, start.scale, start.bounds)
    return laplace(np.nan_to_num(curvature), start.scale, free, at.gradient)


def _polish(
    problem: Problem, start: Start, best: Optimum, so_far: BestSoFar
) -> tuple[Optimum, Laplace, float]:
    """Take Newton steps with the whole Hessian while they gain; return the optimum, its Gaussian, and the jitter.

    The optimiser's line search gives up early where a nearly singular covariance leaves few digits in the likelihood.
    A step that gains less than `TOLERATED` is too short to change the Hessian.
    """
    curvature, jitter = problem.hessian(best.vector, start.scale, so_far.check)
    while True:
        around = _around(start, best, curvature)
        if not around.is_minimum or around.decrement < SMALL:
            return best, around, jitter
        vector = np.clip(best.vector - around.newton, start.bounds[:, 0], start.bounds[:, 1])
        value, gradient = so_far.objective(problem)(vector)
        if not value < best.value - 0.1 * around.decrement:
            return best, around, jitter
        best = replace(best, vector=vector, value=value, gradient=gradient, evaluations=best.evaluations + 1)
        if around.decrement > TOLERATED:
            curvature, jitter = problem.hessian(vector, start.scale, so_far.check)
