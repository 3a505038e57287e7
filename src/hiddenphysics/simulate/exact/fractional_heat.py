"""The heat kernel of the fractional Laplacian: the density of a symmetric α-stable variable."""

from __future__ import annotations

from math import gamma, pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

NODES = 128
"""Gauss–Legendre nodes on each panel."""

CUTOFF = 38.0
"""e^{−38} < 1e-16: frequencies beyond add nothing."""


def fractional_heat_kernel(
    t: float, x: ArrayLike, alpha: float, *, diffusivity: float = 1.0
) -> NDArray[np.float64]:
    """Return u(t, x) with u_t + D (−Δ)^{α/2} u = 0 and a point source at t = 0.

    u = 1/π ∫₀^∞ cos(ωx) exp(−Dt ω^α) dω, the density at time t of Lévy motion with characteristic function
    exp(−Dt|ω|^α); α = 2 is the Gaussian of variance 2Dt, α = 1 Cauchy's density. In units of the width
    (Dt)^{1/α} the integral is taken by Gauss' rule on panels that follow the oscillation of the cosine.
    Nolan (2020), Univariate Stable Distributions, section 3.2.

    Parameters
    ----------
    t, x
        Time > 0 and points, at most a few hundred widths from 0 (absolute accuracy 1e-13 of the peak).
    alpha, diffusivity
        Order, from 0.5 to 2, and D.
    """
    width = (diffusivity * t) ** (1 / alpha)
    scaled = np.abs(np.asarray(x, float)) / width
    frequencies, weights = _rule(alpha, float(np.max(scaled, initial=0.0)))
    damped = weights * np.exp(-(frequencies**alpha))
    return np.asarray(np.cos(np.multiply.outer(scaled, frequencies)) @ damped / (pi * width))


def peak(t: float, alpha: float, *, diffusivity: float = 1.0) -> float:
    """Return u(t, 0) = Γ(1 + 1/α) / (π (Dt)^{1/α})."""
    return gamma(1 + 1 / alpha) / (pi * (diffusivity * t) ** (1 / alpha))


def _rule(alpha: float, farthest: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights on (0, ω_max), graded towards 0 where ω^α is not smooth: ω = ω_max s^4."""
    top = CUTOFF ** (1 / alpha)
    # s^3 ≤ 1 lets dω/ds reach 4 ω_max: panels of at most eight periods there.
    panels = max(2, int(np.ceil(4 * top * farthest / (2 * pi) / 8)))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    edges = np.linspace(0, 1, panels + 1)
    half = np.diff(edges)[:, None] / 2
    s = (edges[:-1, None] + half * (nodes + 1)).ravel()
    return top * s**4, (half * weights).ravel() * 4 * top * s**3
