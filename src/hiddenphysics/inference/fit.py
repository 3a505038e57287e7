"""Learning: the best optimum of a few starts, its uncertainty, and a status that says what happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from hiddenphysics.forward.scales import origin
from hiddenphysics.inference import likelihood
from hiddenphysics.inference.laplace import Laplace, laplace
from hiddenphysics.inference.optimise import TIGHT, Optimum, is_free, minimise
from hiddenphysics.inference.parameters import NOISE
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.start import Start

Progress = Callable[[str], None]

LONGER, NOISIER, MOST_HOPS = 1.5, 10.0, 4
"""How far in all lengths and in the noise variance, and how often, the search looks beyond an optimum."""
NEARER, FAINTER = 3.0, 30.0
"""Ratio of a latent's scales, and loss of the shortest one's variance, where the search looks a second time."""
GAIN = 1e-3
"""Optima whose log likelihoods differ by less are the same one."""
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


def fit(problem: Problem, start: Start, progress: Progress) -> Fit:
    """Find the lowest negative log likelihood, then measure its curvature and say how it went."""
    best, evaluations = search(problem, start, progress)
    return judged(problem, start, best, evaluations, progress)


def judged(problem: Problem, start: Start, best: Optimum, evaluations: int, progress: Progress) -> Fit:
    """Polish an optimum, measure its curvature and say how it went."""
    progress("measuring the uncertainty")
    best, around, jitter = _polish(problem, start, best)
    status, explanation = _judge(problem, start, best, around)
    return Fit(best, around, status, explanation, jitter, evaluations)


def settle(problem: Problem, start: Start, vector: np.ndarray, tolerance: float = TIGHT) -> Optimum:
    """Minimise from a point near the optimum."""
    return minimise(problem.objective, vector, start.scale, start.bounds, tolerance=tolerance)


def search(
    problem: Problem, start: Start, progress: Progress, tolerance: float = TIGHT
) -> tuple[Optimum, int]:
    """Minimise from the start; then hop away from the optimum, and again while that gains.

    Clean data make several optima, one for every length at which the prior fits: seen on KdV, where the runner-up cost
    5 % in λ. So it hops to longer lengths with more noise, and to shorter with less. A prior on several scales has an
    optimum where the longer ones only carry the mean, and often a better one where they are eddies: it hops to scales
    that are nearer to each other.
    """
    found: list[Optimum] = []

    def run(vector: np.ndarray, name: str) -> Optimum:
        progress(f"learning, {name}")
        found.append(settle(problem, start, vector, tolerance))
        return found[-1]

    best = run(start.vector, "from the regression")
    nearer = _with_scales_nearer(problem.names, best.vector)
    if np.any(nearer != best.vector):
        best = min(best, run(nearer, "scales nearer to each other"), key=_value)
    hop = longer_lengths(problem.names)
    for direction, name in ((1.0, "longer lengths"), (-1.0, "shorter lengths")):
        for _ in range(MOST_HOPS):
            hopped = run(best.vector + direction * hop, name)
            if not _value(hopped) < _value(best) - GAIN:
                break
            best = hopped
    return best, sum(o.evaluations for o in found)


def longer_lengths(names: Sequence[str]) -> np.ndarray:
    """Return the step of the unconstrained vector to longer lengths and more noise."""
    longer = np.array([np.log(LONGER) if ".length_" in name else 0.0 for name in names])
    longer[names.index(NOISE)] = np.log(NOISIER)
    return longer


def _with_scales_nearer(names: Sequence[str], vector: np.ndarray) -> np.ndarray:
    """Return the vector with every latent's scales `NEARER` times as long as the one before, the shortest fainter."""
    moved, index = vector.copy(), {name: k for k, name in enumerate(names)}
    for name, k in index.items():
        of, _, quantity = name.rpartition(".")
        latent, number = origin(of) if of else (name, 1)
        first = index.get(f"{latent}.{quantity}")
        if number == 1 or first is None:
            continue
        if quantity == "variance":
            moved[first] = vector[first] - np.log(FAINTER)
        else:
            moved[k] = vector[first] + (number - 1) * np.log(NEARER)
    return moved


def _value(optimum: Optimum) -> float:
    return optimum.value if np.isfinite(optimum.value) else np.inf


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
