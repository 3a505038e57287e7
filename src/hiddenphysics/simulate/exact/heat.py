"""The heat equation, for a Gaussian."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def heat_gaussian(
    t: float, x: ArrayLike, diffusivity: float, *, width: float = 0.0, mass: float = 1.0
) -> NDArray[np.float64]:
    """Return u(t, x) with u_t − D u_xx = 0 and u(0, ·) a Gaussian: mass/√(2πs²) · exp(−x²/2s²), s² = width² + 2Dt.

    Einstein (1905), Ann. Phys. 322, 549: the spread of Brownian motion grows as √(2Dt).

    Parameters
    ----------
    t, x
        Time and points; t > 0 where the width is 0.
    diffusivity
        D.
    width, mass
        Standard deviation at t = 0 (0: a point source), and ∫u dx.
    """
    variance = width**2 + 2 * diffusivity * t
    return mass * np.exp(-np.square(np.asarray(x, float)) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
