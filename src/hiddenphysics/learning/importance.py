"""Importance weights of draws, and how far they can be trusted: Pareto's k of their largest ones.

Draws from a density q stand for a density p with the weights p/q. A few weights that are much larger than all others
make every mean chance; the shape k of the Pareto distribution that fits the largest ones tells. Below 0.7 means over
the draws are reliable, beyond their error falls too slowly to be believed. Vehtari, Simpson, Gelman, Yao & Gabry
(2024), J. Mach. Learn. Res. 25(72); the fit is Zhang & Stephens' (2009), Technometrics 51, 316.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

RELIABLE = 0.7
"""k up to which means over weighted draws are believed (Vehtari et al., section 3)."""

FEWEST = 5
"""Largest weights of which a tail can be fitted."""


class Weights(NamedTuple):
    """Weights (n,) that sum to 1, smoothed in their tail, and Pareto's k of it; −∞ where all are alike."""

    weights: np.ndarray
    pareto_k: float


def importance_weights(log_ratio: np.ndarray) -> Weights:
    """Return the weights of draws from their log p/q (n,); those that are no number count for nothing.

    The largest min(n/5, 3√n) are replaced by the quantiles of the Pareto distribution that fits them.
    """
    ratio = np.where(np.isfinite(log_ratio), log_ratio, -np.inf)
    weights = np.exp(ratio - ratio.max())
    tail = int(np.ceil(min(weights.size / 5, 3 * np.sqrt(weights.size))))
    order = np.argsort(weights)
    largest, threshold = order[-tail:], float(weights[order[-tail - 1]]) if tail < weights.size else 0.0
    above = weights[largest] - threshold
    k = -np.inf
    if tail >= FEWEST and above[-1] > 1e-12 and np.count_nonzero(above > 1e-12) >= FEWEST:
        k, size = _pareto(above)
        ranks = (np.arange(1, tail + 1) - 0.5) / tail
        quantiles = size * (np.expm1(-k * np.log1p(-ranks)) / k if abs(k) > 1e-9 else -np.log1p(-ranks))
        weights[largest] = np.minimum(threshold + quantiles, 1.0)
    return Weights(weights / weights.sum(), float(k))


def _pareto(above: np.ndarray) -> tuple[float, float]:
    """Fit shape and size of a generalised Pareto distribution to sorted excesses (n,); k is drawn towards 0.5."""
    n = above.size
    quartile = above[int(n / 4 + 0.5) - 1]
    count = 30 + int(np.sqrt(n))
    grid = 1 / above[-1] + (1 - np.sqrt(count / (np.arange(1, count + 1) - 0.5))) / (
        3 * max(quartile, 1e-300)
    )
    grid = grid[grid != 0]
    shapes = np.mean(np.log1p(-grid[:, None] * above), axis=1)
    fits = n * (np.log(-grid / shapes) - shapes - 1)
    posterior = np.exp(fits - fits.max())
    best = float(np.sum(grid * posterior) / posterior.sum())
    k = float(np.mean(np.log1p(-best * above)))
    return (n * k + 10 * 0.5) / (n + 10), -k / best
