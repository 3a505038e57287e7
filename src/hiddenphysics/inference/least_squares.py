"""Least squares on the rows of a regression, ordinary or generalised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from hiddenphysics.inference.hidden import Whitening
from hiddenphysics.inference.rows import Rows

Function = Callable[[np.ndarray], np.ndarray]

STARTS = (0.1, 1.0, 3.0)
"""Sizes of all parameters from which a nonlinear search starts."""


@dataclass(frozen=True)
class Solution:
    """Parameters by name, the natural step of each, and the restricted negative log likelihood up to a constant."""

    estimate: dict[str, float]
    scale: dict[str, float]
    cost: float


def solve(rows: Rows, whitening: Whitening) -> Solution:
    """Minimise the whitened residual; linear parameters at once, others by a few Levenberg–Marquardt runs."""

    def residual(at: np.ndarray) -> np.ndarray:
        return whitening.apply(rows.residual(at))

    def jacobian(at: np.ndarray) -> np.ndarray:
        return whitening.apply(rows.jacobian(at))

    search = _linear if rows.is_linear else _nonlinear
    solution = search(residual, jacobian, len(rows.unknown))
    columns = np.sqrt(np.mean(rows.jacobian(solution) ** 2, axis=0))
    scale = np.where(columns > 0, 1.0 / np.maximum(columns, 1e-300), 1.0)
    return Solution(
        dict(zip(rows.unknown, solution.tolist(), strict=True)),
        dict(zip(rows.unknown, scale.tolist(), strict=True)),
        _cost(residual(solution), jacobian(solution) * scale, whitening),
    )


def _cost(residual: np.ndarray, columns: np.ndarray, whitening: Whitening) -> float:
    """Return the restricted negative log likelihood with the overall variance at its optimum."""
    count = max(residual.size - columns.shape[1], 1)
    spread = np.log(max(float(residual @ residual) / count, 1e-300))
    sizes = np.linalg.svd(columns, compute_uv=False)
    return float(0.5 * count * spread + whitening.half_log_det + np.sum(np.log(np.maximum(sizes, 1e-300))))


def _linear(residual: Function, jacobian: Function, count: int) -> np.ndarray:
    origin = np.zeros(count)
    columns = jacobian(origin)
    norms = np.linalg.norm(columns, axis=0)
    norms = np.where(norms > 0, norms, 1.0)
    return np.asarray(np.linalg.lstsq(columns / norms, -residual(origin), rcond=1e-8)[0] / norms)


def _nonlinear(residual: Function, jacobian: Function, count: int) -> np.ndarray:
    runs = []
    for start in STARTS:
        with np.errstate(all="ignore"):
            try:
                run = least_squares(residual, np.full(count, start), jacobian, x_scale="jac", max_nfev=200)
            except ValueError:  # the residual left the numbers: not a start to use
                continue
        runs.append(run)
    return np.asarray(min(runs, key=lambda r: r.cost).x) if runs else np.ones(count)
