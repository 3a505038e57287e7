"""L-BFGS on a compiled value and gradient, in scaled coordinates, with an honest account of how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]

WORSE = 1e3
"""Where the objective is not a number the line search sees a value that much worse than the start's, and backs off.

Not more: its interpolation would take a step too short to see, and call that convergence.
"""


@dataclass(frozen=True)
class Optimum:
    """Where a minimisation ended.

    Attributes
    ----------
    vector, value, gradient
        The point, the objective there, and its gradient.
    converged
        Whether the optimiser stopped because nothing was left to gain.
    message
        The optimiser's own words.
    evaluations
        How many values and gradients were computed.
    """

    vector: np.ndarray
    value: float
    gradient: np.ndarray
    converged: bool
    message: str
    evaluations: int


def minimise(
    objective: Objective,
    start: np.ndarray,
    scale: np.ndarray,
    bounds: np.ndarray,
    max_iterations: int = 400,
) -> Optimum:
    """Minimise an objective from a start by L-BFGS-B.

    Parameters
    ----------
    objective
        Takes a vector (P,), returns value and gradient (P,).
    start, scale
        First point, and the size of a natural step in each unknown: the optimiser sees (vector −
        start)/scale.
    bounds
        (P, 2), lower and upper, ±inf where free.
    max_iterations
        When to give up.
    """
    start = np.clip(start, bounds[:, 0], bounds[:, 1])
    first = objective(start)[0]
    worse = first + WORSE * max(1.0, abs(first)) if np.isfinite(first) else WORSE

    def scaled(step: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(start + scale * step)
        if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
            return worse, np.zeros_like(step)
        return value, scale * gradient

    outcome = minimize(
        scaled,
        np.zeros_like(start),
        jac=True,
        method="L-BFGS-B",
        bounds=(bounds - start[:, None]) / scale[:, None],
        options={"maxiter": max_iterations, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-4},
    )
    vector = start + scale * outcome.x
    value, gradient = objective(vector)
    return Optimum(
        vector=vector,
        value=float(value),
        gradient=np.asarray(gradient),
        converged=bool(outcome.success) and bool(np.isfinite(value)),
        message=str(outcome.message),
        evaluations=int(outcome.nfev) + 2,
    )
