"""Quasi-Newton searches on a compiled value and gradient, with an honest account of how they ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]

WORSE = 1e3
"""Where the objective is not a number the line search sees a value that much worse than the start's, and backs off.

Not more: its interpolation would take a step too short to see, and call that convergence.
"""


TIGHT = 1e-12
"""A relative gain of one iteration that round-off could have made."""
NEAR = 5e-3
"""A slope that ends a refinement, where the curvature is one: so many standard deviations from the optimum."""
MOST_REFINEMENTS = 60
"""Iterations after which a start was not near."""


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
    tolerance: float = TIGHT,
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
    tolerance
        A relative gain of one iteration that is not worth another.
    """
    from scipy.optimize import minimize  # a quarter of a second to import, which few fits need

    start = np.clip(start, bounds[:, 0], bounds[:, 1])
    outcome = minimize(
        _in_steps(objective, start, np.diag(scale)),
        np.zeros_like(start),
        jac=True,
        method="L-BFGS-B",
        bounds=(bounds - start[:, None]) / scale[:, None],
        options={"maxiter": max_iterations, "maxcor": 20, "ftol": tolerance, "gtol": 1e-4},
    )
    return _ended(objective, start + scale * outcome.x, outcome)


def refine(
    objective: Objective, start: np.ndarray, spread: np.ndarray, scale: np.ndarray, bounds: np.ndarray
) -> tuple[Optimum, np.ndarray] | None:
    """Minimise from a start near the optimum by BFGS, given about the inverse of the Hessian there.

    Parameters
    ----------
    objective, start, scale, bounds
        As in `minimise`. Unknowns that start at a bound are held there.
    spread
        (P, P), about the inverse Hessian over the free unknowns: the optimiser sees R⁻¹(vector − start), R Rᵀ = spread.

    Returns
    -------
    optimum, spread
        Where it ended, and a better inverse of the Hessian. None where the search left the bounds, or a held unknown
        wants to come back.
    """
    from scipy.optimize import minimize

    start = np.clip(start, bounds[:, 0], bounds[:, 1])
    free = is_free(start, scale, bounds)
    root = np.zeros((start.size, int(free.sum())))
    root[free] = np.linalg.cholesky(spread[np.ix_(free, free)])
    outcome = minimize(
        _in_steps(objective, start, root),
        np.zeros(root.shape[1]),
        jac=True,
        method="BFGS",
        options={"gtol": NEAR, "maxiter": MOST_REFINEMENTS},
    )
    optimum = _ended(objective, start + root @ outcome.x, outcome)
    inside = np.all((optimum.vector >= bounds[:, 0]) & (optimum.vector <= bounds[:, 1]))
    upwards = start - bounds[:, 0] < bounds[:, 1] - start
    wants_back = np.where(upwards, optimum.gradient < 0.0, optimum.gradient > 0.0)
    if not inside or np.any(wants_back[~free]) or not np.isfinite(optimum.value):
        return None
    return optimum, _learned(spread, root, np.asarray(outcome.hess_inv))


def _learned(spread: np.ndarray, root: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """Return R B Rᵀ over the free unknowns, B the inverse Hessian that BFGS learned; what was known if B is broken.

    Where a nearly singular covariance leaves few digits in the gradient, B may lose its positive definiteness. Held
    unknowns keep their own spread alone: beside the new numbers their old correlations need not be possible.
    """
    if np.linalg.eigvalsh(inverse)[0] <= 0.0:
        return spread
    held = np.all(root == 0.0, axis=1)
    improved: np.ndarray = root @ inverse @ root.T + np.diag(np.where(held, np.diagonal(spread), 0.0))
    return improved


def is_free(vector: np.ndarray, scale: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Say of every unknown whether it is away from its bounds."""
    near = 1e-6 * np.maximum(scale, np.abs(vector))
    return (vector > bounds[:, 0] + near) & (vector < bounds[:, 1] - near)


def _in_steps(objective: Objective, start: np.ndarray, root: np.ndarray) -> Objective:
    """Return the objective as a function of z, vector = start + root z, with numbers where it has none."""
    first = objective(start)[0]
    worse = first + WORSE * max(1.0, abs(first)) if np.isfinite(first) else WORSE

    def stepped(steps: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = objective(start + root @ steps)
        if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
            return worse, np.zeros_like(steps)
        return value, root.T @ gradient

    return stepped


def _ended(objective: Objective, vector: np.ndarray, outcome: OptimizeResult) -> Optimum:
    value, gradient = objective(vector)
    return Optimum(
        vector=vector,
        value=float(value),
        gradient=np.asarray(gradient),
        converged=bool(outcome.success) and bool(np.isfinite(value)),
        message=str(outcome.message),
        evaluations=int(outcome.nfev) + 2,
    )
