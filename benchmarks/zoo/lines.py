"""Species of one field on a line, of first order in time."""

from __future__ import annotations

import numpy as np

from benchmarks.zoo.species import LONG, ROUND, Species, pulse, wave


def _bbm(u: np.ndarray, k: np.ndarray) -> np.ndarray:
    """u_t + u_x + u u_x − u_xxt = 0."""
    waves = np.fft.fft(u + 0.5 * u**2)
    return np.fft.ifft(-1j * k * waves / (1 + k**2)).real


def _camassa_holm(u: np.ndarray, k: np.ndarray) -> np.ndarray:
    """u_t − u_xxt + 3 u u_x − 2 u_x u_xx − u u_xxx = 0, as u_t + u u_x + ∂_x (1 − ∂_x²)⁻¹ (u² + u_x²/2) = 0."""
    u_x = np.fft.ifft(1j * k * np.fft.fft(u)).real
    pressure = np.fft.fft(u**2 + 0.5 * u_x**2) / (1 + k**2)
    return -u * u_x - np.fft.ifft(1j * k * pressure).real


DIFFUSION = (
    Species("heat", "u_t = D*u_xx", {"D": 0.2}, {"u": wave(1.0, 0.5, 0.3)}, ROUND, (0.0, 0.5),
            wrong="u_t = -k*u", units={"D": (2, 0, -1)}),
    Species("decay", "u_t = -k*u", {"k": 0.7}, {"u": wave(1.0, 0.5, base=2.0)}, ROUND, (0.0, 0.5)),
    Species("diffusion_with_decay", "u_t = D*u_xx - k*u", {"D": 0.1, "k": 0.5},
            {"u": wave(1.0, 0.5, 0.3, base=1.0)}, ROUND, (0.0, 0.4, 0.8), wrong="u_t = D*u_xx"),
    Species("hyperdiffusion", "u_t = -k*u_xxxx", {"k": 0.05}, {"u": wave(1.0, 0.6, 0.3)}, ROUND, (0.0, 0.4),
            shape=24),
    Species("porous_medium", "u_t = k*lap(u^2)", {"k": 0.1}, {"u": wave(0.5, 0.3, base=1.5)}, ROUND,
            (0.0, 0.5), wrong="u_t = k*lap(u)"),
    Species("porous_flux", "u_t - d(a*u*u_x, x) = 0", {"a": 0.3}, {"u": wave(0.5, 0.3, base=1.5)}, ROUND,
            (0.0, 0.5)),
    Species("unknown_exponent", "u_t = d(D*u^n*u_x, x); n > 0", {"D": 0.2, "n": 1.5},
            {"u": wave(0.7, 0.3, base=1.5)}, ROUND, (0.0, 0.3, 0.6)),
    Species("fast_diffusion", "u_t = D*d(u_x/u, x)", {"D": 0.3}, {"u": wave(0.4, 0.3, base=1.5)}, ROUND,
            (0.0, 0.4)),
    Species("thin_film", "u_t = -a*d(u^3*u_xxx, x)", {"a": 0.05}, {"u": wave(0.3, 0.2, base=1.0)}, ROUND,
            (0.0, 0.5), shape=32),
    Species("diffusion_in_layers", "u_t = d(D*(1 + 0.5*sin(x))*u_x, x)", {"D": 0.2},
            {"u": wave(1.0, 0.5, 0.3)}, ROUND, (0.0, 0.5)),
    Species("forced_heat", "u_t = D*u_xx + f*sin(2*x)*cos(t)", {"D": 0.1, "f": 0.8}, {"u": wave(1.0, 0.5)},
            ROUND, (0.0, 0.4, 0.8)),
    Species("ornstein_uhlenbeck", "u_t = d(k*x*u, x) + D*u_xx", {"k": 0.5, "D": 0.3}, {"u": pulse(2.0, 1.2)},
            LONG, (0.0, 0.5), shape=128, seen=((-5.0, 5.0),)),
    Species("fractional_heat", "u_t = -D*frac_lap(u, 1.5)", {"D": 0.3}, {"u": pulse(0.0, 1.0)}, LONG,
            (0.0, 0.5), shape=128, seen=((-5.0, 5.0),)),
    Species("unknown_order", "u_t = -D*frac_lap(u, alpha)", {"D": 0.3, "alpha": 1.4}, {"u": pulse(0.0, 1.0)},
            LONG, (0.0, 0.5, 1.0), shape=128, seen=((-5.0, 5.0),)),
    Species("one_sided_order", "u_t = c*D(u, x, 1.6)", {"c": 0.3}, {"u": pulse(0.0, 1.0)}, LONG, (0.0, 0.4),
            shape=128, seen=((-5.0, 5.0),)),
)  # fmt: skip

