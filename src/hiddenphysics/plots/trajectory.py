"""The picture of a trajectory: where the fields go after the snapshots they were learned from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hiddenphysics.plots.library import load_figure_class
from hiddenphysics.plots.panels import BLUE, ORANGE

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hiddenphysics.result import Result


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
