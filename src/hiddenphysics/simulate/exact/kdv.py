"""Solitons of Korteweg and de Vries."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def soliton(t: float, x: ArrayLike, *, speed: float, centre: float = 0.0) -> NDArray[np.float64]:
    """Return u(t, x) = c/2 sech²(√c/2 (x − x₀ − ct)), which solves u_t + 6uu_x + u_xxx = 0.

    Korteweg & de Vries (1895), Phil. Mag. 39, 422.

    Parameters
    ----------
    t, x
        Time and points.
    speed, centre
        c > 0 and x₀, the crest at t = 0.
    """
    phase = np.sqrt(speed) / 2 * (np.asarray(x, float) - centre - speed * t)
    return speed / 2 / np.cosh(phase) ** 2


def two_solitons(
    t: float, x: ArrayLike, *, speeds: tuple[float, float], centres: tuple[float, float]
) -> NDArray[np.float64]:
    """Return two solitons of u_t + 6uu_x + u_xxx = 0, exact also while they pass through each other.

    u = 2 ∂_x² log f, f = 1 + e₁ + e₂ + ((k₁ − k₂)/(k₁ + k₂))² e₁e₂, e_j = exp(k_j (x − x_j − c_j t)),
    k_j = √c_j. Hirota (1971), Phys. Rev. Lett. 27, 1192, equation 6.

    Parameters
    ----------
    t, x
        Time and points, |k_j (x − x_j − c_j t)| below 300.
    speeds, centres
        c_j > 0, different, and x_j: where the crest of j would be at t = 0 if the other soliton were far to
        its right.
    """
    k = np.sqrt(np.asarray(speeds, float))
    distance = np.asarray(x, float)[..., None] - np.asarray(centres) - np.asarray(speeds) * t
    e = np.exp(k * distance)
    both = ((k[0] - k[1]) / (k[0] + k[1])) ** 2 * e[..., 0] * e[..., 1]
    f = 1 + e[..., 0] + e[..., 1] + both
    slope = k[0] * e[..., 0] + k[1] * e[..., 1] + (k[0] + k[1]) * both
    curvature = k[0] ** 2 * e[..., 0] + k[1] ** 2 * e[..., 1] + (k[0] + k[1]) ** 2 * both
    return np.asarray(2 * (curvature / f - (slope / f) ** 2))