FRONTS = (
    Species("fisher", "u_t = D*u_xx + r*u*(1 - u)", {"D": 0.1, "r": 1.0}, {"u": pulse(0.0, 1.0, 0.8)}, LONG,
            (0.0, 0.6), shape=128, seen=((-5.0, 5.0),), wrong="u_t = D*u_xx"),
    Species("allen_cahn", "u_t = D*u_xx + b*(u - u^3)", {"D": 0.05, "b": 2.0}, {"u": wave(0.5, 0.4)}, ROUND,
            (0.0, 0.5), wrong="u_t = D*u_xx"),
    Species("nagumo", "u_t = D*u_xx + r*u*(1 - u)*(u - 0.3)", {"D": 0.1, "r": 3.0}, {"u": wave(0.4, base=0.5)},
            ROUND, (0.0, 0.6)),
    Species("zeldovich", "u_t = D*u_xx + r*u^2*(1 - u)", {"D": 0.1, "r": 2.0}, {"u": wave(0.4, base=0.5)},
            ROUND, (0.0, 0.5)),
    Species("logistic", "u_t = r*u*(1 - u)", {"r": 1.5}, {"u": wave(0.3, base=0.5)}, ROUND, (0.0, 0.5)),
    Species("ignition", "u_t = D*u_xx + b*exp(u)", {"D": 0.2, "b": 0.3}, {"u": wave(0.8, 0.4)}, ROUND,
            (0.0, 0.5)),
    Species("swift_hohenberg", "u_t = r*u - (u + 2*u_xx + u_xxxx) - g*u^3", {"r": 0.5, "g": 1.0},
            {"u": wave(0.6, 0.3, 0.1)}, ROUND, (0.0, 0.4), shape=24),
    Species("cahn_hilliard", "u_t = D*lap(u^3 - u) - g*u_xxxx", {"D": 0.3, "g": 0.05},
            {"u": wave(0.5, 0.4)}, ROUND, (0.0, 0.3), shape=48),
    Species("kuramoto_sivashinsky", "u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0", {"a": 1.0, "b": 1.0, "c": 1.0},
            {"u": lambda x: np.cos(x / 4) * (1 + np.sin(x / 4))}, ((0.0, 8 * np.pi),), (0.0, 1.0), shape=64, points=100,
            wrong="u_t + a*u*u_x - b*u_xx = 0"),
    Species("growing_interface", "u_t = nu*u_xx + l*u_x^2", {"nu": 0.2, "l": 0.5}, {"u": wave(1.0, 0.5)},
            ROUND, (0.0, 0.4)),
    Species("flame_front", "u_t + a*u_x^2 - b*u_xx - c*frac_lap(u, 1) = 0", {"a": 0.5, "b": 0.3, "c": 0.2},
            {"u": wave(1.0, 0.5)}, ROUND, (0.0, 0.4)),
)  # fmt: skip

