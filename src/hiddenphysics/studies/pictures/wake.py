"""The paper's figure 5: the vortex street with the sampled box, two snapshots of the velocity, the pressure found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics import datasets
from hiddenphysics.snapshots import Snapshots, read
from hiddenphysics.studies.pictures.canvas import INK, WIDTH, new_figure
from hiddenphysics.studies.pictures.field import posterior
from hiddenphysics.studies.runner import Outcome
from hiddenphysics.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DEEPEST = 3.0
"""Vorticity of the deepest colours."""
VIEW = ((-1.2, 8.0), (-2.1, 2.1))
RADIUS = 0.5


def street_figure(label: str, folder: Path | None) -> Figure:
    """Draw the vorticity of the whole run where it has been made, else at the points of the shipped extract."""
    if label == "cylinder":
        figure = datasets.plot_vorticity(datasets.path(label, folder=folder))
        figure.set_size_inches(WIDTH, 3.2)
        for collection in figure.axes[0].collections:
            collection.set_rasterized(True)
        return figure
    from matplotlib.patches import Circle, Rectangle

    snapshot = read(datasets.load(label, folder=folder)[["vorticity"]].isel(t=[0]))[0]
    figure = new_figure(3.6)
    axes = figure.add_subplot()
    colours: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -DEEPEST, "vmax": DEEPEST}
    image = axes.tripcolor(
        snapshot["x"], snapshot["y"], snapshot["vorticity"], shading="gouraud", rasterized=True, **colours
    )
    axes.add_patch(Circle((0, 0), RADIUS, color="0.6"))
    low, high = snapshot.points.min(axis=0), snapshot.points.max(axis=0)
    axes.add_patch(Rectangle(tuple(low), *(high - low), fill=False, linewidth=1.0, edgecolor=INK))
    axes.set(xlabel="x", ylabel="y", xlim=VIEW[0], ylim=VIEW[1], aspect="equal")
    axes.set_title(f"Vorticity at t = {snapshot.t:.6g}, inside the box that is sampled; the cylinder is grey")
    _bar(axes, image)
    return figure


def velocity_figure(outcome: Outcome, study: Study) -> Figure:
    """Draw both snapshots of the velocity with their points, and the pressure that nobody measured."""
    unit, curves = posterior(outcome, study, 0.0)
    pair = outcome.plan.draw(unit)
    hidden = [p for p in study.picture.hidden if p in curves]
    rows = len(study.fields) + len(hidden)
    figure = new_figure(2.5 * rows)
    grid = figure.add_gridspec(rows, 4)
    for row, field in enumerate(study.fields):
        _row(figure, [grid[row, :2], grid[row, 2:]], pair, field, curves.get(field))
    for row, field in enumerate(hidden, len(study.fields)):
        axes = figure.add_subplot(grid[row, 1:3])
        values = _map(curves[field][-1])
        values -= values.mean()
        reach = float(np.abs(values).max())
        _draw(axes, curves[field][-1], values, {"cmap": "PuOr_r", "vmin": -reach, "vmax": reach})
        axes.set_title(f"{field} at t = {curves[field][-1]['t']:.6g}: found, not measured")
    return figure


def _row(
    figure: Figure,
    places: Sequence[Any],
    pair: Snapshots,
    field: str,
    curves: Sequence[Mapping[str, Any]] | None,
) -> None:
    both = np.concatenate([s[field] for s in pair])
    colours: dict[str, Any] = {"cmap": "viridis", "vmin": float(both.min()), "vmax": float(both.max())}
    for column, (place, snapshot) in enumerate(zip(places, pair, strict=True)):
        axes = figure.add_subplot(place)
        if curves is None:
            image = axes.scatter(snapshot["x"], snapshot["y"], c=snapshot[field], s=9, **colours)
            _bar(axes, image)
        else:
            _draw(axes, curves[column], _map(curves[column]), colours)
            axes.plot(snapshot["x"], snapshot["y"], "x", color="black", markersize=2.8, markeredgewidth=0.7)
        axes.set(xlabel="x", ylabel="y", aspect="equal")
        axes.set_title(f"{field} at t = {snapshot.t:.6g}: {len(snapshot)} points")


def _map(curve: Mapping[str, Any]) -> np.ndarray:
    return np.asarray(curve["mean"]).reshape([len(a) for a in curve["axes"]])


def _draw(axes: Axes, curve: Mapping[str, Any], values: np.ndarray, colours: Mapping[str, Any]) -> None:
    x, y = curve["axes"]
    image = axes.pcolormesh(x, y, values.T, shading="gouraud", rasterized=True, **colours)
    axes.set(xlabel="x", ylabel="y", aspect="equal")
    _bar(axes, image)


def _bar(axes: Axes, image: Any) -> None:
    axes.figure.colorbar(image, ax=axes, pad=0.01, shrink=0.9).outline.set_visible(False)
