"""Fields on periodic boxes: the paper's four equations, and four beyond it.

All but the last are moved by the spectral simulator; Taylor and Green's vortices are an exact solution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.datasets.recipe import Progress, Recipe
from hiddenphysics.simulate.exact import breather, gaussian_pulse, soliton, taylor_green

if TYPE_CHECKING:
    import xarray as xr

Formula = tuple[str, Callable[..., Any]]
"""A function of the coordinates, as text and as code."""


def periodic(
    summary: str,
    equation: str,
    truth: Mapping[str, float],
    *,
    initial: Mapping[str, Formula],
    box: Mapping[str, tuple[float, float]],
    shape: int,
    end: float,
    intervals: int,
    tolerance: float,
) -> Recipe:
    """Return the recipe of a run from t = 0 to `end`.

    Parameters
    ----------
    initial
        Field -> its formula as text, which enters the recipe's hash, and as a function of the coordinates.
    box, shape
        Coordinate -> (low, high); points along each side.
    end, intervals
        The last time, and how many equal intervals lead to it.
    """

    def build(progress: Progress) -> xr.Dataset:
        from hiddenphysics.simulate import simulate  # starts JAX: only when a data set is made

        return simulate(
            equation,
            {name: function for name, (_, function) in initial.items()},
            box=box,
            shape=shape,
            times=np.linspace(0, end, intervals + 1),
            parameters=truth,
            tolerance=tolerance,
            progress=progress,
        )

    settings = {
        "initial": {name: text for name, (text, _) in initial.items()},
        "box": {name: list(ends) for name, ends in box.items()},
        "shape": shape,
        "end": end,
        "intervals": intervals,
        "tolerance": tolerance,
    }
    return Recipe(summary, equation, truth, settings, build)


# ---- The four recordings of the paper: same grids, times and initial states --------------------

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

SPACING = pi / 32
"""Of Kuramoto and Sivashinsky's recording, whose grid begins one point inside the period [0, 32π]."""

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


# ---- Beyond the paper: an unknown inside a function, second order in time, a system in the plane --------------------

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


# ---- Beyond the paper: velocities and pressure of a fluid --------------------

VISCOSITY, DRIFT = 0.05, 0.5
POINTS, END, INTERVALS = 32, 2.0, 20


def _vortices(progress: Progress) -> xr.Dataset:
    import xarray as xr

    axis = 2 * np.pi * np.arange(POINTS) / POINTS
    x, y = np.meshgrid(axis, axis, indexing="ij")
    times = np.linspace(0, END, INTERVALS + 1)
    flow = [taylor_green(t, x, y, VISCOSITY, drift=DRIFT) for t in times]
    progress(1.0)
    fields = {name: (("t", "x", "y"), np.stack([getattr(f, name) for f in flow])) for name in "uvp"}
    return xr.Dataset(fields, {"t": times, "x": axis, "y": axis})


TAYLOR_GREEN = Recipe(
    "Decaying vortices carried along by a uniform stream; velocities and pressure (Taylor & Green 1937).",
    "u_t + a*(u*u_x + v*u_y) + p_x - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) + p_y - b*lap(v) = 0;"
    " u = psi_y; v = -psi_x",
    {"a": 1.0, "b": VISCOSITY},
    {"drift": DRIFT, "points": POINTS, "end": END, "intervals": INTERVALS, "period": "2*pi"},
    _vortices,
)