TRANSPORT = (
    Species("advection", "u_t + c*u_x = 0", {"c": 1.0}, {"u": wave(1.0, 0.5, 0.3)}, ROUND, (0.0, 0.4)),
    Species("advection_diffusion", "u_t + c*u_x = D*u_xx", {"c": 1.0, "D": 0.1}, {"u": wave(1.0, 0.5, 0.3)},
            ROUND, (0.0, 0.4)),
    Species("known_wind", "u_t + c*(1 + 0.5*cos(x))*u_x = 0", {"c": 1.0}, {"u": wave(1.0, 0.5)}, ROUND,
            (0.0, 0.4)),
    Species("burgers", "u_t + a*u*u_x - b*u_xx = 0", {"a": 1.0, "b": 0.1}, {"u": wave(1.0, 0.4)}, ROUND,
            (0.0, 0.5), wrong="u_t + c*u_x - b*u_xx = 0", units={"a": (1, -1, -1), "b": (2, 0, -1)}),
    Species("inviscid_burgers", "u_t + a*u*u_x = 0", {"a": 1.0}, {"u": wave(0.8, 0.3)}, ROUND, (0.0, 0.3)),
    Species("conserved_burgers", "u_t + d(a*u^2/2, x) = b*u_xx", {"a": 1.0, "b": 0.1}, {"u": wave(1.0, 0.4)},
            ROUND, (0.0, 0.5)),
    Species("moving_burgers", "u_t + a*u*u_x - b*u_xx = 0", {"a": 1.0, "b": 0.1}, {"u": wave(1.0, base=50.0)},
            ROUND, (0.0, 0.02)),
    Species("traffic", "u_t + d(v*u*(1 - u), x) = D*u_xx", {"v": 1.0, "D": 0.1}, {"u": wave(0.3, base=0.4)},
            ROUND, (0.0, 0.5)),
    Species("oil_and_water", "u_t + d(a*u^2/(u^2 + 0.5*(1 - u)^2), x) = D*u_xx", {"a": 0.5, "D": 0.1},
            {"u": wave(0.3, base=0.5)}, ROUND, (0.0, 0.4)),
    Species("airy", "u_t + b*u_xxx = 0", {"b": 0.1}, {"u": wave(1.0, 0.6, 0.3)}, ROUND, (0.0, 0.4)),
    Species("kdv", "u_t + a*u*u_x + b*u_xxx = 0", {"a": 6.0, "b": 1.0},
            {"u": lambda x: 2.0 / np.cosh(x + 2) ** 2}, LONG, (0.0, 0.1), shape=160, seen=((-8.0, 8.0),),
            points=80, wrong="u_t + a*u*u_x - b*u_xx = 0",
            units={"a": (1, -1, -1), "b": (3, 0, -1)}),
    Species("modified_kdv", "u_t + a*u^2*u_x + b*u_xxx = 0", {"a": 6.0, "b": 1.0},
            {"u": lambda x: 1.0 / np.cosh(x + 2)}, LONG, (0.0, 0.2), shape=160, seen=((-8.0, 8.0),), points=80),
    Species("gardner", "u_t + a*u*u_x + c*u^2*u_x + b*u_xxx = 0", {"a": 3.0, "c": 2.0, "b": 0.5},
            {"u": pulse(0.0, 1.5)}, LONG, (0.0, 0.15), shape=160, seen=((-8.0, 8.0),), points=80),
    Species("kdv_burgers", "u_t + a*u*u_x - b*u_xx + c*u_xxx = 0", {"a": 1.0, "b": 0.1, "c": 0.1},
            {"u": wave(1.0, 0.4)}, ROUND, (0.0, 0.5)),
    Species("kawahara", "u_t + a*u*u_x + b*u_xxx - c*u_xxxxx = 0", {"a": 1.0, "b": 0.1, "c": 0.01},
            {"u": wave(1.0, 0.5, 0.2)}, ROUND, (0.0, 0.4), shape=48),
    Species("fractional_burgers", "u_t + a*u*u_x + b*frac_lap(u, 1.5) = 0", {"a": 1.0, "b": 0.15},
            {"u": wave(1.0, 0.4)}, ROUND, (0.0, 0.5)),
    Species("bbm", "u_t + c*u_x + a*u*u_x - u_xxt = 0", {"c": 1.0, "a": 1.0}, {"u": wave(0.5, 0.3)}, ROUND,
            (0.0, 0.5), rates=_bbm),
    Species("camassa_holm", "u_t - u_xxt + a*u*u_x - b*u_x*u_xx - c*u*u_xxx = 0", {"a": 3.0, "b": 2.0, "c": 1.0},
            {"u": wave(0.3, 0.1, base=0.6)}, ROUND, (0.0, 0.5), rates=_camassa_holm),
)  # fmt: skip

LINES = (*DIFFUSION, *FRONTS, *TRANSPORT)
