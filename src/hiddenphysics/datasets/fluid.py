"""Taylor and Green's vortices, from the exact solution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hiddenphysics.datasets.entry import Progress
from hiddenphysics.datasets.recipe import Recipe
from hiddenphysics.simulate.exact import taylor_green

if TYPE_CHECKING:
    import xarray as xr

VISCOSITY, DRIFT = 0.05, 0.5
POINTS, END, INTERVALS = 32, 2.0, 20


def _build(progress: Progress) -> xr.Dataset:
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
    _build,
)
