"""Densities of displacements of a random walker, from histograms: the paper's two fractional examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.datasets.entry import Progress
from hiddenphysics.datasets.recipe import Recipe
from hiddenphysics.simulate.random_motion import brownian_path, displacement_density, levy_path

if TYPE_CHECKING:
    import xarray as xr

STEPS, DT, SEED = 1_000_000, 0.01, 0
ALPHA = sqrt(2)


def _histograms(
    summary: str,
    equation: str,
    truth: Mapping[str, float],
    path: Callable[[], NDArray[np.float64]],
    window: float,
) -> Recipe:
    def build(progress: Progress) -> xr.Dataset:
        found = displacement_density(path(), DT, window=window)
        progress(1.0)
        return found

    settings = {
        "steps": STEPS,
        "dt": DT,
        "seed": SEED,
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
    lambda: brownian_path(STEPS, DT, SEED),
    window=0.5,
)

LEVY = _histograms(
    "Histograms of displacements of a symmetric stable Lévy motion at five lags, with their sampling errors.",
    "u_t + frac_lap(u, alpha) = 0",
    {"alpha": ALPHA},
    lambda: levy_path(STEPS, DT, ALPHA, SEED),
    window=0.35,
)
