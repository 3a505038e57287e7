"""Species of several fields, or of a complex one, on a line."""

from __future__ import annotations

import numpy as np

from benchmarks.zoo.species import LONG, ROUND, Species, pulse, still, wave

COMPLEX = (
    Species("schroedinger", "i*h_t + a*h_xx = 0", {"a": 0.5},
            {"h_re": pulse(0.0, 1.5), "h_im": still}, LONG, (0.0, 0.4), shape=128, seen=((-5.0, 5.0),)),
    Species("nonlinear_schroedinger", "i*h_t + a*h_xx + b*abs(h)^2*h = 0", {"a": 0.5, "b": 1.0},
            {"h_re": lambda x: 2 / np.cosh(x), "h_im": still}, LONG, (0.0, 0.2), shape=128, seen=((-5.0, 5.0),)),
    Species("trapped_schroedinger", "i*h_t + a*h_xx - b*cos(x)*h = 0", {"a": 0.5, "b": 1.0},
            {"h_re": wave(0.5, base=1.0), "h_im": still}, ROUND, (0.0, 0.4)),
    Species("ginzburg_landau", "h_t = h + h_xx - abs(h)^2*h + i*(a*h_xx - b*abs(h)^2*h)",
            {"a": 1.0, "b": -1.0}, {"h_re": wave(0.5, 0.3, base=0.5), "h_im": wave(0.3, 0.2)}, ROUND,
            (0.0, 0.3)),
)  # fmt: skip

REACTIONS = (
    Species("gray_scott", "u_t = D*u_xx - u*v^2 + F*(1 - u); v_t = 0.05*v_xx + u*v^2 - (F + k)*v",
            {"D": 0.1, "F": 0.04, "k": 0.06}, {"u": wave(0.3, base=0.6), "v": wave(0.15, 0.1, base=0.3)}, ROUND,
            (0.0, 1.0, 2.0)),
    Species("fitzhugh_nagumo", "u_t = D*u_xx + u - u^3 - v; v_t = e*(u - b*v)",
            {"D": 0.1, "e": 0.3, "b": 0.5}, {"u": wave(0.8, 0.3), "v": wave(0.3, 0.2)}, ROUND,
            (0.0, 0.4, 0.8)),
    Species("hidden_recovery", "u_t = D*u_xx + u - u^3 - v; v_t = e*(u - b*v)",
            {"D": 0.1, "e": 0.3, "b": 0.5}, {"u": wave(0.8, 0.3), "v": wave(0.3, 0.2)}, ROUND,
            (0.0, 1.0, 2.0, 3.0), measured=("u",)),
    Species("brusselator", "u_t = D*u_xx + A - (B + 1)*u + u^2*v; v_t = 0.1*v_xx + B*u - u^2*v",
            {"D": 0.1, "A": 1.0, "B": 2.0}, {"u": wave(0.3, base=1.0), "v": wave(0.2, 0.2, base=2.0)}, ROUND,
            (0.0, 0.3)),
    Species("schnakenberg", "u_t = 0.1*u_xx + g*(0.1 - u + u^2*v); v_t = D*v_xx + g*(0.9 - u^2*v)",
            {"g": 1.0, "D": 0.5}, {"u": wave(0.3, base=1.0), "v": wave(0.2, base=0.9)}, ROUND, (0.0, 0.4)),
    Species("predators", "u_t = D*u_xx + u*(1 - u) - a*u*v; v_t = D*v_xx + a*u*v - m*v",
            {"D": 0.1, "a": 2.0, "m": 0.5}, {"u": wave(0.2, base=0.6), "v": wave(0.1, 0.1, base=0.4)}, ROUND,
            (0.0, 0.5)),
    Species("epidemic", "s_t = -b*s*w; w_t = D*w_xx + b*s*w - g*w", {"b": 1.5, "D": 0.1, "g": 0.5},
            {"s": wave(0.1, base=0.8), "w": wave(0.1, 0.05, base=0.2)}, ROUND, (0.0, 0.5)),
    Species("keller_segel", "u_t = D*u_xx - chi*d(u*v_x, x); v_t = 0.2*v_xx + u - v", {"D": 0.2, "chi": 0.5},
            {"u": wave(0.4, 0.2, base=1.0), "v": wave(0.3, base=1.0, shift=1.0)}, ROUND, (0.0, 0.4)),
)  # fmt: skip

CARRIERS = (
    Species("shallow_water", "h_t + d(h*u, x) = 0; u_t + u*u_x + g*h_x = nu*u_xx", {"g": 1.0, "nu": 0.1},
            {"h": wave(0.2, base=1.0), "u": wave(0.1, 0.1)}, ROUND, (0.0, 0.4)),
    Species("maxwell", "E_t = c*B_x; B_t = c*E_x", {"c": 1.0}, {"E": wave(1.0, 0.4), "B": wave(0.3, 0.5)},
            ROUND, (0.0, 0.4)),
    Species("sound", "p_t + k*v_x = 0; v_t + r*p_x = 0", {"k": 1.5, "r": 0.8},
            {"p": wave(1.0, 0.4), "v": wave(0.3, 0.3)}, ROUND, (0.0, 0.4)),
    Species("coupled_burgers", "u_t + a*u*u_x = b*u_xx - d(u*v, x); v_t + a*v*v_x = b*v_xx - d(u*v, x)",
            {"a": 1.0, "b": 0.15}, {"u": wave(0.6, 0.2), "v": wave(0.3, 0.3)}, ROUND, (0.0, 0.3)),
)  # fmt: skip

SYSTEMS = (*COMPLEX, *REACTIONS, *CARRIERS)
