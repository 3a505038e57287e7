"""Outliers: noise as a mixture of two normals, most values as they should be, a few with ten times the deviation.

Box & Tiao (1968), Biometrika 55, 119. One deviation for all values would be raised by the few, and with it every
interval; values that belong to the few say nothing about the fields.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

WIDER = 10.0
"""Deviation of the few, in those of the others."""

MOST_STEPS, STILL = 200, 1e-6
"""Steps of expectation and maximisation, and a change of the log likelihood that ends them."""

FIRST_SHARE, MOST_SHARE = 0.05, 0.3
"""Share of outliers to begin with, and the largest: beyond, they are no outliers."""

FAR = 6.0
"""Deviations from which on a value is hinted at, by the median of the others: one of 5·10⁸ normal ones lies as far."""

CLEAR = 3.0
"""Gain of log likelihood, beyond ½ log N for the further number, from which on there are outliers."""

NORMAL_MEDIAN = 0.6744897501960817
"""Median of |e| of a standard normal."""


class Mixture(NamedTuple):
    """Residuals as two kinds of noise.

    Attributes
    ----------
    deviation
        Of the many.
    share
        Of the few among all.
    chance
        (N,) that a value is one of the few.
    gain
        Log likelihood beyond that of one normal, less ½ log N.
    """

    deviation: float
    share: float
    chance: np.ndarray
    gain: float

    @property
    def is_clear(self) -> bool:
        """Whether there are outliers at all."""
        return self.gain > CLEAR


def mixture(residuals: np.ndarray) -> Mixture:
    """Fit (1 − ε) N(0, σ²) + ε N(0, (10 σ)²) to residuals (N,) by expectation and maximisation."""
    e = np.asarray(residuals, float)
    size = float(np.sqrt(np.mean(e**2)))
    if not size > 0:
        return Mixture(0.0, 0.0, np.zeros(e.size), 0.0)
    alone = -0.5 * e.size * (1 + float(np.log(2 * np.pi))) - e.size * float(np.log(size))
    deviation = max(float(np.median(np.abs(e))) / NORMAL_MEDIAN, 1e-3 * size)
    share, before, total, chance = FIRST_SHARE, -np.inf, -np.inf, np.zeros(e.size)
    for _ in range(MOST_STEPS):
        z = (e / deviation) ** 2
        many = np.log1p(-share) - 0.5 * z
        few = np.log(share) - 0.5 * z / WIDER**2 - np.log(WIDER)
        both = np.logaddexp(many, few)
        total = float(np.sum(both) - e.size * (np.log(deviation) + 0.5 * np.log(2 * np.pi)))
        chance = np.exp(few - both)
        if total - before < STILL * abs(total):
            break
        before = total
        share = float(np.clip(np.mean(chance), 0.1 / e.size, MOST_SHARE))
        weights = 1 - chance + chance / WIDER**2
        deviation = float(np.sqrt(np.mean(weights * e**2)))
    return Mixture(deviation, share, chance, total - alone - 0.5 * float(np.log(e.size)))


def far_off(residuals: np.ndarray) -> int:
    """Count the values that lie further off than noise would, by the median of all."""
    size = float(np.median(np.abs(residuals))) / NORMAL_MEDIAN if residuals.size else 0.0
    return int(np.sum(np.abs(residuals) > FAR * size)) if size > 0 else 0
