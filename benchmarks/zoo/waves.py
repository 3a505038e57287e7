"""Species of second order in time."""

from __future__ import annotations

import numpy as np

from benchmarks.zoo.species import ROUND, Species, still, wave

THREE = (0.0, 0.2, 0.4)

WAVES = (
    Species("wave", "u_tt = c*u_xx", {"c": 1.0}, {"u": wave(1.0, 0.5), "u_t": still}, ROUND, THREE,
            wrong="u_tt = -m*u"),
    Species("telegraph", "u_tt + g*u_t = c*u_xx", {"g": 0.5, "c": 1.0}, {"u": wave(1.0, 0.5), "u_t": still},
            ROUND, (0.0, 0.3, 0.6, 0.9)),
    Species("beam", "u_tt + k*u_xxxx = 0", {"k": 0.2}, {"u": wave(1.0, 0.4), "u_t": still}, ROUND, THREE),
    Species("klein_gordon", "u_tt = c*u_xx - m*u", {"c": 1.0, "m": 1.0}, {"u": wave(1.0, 0.5), "u_t": still},
            ROUND, THREE),
    Species("sine_gordon", "u_tt = c*u_xx - m*sin(u)", {"c": 1.0, "m": 1.0},
            {"u": wave(2.0, 0.5), "u_t": still}, ROUND, THREE),
    Species("phi_four", "u_tt = c*u_xx + m*(u - u^3)", {"c": 1.0, "m": 1.0},
            {"u": wave(0.8, 0.3), "u_t": still}, ROUND, THREE),
    Species("boussinesq", "u_tt = c*u_xx + a*lap(u^2) - b*u_xxxx", {"c": 1.0, "a": 0.5, "b": 0.1},
            {"u": wave(0.6, 0.3), "u_t": still}, ROUND, (0.0, 0.2, 0.4, 0.6)),
    Species("driven_string", "u_tt = c*u_xx + f*sin(x)*cos(2*t)", {"c": 1.0, "f": 1.0},
            {"u": wave(0.5, 0.5), "u_t": still}, ROUND, (0.0, 0.3, 0.6, 0.9)),
    Species("wave_with_velocity", "u_tt = c*u_xx - m*u", {"c": 1.0, "m": 0.5},
            {"u": wave(1.0, 0.5), "u_t": lambda x: np.cos(x)}, ROUND, (0.0, 0.3), measured=("u", "u_t")),
)  # fmt: skip
