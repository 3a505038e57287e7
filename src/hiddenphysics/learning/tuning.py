"""Hyper-parameters by restricted likelihood: Fisher scoring within bounds.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiddenphysics.gaussian import Evaluated, RestrictedLikelihood

MOST_STEPS = 60
"""Evaluations after which a tuning ends where it is."""
LONGEST_STEP = 2.0
"""Largest change of a logarithm in one step."""
GAIN = 1e-4
"""Gains in log likelihood that are worth no further step."""


class Tuned(NamedTuple):
    """Where the tuning ended: the vector, and the evaluation there."""

    theta: np.ndarray
    at: Evaluated


def tune(
    objective: RestrictedLikelihood, start: np.ndarray, bounds: np.ndarray, most: int = MOST_STEPS
) -> Tuned:
    """Minimise from a start within bounds (H, 2): damped Fisher scoring, held at bounds that a step would cross."""
    theta = np.clip(start, bounds[:, 0], bounds[:, 1])
    at, gradient, fisher = objective(theta)
    damping, spent = 1e-3, 1
    while spent < most:
        step, gain = _step(theta, gradient, fisher, bounds, damping)
        if gain < GAIN:
            break
        tried = np.clip(theta + step, bounds[:, 0], bounds[:, 1])
        there, slope, information = objective(tried)
        spent += 1
        if np.isfinite(there.value) and there.value < at.value:
            theta, at, gradient, fisher = tried, there, slope, information
            damping = max(damping / 10, 1e-6)
        elif damping > 1e6:
            break
        else:
            damping *= 10
    return Tuned(theta, at)


def _step(
    theta: np.ndarray, gradient: np.ndarray, fisher: np.ndarray, bounds: np.ndarray, damping: float
) -> tuple[np.ndarray, float]:
    """Return the damped step over the free numbers, and the gain that it promises."""
    held = ((theta <= bounds[:, 0] + 1e-9) & (gradient > 0)) | (
        (theta >= bounds[:, 1] - 1e-9) & (gradient < 0)
    )
    free = np.flatnonzero(~held)
    step = np.zeros_like(theta)
    if not free.size or not np.all(np.isfinite(gradient)):
        return step, 0.0
    block = fisher[np.ix_(free, free)]
    block = block + np.diag(damping * np.diagonal(block) + 1e-9)
    step[free] = -np.linalg.solve(block, gradient[free])
    step *= min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), 1e-300))
    return step, float(-gradient @ step)
