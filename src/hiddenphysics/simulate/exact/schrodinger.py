"""The bright soliton of the nonlinear Schrödinger equation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def bright_soliton(
    t: float, x: ArrayLike, *, amplitude: float = 1.0, speed: float = 0.0, centre: float = 0.0
) -> NDArray[np.complex128]:
    """Return h(t, x) = A sech(A(x − x₀ − vt)) exp(i(v(x − x₀) + (A² − v²)t/2)), complex.

    It solves i h_t + ½ h_xx + |h|²h = 0. Zakharov & Shabat (1972), Sov. Phys. JETP 34, 62.

    Parameters
    ----------
    t, x
        Time and points.
    amplitude, speed, centre
        A > 0, v, and x₀, the crest at t = 0.
    """
    place = np.asarray(x, float) - centre
    envelope = amplitude / np.cosh(amplitude * (place - speed * t))
    return envelope * np.exp(1j * (speed * place + (amplitude**2 - speed**2) * t / 2))
