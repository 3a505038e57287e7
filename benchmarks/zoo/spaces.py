"""Species in two and three dimensions."""

from __future__ import annotations

import numpy as np

from benchmarks.zoo.species import PLANE, Species, hills, still

SPACES = (
    Species("heat_in_a_plane", "u_t = D*lap(u)", {"D": 0.2}, {"u": hills()}, PLANE, (0.0, 0.4), shape=32,
            points=120),
    Species("wood", "u_t = a*u_xx + b*u_yy", {"a": 0.3, "b": 0.1}, {"u": hills()}, PLANE, (0.0, 0.4), shape=32,
            points=120),
    Species("plume", "u_t + a*u_x + b*u_y = D*lap(u)", {"a": 1.0, "b": -0.5, "D": 0.1}, {"u": hills()}, PLANE,
            (0.0, 0.3), shape=32, points=120),
    Species("fisher_in_a_plane", "u_t = D*lap(u) + r*u*(1 - u)", {"D": 0.1, "r": 1.0}, {"u": hills(0.7, 0.2)},
            PLANE, (0.0, 0.4), shape=32, points=120),
    Species("burgers_in_a_plane",
            "u_t + a*(u*u_x + v*u_y) = b*lap(u); v_t + a*(u*v_x + v*v_y) = b*lap(v)", {"a": 1.0, "b": 0.2},
            {"u": hills(), "v": hills(turn=1.0)}, PLANE, (0.0, 0.3), shape=32, points=120),
    Species("drum", "u_tt = c*lap(u)", {"c": 1.0}, {"u": hills(), "u_t": still}, PLANE, (0.0, 0.2, 0.4),
            shape=32, points=120),
    Species("porous_plane", "u_t = k*lap(u^2)", {"k": 0.1}, {"u": hills(0.6, 1.0)}, PLANE, (0.0, 0.4), shape=32,
            points=120),
    Species("heat_in_space", "u_t = D*lap(u)", {"D": 0.2},
            {"u": lambda x, y, z: np.exp(np.cos(x) + np.cos(y) + np.cos(z) - 3)}, (*PLANE, (-np.pi, np.pi)),
            (0.0, 0.3), shape=12, points=150),
)  # fmt: skip
