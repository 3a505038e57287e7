"""Solutions known in closed form, or to as many digits as one likes: referees for everything numerical."""

from __future__ import annotations

from collections.abc import Callable
from math import gamma, pi
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import cumulative_simpson
from scipy.special import logsumexp

__all__ = [
    "breather",
    "bright_soliton",
    "burgers",
    "fractional_heat_kernel",
    "fractional_heat_peak",
    "gaussian_pulse",
    "heat_gaussian",
    "soliton",
    "taylor_green",
    "two_solitons",
]


# ---- Burgers' equation, by the transformation of Cole and Hopf --------------------

Profile = Callable[[np.ndarray], np.ndarray]


def burgers(
    initial: Profile,
    t: float,
    x: ArrayLike,
    viscosity: float,
    *,
    speed: float = 1.0,
    reach: float = 20.0,
    nodes: int = 8001,
) -> np.ndarray:
    """Return u(t, x) with u_t + λ u u_x − ν u_xx = 0 on the line, for an initial profile that decays.

    With v = λu, v = Σ (x−y)/t · w / Σ w over nodes y, w = exp(−(∫₀^y v₀)/2ν − (x−y)²/4νt): Hopf (1950), Comm.
    Pure Appl. Math. 3, equation 3. The integrand is smooth and decays, so equispaced nodes converge faster
    than any power.

    Parameters
    ----------
    initial
        u₀, vanishing well inside ±`reach`.
    t, x
        Time (0 gives u₀) and points (N,).
    viscosity, speed
        ν > 0 and λ.
    reach, nodes
        Half-width of the integration and number of nodes; their spacing must resolve √(νt).
    """
    points = np.asarray(x, float)
    if t == 0:
        return initial(points)
    y = np.linspace(-reach, reach, nodes)
    potential = cumulative_simpson(speed * initial(y), x=y, initial=0)
    distance = points[:, None] - y
    exponent = -potential / (2 * viscosity) - distance**2 / (4 * viscosity * t)
    weights = np.exp(exponent - logsumexp(exponent, axis=1, keepdims=True))
    return np.asarray(np.sum(weights * distance, axis=1) / (t * speed))


def gaussian_pulse(x: np.ndarray) -> np.ndarray:
    """Return exp(−(x + 2)²): the pulse that steepens into a travelling front in the paper's first example."""
    return np.exp(-((x + 2.0) ** 2))


# ---- Korteweg and de Vries' equation: solitons --------------------


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


# ---- The nonlinear Schrödinger equation: the bright soliton --------------------


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


# ---- The sine-Gordon equation: the breather --------------------


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


# ---- Navier and Stokes' equations in two dimensions: the vortices of Taylor and Green --------------------


class Vortices(NamedTuple):
    """Velocities u, v and pressure p, of one shape."""

    u: NDArray[np.float64]
    v: NDArray[np.float64]
    p: NDArray[np.float64]


def taylor_green(t: float, x: ArrayLike, y: ArrayLike, viscosity: float, *, drift: float = 0.0) -> Vortices:
    """Return decaying vortices, which solve Navier and Stokes' equations exactly.

    u_t + uu_x + vu_y = −p_x + νΔu,   v_t + uv_x + vv_y = −p_y + νΔv,   u_x + v_y = 0, with ξ = x − Ut:
    u = U + cos ξ sin y e^{−2νt},   v = −sin ξ cos y e^{−2νt},   p = −¼ (cos 2ξ + cos 2y) e^{−4νt}.
    Taylor & Green (1937), Proc. R. Soc. A 158, 499. With U = 0 the advection is balanced by the pressure
    alone; U ≠ 0 makes the vortices travel.

    Parameters
    ----------
    t, x, y
        Time and points of one shape; the period is 2π.
    viscosity, drift
        ν and U.
    """
    place, height = np.asarray(x, float) - drift * t, np.asarray(y, float)
    decay = np.exp(-2 * viscosity * t)
    return Vortices(
        drift + np.cos(place) * np.sin(height) * decay,
        -np.sin(place) * np.cos(height) * decay,
        -(np.cos(2 * place) + np.cos(2 * height)) / 4 * decay**2,
    )


# ---- The heat equation: a Gaussian --------------------


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


# ---- The heat equation of the fractional Laplacian: the density of a symmetric α-stable variable --------------------

PANEL_NODES = 128
"""Gauss–Legendre nodes on each panel, of at most eight periods: sixteen a period, and more."""

DECAY_CUTOFF = 38.0
"""Frequencies whose factor lies below e^{−38} < 1e-16 add nothing in double precision."""


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


def fractional_heat_peak(t: float, alpha: float, *, diffusivity: float = 1.0) -> float:
    """Return u(t, 0) = Γ(1 + 1/α) / (π (Dt)^{1/α})."""
    return gamma(1 + 1 / alpha) / (pi * (diffusivity * t) ** (1 / alpha))


def _rule(alpha: float, farthest: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights on (0, ω_max), graded towards 0 where ω^α is not smooth: ω = ω_max s^4."""
    top = DECAY_CUTOFF ** (1 / alpha)
    # s^3 ≤ 1 lets dω/ds reach 4 ω_max: panels of at most eight periods there.
    panels = max(2, int(np.ceil(4 * top * farthest / (2 * pi) / 8)))
    nodes, weights = np.polynomial.legendre.leggauss(PANEL_NODES)
    edges = np.linspace(0, 1, panels + 1)
    half = np.diff(edges)[:, None] / 2
    s = (edges[:-1, None] + half * (nodes + 1)).ravel()
    return top * s**4, (half * weights).ravel() * 4 * top * s**3
