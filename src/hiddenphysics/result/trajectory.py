"""Trajectories of what was learned, beyond the snapshots it was learned from, and their picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.result.pictures import BLUE, ORANGE, load_figure_class

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hiddenphysics.result.result import Result


def simulated(result: Result, times: np.ndarray, points: int, draws: int, seed: int) -> xr.Dataset:
    """Return the mean, or draws, of every field of the state on a grid; see `Result.simulate`."""
    import xarray as xr

    if times.size == 0 or np.any(np.diff(times) <= 0):
        raise ModelError(
            f"The times {times.tolist()} were given; at least one is needed, and they must increase."
        )
    axes = grid_axes(result, points)
    grid = np.stack([a.ravel() for a in np.meshgrid(*axes.values(), indexing="ij")], axis=1)
    shape = tuple(a.size for a in axes.values())
    leading = ("draw", "t") if draws else ("t",)
    fields = {
        name: ((*leading, *axes), values.reshape(*values.shape[:-1], *shape))
        for name, values in result.move(grid, times, draws, seed).items()
    }
    attributes = {"equation": result.identified(), "model": result.model, "status": str(result.status)}
    return xr.Dataset(fields, {"t": times, **axes}, attributes)


def grid_axes(result: Result, points: int) -> dict[str, np.ndarray]:
    """Return equispaced points over the region of the data."""
    everything = np.concatenate([s.points for s in result.snapshots])
    sides = zip(everything.min(axis=0), everything.max(axis=0), strict=True)
    return {
        name: np.linspace(low, high, points)
        for name, (low, high) in zip(result.snapshots.coordinates, sides, strict=True)
    }


def plot_trajectory(result: Result, trajectory: xr.Dataset) -> Figure:
    """Draw every field of a trajectory: over (t, x) with the snapshots marked, and at the last time with its spread.

    In two dimensions the last state is drawn as a map.
    """
    names = [str(n) for n in trajectory.data_vars]
    flat = len(result.snapshots.coordinates) == 1
    columns = 2 if flat else 1
    figure: Figure = load_figure_class().Figure(
        figsize=(5.2 * columns, 3.2 * len(names)), layout="constrained"
    )
    axes = figure.subplots(len(names), columns, squeeze=False)
    for row, name in enumerate(names):
        if flat:
            _over_time(result, trajectory, name, axes[row, 0])
            _at_the_end(result, trajectory, name, axes[row, 1])
        else:
            _map_at_the_end(trajectory, name, axes[row, 0])
    figure.suptitle(result.identified(), family="monospace", fontsize="medium")
    return figure


def _mean(trajectory: xr.Dataset, name: str) -> xr.DataArray:
    field = trajectory[name]
    return field.mean("draw") if "draw" in field.dims else field


def _over_time(result: Result, trajectory: xr.Dataset, name: str, axes: Axes) -> None:
    mean = _mean(trajectory, name)
    t, x = trajectory["t"].to_numpy(), trajectory["x"].to_numpy()
    image = axes.pcolormesh(t, x, mean.to_numpy().T, cmap="viridis", shading="nearest", rasterized=True)
    for time in result.snapshots.times:
        axes.axvline(time, color="white", linewidth=1.2)
    axes.set(xlabel="t", ylabel="x", title=f"{name}(t, x); white lines: the snapshots")
    axes.figure.colorbar(image, ax=axes, pad=0.01)


def _at_the_end(result: Result, trajectory: xr.Dataset, name: str, axes: Axes) -> None:
    x, last = trajectory["x"].to_numpy(), trajectory[name].isel(t=-1)
    end, drawn = float(trajectory["t"][-1]), "draw" in last.dims
    if drawn:
        axes.plot(x, last.to_numpy().T, color=ORANGE, linewidth=0.7, alpha=0.6)
    else:
        mean, std = result.predict(name, x, t=end)
        axes.fill_between(x, mean - 1.96 * std, mean + 1.96 * std, color=BLUE, alpha=0.25, linewidth=0)
    axes.plot(x, _mean(trajectory, name).isel(t=-1).to_numpy(), color=BLUE, linewidth=1.6)
    title = f"{name} at t = {end:g}, with {'draws' if drawn else 'its 95 % band'}"
    axes.set(xlabel="x", ylabel=name, title=title)


def _map_at_the_end(trajectory: xr.Dataset, name: str, axes: Axes) -> None:
    mean = _mean(trajectory, name).isel(t=-1).to_numpy()
    x, y = trajectory["x"].to_numpy(), trajectory["y"].to_numpy()
    image = axes.pcolormesh(x, y, mean.T, cmap="viridis", shading="nearest", rasterized=True)
    axes.set(xlabel="x", ylabel="y", aspect="equal", title=f"{name} at t = {float(trajectory['t'][-1]):g}")
    axes.figure.colorbar(image, ax=axes, pad=0.01)
