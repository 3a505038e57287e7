"""The breather of the sine-Gordon equation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def breather(t: float, x: ArrayLike, *, frequency: float = 0.5) -> NDArray[np.float64]:
    """Return u(t, x) = 4 arctan(√(1 − ω²)/ω · cos ωt / cosh(√(1 − ω²) x)), at rest at t = 0.

    It solves u_tt − u_xx + sin u = 0. Ablowitz, Kaup, Newell & Segur (1973), Phys. Rev. Lett. 30, 1262.

    Parameters
    ----------
    t, x
        Time and points.
    frequency
        0 < ω < 1; small values swing wide, up to 2π.
    """
    width = np.sqrt(1 - frequency**2)
    return 4 * np.arctan(width / frequency * np.cos(frequency * t) / np.cosh(width * np.asarray(x, float)))
