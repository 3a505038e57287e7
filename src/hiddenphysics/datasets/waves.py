"""Equations beyond the paper: unknowns inside a function, second order in time, a system in two dimensions."""

from __future__ import annotations

import numpy as np

from hiddenphysics.datasets.periodic import periodic
from hiddenphysics.simulate.exact import breather

SINE_GORDON = periodic(
    "A breather; the unknown a stands inside a sine, and the equation is of second order in time.",
    "u_tt - u_xx + b*sin(a*u) = 0",
    {"a": 1.0, "b": 1.0},
    initial={
        "u": ("4*arctan(sqrt(3)/cosh(sqrt(3)/2*x))", lambda x: breather(0.0, x, frequency=0.5)),
        "u_t": ("0", np.zeros_like),
    },
    box={"x": (-20.0, 20.0)},
    shape=256,
    end=20.0,
    intervals=200,
    tolerance=1e-8,
)

ALLEN_CAHN = periodic(
    "Two phases that separate, with thin walls between them (Allen & Cahn 1979).",
    "u_t - a*u_xx + b*u^3 - c*u = 0",
    {"a": 1e-3, "b": 5.0, "c": 5.0},
    initial={
        "u": (
            "0.6*sin(pi*x) + 0.3*cos(3*pi*x)",
            lambda x: 0.6 * np.sin(np.pi * x) + 0.3 * np.cos(3 * np.pi * x),
        )
    },
    box={"x": (-1.0, 1.0)},
    shape=512,
    end=2.0,
    intervals=100,
    tolerance=1e-8,
)

REACTION_DIFFUSION = periodic(
    "Four rotating spirals of a λ–ω system (Kopell & Howard 1973; Rudy et al. 2017 show one).",
    "u_t = a*lap(u) + (1 - u^2 - v^2)*u + b*(u^2 + v^2)*v;"
    " v_t = a*lap(v) - b*(u^2 + v^2)*u + (1 - u^2 - v^2)*v",
    {"a": 0.1, "b": 1.0},
    initial={
        "u": ("sin(pi*x/10)", lambda x, y: np.sin(np.pi * x / 10) + 0 * y),
        "v": ("sin(pi*y/10)", lambda x, y: np.sin(np.pi * y / 10) + 0 * x),
    },
    box={"x": (-10.0, 10.0), "y": (-10.0, 10.0)},
    shape=96,
    end=10.0,
    intervals=50,
    tolerance=1e-6,
)
