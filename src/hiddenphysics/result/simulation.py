"""Trajectories of what was found, beyond the snapshots it was found from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.result.fields import FlowFields

if TYPE_CHECKING:
    import xarray as xr

    from hiddenphysics.result.result import Result


def simulated(result: Result, times: np.ndarray, points: int, draws: int, seed: int) -> xr.Dataset:
    """Return the mean, or draws, of every field of the state on a grid; see `Result.simulate`."""
    import xarray as xr

    fields = result.fields
    if not isinstance(fields, FlowFields):
        raise ModelError(
            f"The model {result.model!r} knows the fields between its snapshots only; the flow model moves them on. "
            "Identify with model='flow'."
        )
    if times.size == 0 or np.any(np.diff(times) <= 0):
        raise ModelError(
            f"The times {times.tolist()} were given; at least one is needed, and they must increase."
        )
    axes = _axes(result, points)
    grid = np.stack([a.ravel() for a in np.meshgrid(*axes.values(), indexing="ij")], axis=1)
    shape = tuple(a.size for a in axes.values())
    fit = fields.fit
    values = fit.drawn(grid, times, draws, seed) if draws else fit.moved(grid, times)
    leading = ("draw", "t") if draws else ("t",)
    arrays = {
        name: ((*leading, *axes), values[..., row, :].reshape(*values.shape[:-2], *shape))
        for row, name in enumerate(fit.motion.state)
    }
    attributes = {"equation": result.identified(), "model": result.model, "status": str(result.status)}
    return xr.Dataset(arrays, {"t": times, **axes}, attributes)


def _axes(result: Result, points: int) -> dict[str, np.ndarray]:
    """Return equispaced points over the region of the data."""
    everything = np.concatenate([s.points for s in result.snapshots])
    sides = zip(everything.min(axis=0), everything.max(axis=0), strict=True)
    return {
        name: np.linspace(low, high, points)
        for name, (low, high) in zip(result.snapshots.coordinates, sides, strict=True)
    }
