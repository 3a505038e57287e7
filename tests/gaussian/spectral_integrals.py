"""Spectral integrals by brute force: Gauss–Legendre rules in ω, with a substitution that tames |ω|^p at 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(1200)
REACH = 9.0
"""Standard deviations of the spectrum that are integrated over; e^{−40} beyond."""

Weight = Callable[[np.ndarray], np.ndarray]


def half_line(length: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on (0, REACH/length), with ω = x⁴ so that ω^p and ω^p log ω are smooth in x."""
    x = 0.5 * (NODES + 1.0)
    top = REACH / length
    return top * x**4, 0.5 * WEIGHTS * top * 4.0 * x**3


def density(omega: np.ndarray, length: float) -> np.ndarray:
    return length / np.sqrt(2 * np.pi) * np.exp(-0.5 * (length * omega) ** 2)


def one(omega: np.ndarray) -> np.ndarray:
    return np.ones_like(omega)


def line(power: float, phase: float, r: np.ndarray, length: float, weight: Weight = one) -> np.ndarray:
    """∫ |ω|^p cos(ωr + (qπ/2) sign ω) S(ω) weight(|ω|) dω for every r."""
    omega, w = half_line(length)
    spectrum = 2.0 * w * omega**power * density(omega, length) * weight(omega)
    return np.cos(np.multiply.outer(r, omega) + 0.5 * np.pi * phase) @ spectrum


def plane(
    symbol: Callable[[np.ndarray, np.ndarray], np.ndarray],
    r: np.ndarray,
    lengths: tuple[float, float],
    angles: int = 240,
) -> np.ndarray:
    """∫∫ Re[τ(ω_x, ω_y) e^{iω·r}] S dω for every row of r, in polar coordinates."""
    radius, w = half_line(min(lengths))
    theta = (np.arange(angles) + 0.5) * 2 * np.pi / angles
    x, y = np.outer(radius, np.cos(theta)).ravel(), np.outer(radius, np.sin(theta)).ravel()
    area = np.repeat(radius * w, angles) * 2 * np.pi / angles
    spectrum = symbol(x, y) * density(x, lengths[0]) * density(y, lengths[1]) * area
    return np.array([np.sum(spectrum * np.exp(1j * (a * x + b * y))).real for a, b in r])
