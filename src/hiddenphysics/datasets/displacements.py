"""Densities of displacements of a random walker, from histograms: the paper's two fractional examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.datasets.recipe import Progress, Recipe
from hiddenphysics.simulate.random_motion import brownian_path, displacement_density, levy_path

if TYPE_CHECKING:
    import xarray as xr

WALK_STEPS, WALK_DT, WALK_SEED = 1_000_000, 0.01, 0
"""One long path: so many steps, of this length in time, from this seed."""

LEVY_ALPHA = sqrt(2)
"""Order of the stable motion."""


def _histograms(
    summary: str,
    equation: str,
    truth: Mapping[str, float],
    path: Callable[[], NDArray[np.float64]],
    window: float,
) -> Recipe:
    def build(progress: Progress) -> xr.Dataset:
        histograms = displacement_density(path(), WALK_DT, window=window)
        progress(1.0)
        return histograms

    settings = {
        "steps": WALK_STEPS,
        "dt": WALK_DT,
        "seed": WALK_SEED,
        "lags": [1, 2, 3, 4, 5],
        "bins": 100,
        "window": window,
        "overlapping": False,
    }
    return Recipe(summary, equation, truth, settings, build)


BROWNIAN = _histograms(
    "Histograms of displacements of a Brownian motion at five lags, with their sampling errors.",
    "u_t - D*u_xx = 0",
    {"D": 0.5},
    lambda: brownian_path(WALK_STEPS, WALK_DT, WALK_SEED),
    window=0.5,
)

LEVY = _histograms(
    "Histograms of displacements of a symmetric stable Lévy motion at five lags, with their sampling errors.",
    "u_t + frac_lap(u, alpha) = 0",
    {"alpha": LEVY_ALPHA},
    lambda: levy_path(WALK_STEPS, WALK_DT, LEVY_ALPHA, WALK_SEED),
    window=0.35,
)
