"""Learning: the best optimum of a few starts, its uncertainty, and a status that says what happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import jax.numpy as jnp
import numpy as np

from hiddenphysics.inference import likelihood
from hiddenphysics.inference.laplace import Laplace, laplace
from hiddenphysics.inference.optimise import Optimum, minimise
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.start import Start

Progress = Callable[[str], None]


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
    """Minimise the negative log likelihood from every start, keep the lowest, and look at its curvature."""
    optima = []
    for k, vector in enumerate(start.vectors, 1):
        progress(f"learning from start {k} of {len(start.vectors)}")
        optima.append(minimise(problem.objective, vector, start.scale, start.bounds))
    best = min(optima, key=lambda o: o.value if np.isfinite(o.value) else np.inf)
    progress("measuring the uncertainty")
    here = jnp.asarray(best.vector)
    curvature = np.asarray(likelihood.hessian(problem.layout, here, problem.data))
    free = _free(best.vector, start)
    around = laplace(np.nan_to_num(curvature), start.scale, free)
    jitter = float(likelihood.required_jitter(problem.layout, here, problem.data))
    status, explanation = _judge(problem, start, best, around)
    return Fit(best, around, status, explanation, jitter, sum(o.evaluations for o in optima))


def _free(vector: np.ndarray, start: Start) -> np.ndarray:
    near = 1e-6 * np.maximum(start.scale, np.abs(vector))
    return (vector > start.bounds[:, 0] + near) & (vector < start.bounds[:, 1] - near)


def _judge(problem: Problem, start: Start, best: Optimum, around: Laplace) -> tuple[Status, str]:
    names = problem.names
    if not np.isfinite(best.value):
        return Status.FAILED, (
            "The covariance could not be factored at any point that was tried, even with jitter; rescale the units of "
            "the data, or look for nearly equal points."
        )
    free = _free(best.vector, start)
    held = [n for n, f in zip(names, free, strict=True) if not f and n in problem.layout.model.parameters]
    slope = np.abs(best.gradient * start.scale)[free]
    # The likelihood of N values has curvature of order N: such a slope leaves λ far within its standard deviation.
    if not best.converged and slope.size and slope.max() > 1e-3 * problem.size:
        return Status.NOT_CONVERGED, (
            f"The optimiser stopped after {best.evaluations} evaluations with a slope left ({best.message}); "
            "the numbers are not an optimum."
        )
    if held:
        return (
            Status.AT_BOUND,
            f"{', '.join(held)} ended at a bound; its interval only says that the bound is in the way.",
        )
    if not around.is_minimum:
        return Status.WEAKLY_IDENTIFIED, (
            f"The data do not determine {_direction(problem, around)}: the likelihood is flat along it."
        )
    return Status.CONVERGED, "A maximum of the likelihood was reached, with curvature in every direction."


def _direction(problem: Problem, around: Laplace) -> str:
    """Name the unknowns that make up most of the weakest direction."""
    size = np.abs(around.weakest)
    heavy = [name for name, s in zip(problem.names, size, strict=True) if s > 0.3 * size.max()]
    return " and ".join(heavy)
