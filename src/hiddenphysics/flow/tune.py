"""Hyper-parameters by restricted likelihood: Fisher scoring within bounds."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from hiddenphysics.flow.features import Features
from hiddenphysics.flow.linear import Evaluated, Reduced, evaluate
from hiddenphysics.flow.prior import Prior

MOST_STEPS = 60
LONGEST_STEP = 2.0
"""Largest change of a logarithm in one step."""
GAIN = 1e-4
"""Gains in log likelihood that are worth no further step."""


@dataclass(frozen=True)
class Tuned:
    """Where the tuning ended: the vector, and the evaluation there."""

    theta: np.ndarray
    at: Evaluated


@dataclass(frozen=True)
class Objective:
    """The restricted likelihood of one linear model as a function of the prior's vector."""

    prior: Prior
    features: Features
    level: np.ndarray
    data: Reduced

    def spectrum(self, theta: np.ndarray) -> jnp.ndarray:
        """Prior variances of the features."""
        return self.prior.spectrum(jnp.asarray(theta), self.features.omega, self.features.measure, self.level)

    def __call__(self, theta: np.ndarray) -> tuple[Evaluated, np.ndarray, np.ndarray]:
        """Return the evaluation, and gradient and expected information in the vector."""
        numbers = (jnp.asarray(theta), self.features.omega, self.features.measure, self.level)
        slopes = self.prior.slopes(*numbers)
        noise = jnp.exp(theta[-1])
        at = evaluate(self.data, self.prior.spectrum(*numbers), noise, slopes)
        gradient = np.append(np.asarray(at.in_spectrum @ slopes), float(at.in_noise * noise))
        scale = np.append(np.ones(theta.size - 1), float(noise))
        return at, gradient, np.asarray(at.fisher) * np.outer(scale, scale)


def tune(objective: Objective, start: np.ndarray, bounds: np.ndarray, most: int = MOST_STEPS) -> Tuned:
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
