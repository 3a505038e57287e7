"""Recipes of fields on periodic boxes, moved by the spectral simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.datasets.entry import Progress
from hiddenphysics.datasets.recipe import Recipe

if TYPE_CHECKING:
    import xarray as xr

Formula = tuple[str, Callable[..., Any]]


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
        from hiddenphysics.simulate.spectral import simulate  # starts JAX: only when a data set is made

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
