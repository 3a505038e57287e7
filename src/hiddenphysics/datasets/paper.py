"""The four recordings of the paper, from formulas: same grids, times and initial states."""

from __future__ import annotations

from math import pi

import numpy as np

from hiddenphysics.datasets.periodic import periodic
from hiddenphysics.simulate.exact import gaussian_pulse, soliton

BURGERS = periodic(
    "A Gaussian pulse that steepens into a travelling front (Rudy et al. 2017).",
    "u_t + a*u*u_x - b*u_xx = 0",
    {"a": 1.0, "b": 0.1},
    initial={"u": ("exp(-(x + 2)^2)", gaussian_pulse)},
    box={"x": (-8.0, 8.0)},
    shape=256,
    end=10.0,
    intervals=100,
    tolerance=1e-8,
)

KDV = periodic(
    "Two solitons, the faster one behind the slower one (Rudy et al. 2017).",
    "u_t + a*u*u_x + b*u_xxx = 0",
    {"a": 6.0, "b": 1.0},
    initial={
        "u": (
            "sech((x + 20)/2)^2/2 + sech((x - 5)/sqrt(8))^2/4",
            lambda x: soliton(0.0, x, speed=1.0, centre=-20.0) + soliton(0.0, x, speed=0.5, centre=5.0),
        )
    },
    box={"x": (-30.0, 30.0)},
    shape=512,
    end=20.0,
    intervals=200,
    # The box cuts the left soliton's tail at 1e-4: ripples of all wavelengths run from there, and a digit more
    # would cost a hundred times as many steps.
    tolerance=5e-5,
)

SPACING = pi / 32  # the recording's grid begins one point inside the period [0, 32π]

KURAMOTO_SIVASHINSKY = periodic(
    "Long waves that break up into chaos (Kassam & Trefethen 2005; Rudy et al. 2017).",
    "u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0",
    {"a": 1.0, "b": 1.0, "c": 1.0},
    initial={"u": ("cos(x/16)*(1 + sin(x/16))", lambda x: np.cos(x / 16) * (1 + np.sin(x / 16)))},
    box={"x": (SPACING, 32 * pi + SPACING)},
    shape=1024,
    end=100.0,
    intervals=250,
    tolerance=1e-7,
)

SCHRODINGER = periodic(
    "Two bright solitons on one spot, which breathe (Raissi et al. 2018).",
    "i*h_t + a*h_xx + b*abs(h)^2*h = 0",
    {"a": 0.5, "b": 1.0},
    initial={"h": ("2*sech(x)", lambda x: 2 / np.cosh(x))},
    box={"x": (-5.0, 5.0)},
    shape=512,
    end=pi,
    intervals=500,
    tolerance=1e-5,
)
