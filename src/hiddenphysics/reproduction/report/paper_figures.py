"""The paper's seven figures, drawn again.

Figures 1 to 4 show a field in one dimension with its two snapshots marked, then the snapshots with their points and
bands. Figure 5 shows the vortex street with the sampled box, two snapshots of the velocity, and the pressure that was
identified with it. Figures 6 and 7 show a path of the particle and two histograms of its displacements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics import datasets
from hiddenphysics.datasets import LEVY_ALPHA, WALK_DT, WALK_SEED, WALK_STEPS
from hiddenphysics.reproduction.fit_plan import Unit
from hiddenphysics.reproduction.report.canvas import BLUE, INK, ORANGE, WIDTH, new_figure
from hiddenphysics.reproduction.runner import Outcome
from hiddenphysics.reproduction.study import Study
from hiddenphysics.simulate.random_motion import brownian_path, levy_path
from hiddenphysics.snapshots import Snapshot, Snapshots, read

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {"h_re": "Re h", "h_im": "Im h"}
BAND = 1.96
"""Half the width of a 95 % band, in standard deviations."""
MOST_COLUMNS = 400
"""Columns of a drawn field; no screen shows more in its width."""

DEEPEST_VORTICITY = 3.0
"""Vorticity of the deepest colours."""
VIEW = ((-1.2, 8.0), (-2.1, 2.1))
"""The part of the plane that is drawn around the vortex street, in x and in y."""
RADIUS = 0.5
"""Radius of the cylinder."""

SHOWN_STEPS = 10_000
"""Steps of a particle's path that are drawn: its beginning, so that single jumps are seen."""


def figures_of(outcome: Outcome, study: Study) -> list[Figure]:
    """Draw a study's figure, in one part or two."""
    if study.group == "fractional":
        return [_random_walk_figure(outcome, study)]
    if len(study.fields) == 1:
        return [_field_figure(outcome, study)]
    library = outcome.plan.library
    return [
        _vortex_street_figure(library.open(study).label, library.folder),
        _velocity_figure(outcome, study),
    ]


def posterior(outcome: Outcome, study: Study, noise: float) -> tuple[Unit, dict[str, Any]]:
    """Return the fit that a figure draws and its curves: of the wanted model, or of another that gave an answer."""
    units = outcome.plan.drawn(study, noise)
    for unit in units:
        curves = outcome.rows.get(unit.key, {}).get("curves")
        if curves:
            return unit, curves
    return units[0], {}


def _field_figure(outcome: Outcome, study: Study) -> Figure:
    """Draw one study in one dimension."""
    noises = study.picture.noises
    data = outcome.plan.library.open(study)
    every = max(1, len(data.times) // MOST_COLUMNS)
    whole = data.take(list(range(0, len(data.times), every)))
    fields = whole.fields
    rows = len(fields) * len(noises)
    heights = [1.75] * len(fields) + [1.9] * rows
    figure = new_figure(sum(heights) + 0.3)
    grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
    marks = data.times[[study.picture.first, study.picture.first + 1]]
    for row, field in enumerate(fields):
        _field(figure.add_subplot(grid[row, :]), whole.field_grid(field), field, marks)
    places = iter(range(len(fields), len(heights)))
    for noise in noises:
        unit, curves = posterior(outcome, study, noise)
        pair = outcome.plan.draw(unit)
        for field in fields:
            row = next(places)
            left = figure.add_subplot(grid[row, 0])
            for column, axes in enumerate((left, figure.add_subplot(grid[row, 1], sharey=left))):
                curve = curves[field][column] if field in curves else None
                _snapshot(axes, pair[column], field, noise, curve)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8.5)
    return figure


def _field(
    axes: Axes, values: tuple[np.ndarray, np.ndarray, np.ndarray], field: str, marks: np.ndarray
) -> None:
    t, x, u = values
    image = axes.pcolormesh(t, x, u.T, cmap="viridis", shading="nearest", rasterized=True)
    for time in marks:
        axes.axvline(time, color="black", linewidth=2.2, alpha=0.35)
        axes.axvline(time, color="white", linewidth=1.1)
    axes.set(xlabel="t", ylabel="x")
    axes.set_title(f"{NAMES.get(field, field)}(t, x), and where the two snapshots lie")
    axes.figure.colorbar(image, ax=axes, pad=0.01).outline.set_visible(False)


def _snapshot(
    axes: Axes, snapshot: Snapshot, field: str, noise: float, curve: Mapping[str, Any] | None
) -> None:
    if curve is not None:
        _band(axes, curve)
    axes.plot(
        snapshot["x"],
        snapshot[field],
        "x",
        color=ORANGE,
        markersize=4,
        markeredgewidth=1.0,
        label="data",
        zorder=3,
    )
    words = f"{100 * noise:g} % noise" if noise else "clean"
    axes.set_title(f"{NAMES.get(field, field)} at t = {snapshot.t:.6g}: {len(snapshot)} points, {words}")
    axes.set(xlabel="x")
    axes.margins(x=0.01)


def _random_walk_figure(outcome: Outcome, study: Study) -> Figure:
    """Draw the path of a random walk and the histograms of its displacements."""
    walk = (WALK_STEPS, WALK_DT)
    path = (
        brownian_path(*walk, WALK_SEED)
        if study.name == "brownian"
        else levy_path(*walk, LEVY_ALPHA, WALK_SEED)
    )
    figure = new_figure(4.6)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.0, 1.25])
    axes = figure.add_subplot(grid[0, :])
    axes.plot(WALK_DT * np.arange(SHOWN_STEPS + 1), path[: SHOWN_STEPS + 1], color=INK, linewidth=0.6)
    axes.set(xlabel="t", ylabel="x")
    axes.set_title(f"The first {SHOWN_STEPS:,} of {WALK_STEPS:,} steps of the particle".replace(",", " "))
    axes.margins(x=0.01)
    unit, drawn = posterior(outcome, study, 0.0)
    curves = drawn.get("u")
    for column, snapshot in enumerate(outcome.plan.draw(unit)):
        below = figure.add_subplot(grid[1, column])
        _histogram(below, snapshot["x"], snapshot["u"], None if curves is None else curves[column])
        below.set_title(f"Displacements after {snapshot.t:.2g}: {len(snapshot)} bins")
        below.set(xlabel="displacement", ylabel="density")
    below.legend(fontsize=8, loc="upper right")
    return figure


def _histogram(axes: Axes, x: np.ndarray, density: np.ndarray, curve: Mapping[str, Any] | None) -> None:
    axes.bar(x, density, width=x[1] - x[0], color=ORANGE, alpha=0.45, linewidth=0, label="histogram")
    if curve is not None:
        _band(axes, curve)
    axes.margins(x=0.01)


def _band(axes: Axes, curve: Mapping[str, Any]) -> None:
    """Draw a posterior mean and its 95 % over one dimension."""
    x, mean, std = (np.asarray(v) for v in (curve["axes"][0], curve["mean"], curve["std"]))
    low, high = mean - BAND * std, mean + BAND * std
    axes.fill_between(x, low, high, color=BLUE, alpha=0.3, linewidth=0, label="95 %")
    axes.plot(x, mean, color=BLUE, linewidth=1.3, label="posterior mean")


def _vortex_street_figure(label: str, folder: Path | None) -> Figure:
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
    colours: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -DEEPEST_VORTICITY, "vmax": DEEPEST_VORTICITY}
    image = axes.tripcolor(
        snapshot["x"], snapshot["y"], snapshot["vorticity"], shading="gouraud", rasterized=True, **colours
    )
    axes.add_patch(Circle((0, 0), RADIUS, color="0.6"))
    low, high = snapshot.points.min(axis=0), snapshot.points.max(axis=0)
    axes.add_patch(Rectangle(tuple(low), *(high - low), fill=False, linewidth=1.0, edgecolor=INK))
    axes.set(xlabel="x", ylabel="y", xlim=VIEW[0], ylim=VIEW[1], aspect="equal")
    axes.set_title(f"Vorticity at t = {snapshot.t:.6g}, inside the box that is sampled; the cylinder is grey")
    _colour_bar(axes, image)
    return figure


def _velocity_figure(outcome: Outcome, study: Study) -> Figure:
    """Draw both snapshots of the velocity with their points, and the pressure that nobody measured."""
    unit, curves = posterior(outcome, study, 0.0)
    pair = outcome.plan.draw(unit)
    hidden = [p for p in study.picture.hidden if p in curves]
    rows = len(study.fields) + len(hidden)
    figure = new_figure(2.5 * rows)
    grid = figure.add_gridspec(rows, 4)
    for row, field in enumerate(study.fields):
        _velocity_row(figure, [grid[row, :2], grid[row, 2:]], pair, field, curves.get(field))
    for row, field in enumerate(hidden, len(study.fields)):
        axes = figure.add_subplot(grid[row, 1:3])
        values = _map_values(curves[field][-1])
        values -= values.mean()
        reach = float(np.abs(values).max())
        _draw_map(axes, curves[field][-1], values, {"cmap": "PuOr_r", "vmin": -reach, "vmax": reach})
        axes.set_title(f"{field} at t = {curves[field][-1]['t']:.6g}: found, not measured")
    return figure


def _velocity_row(
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
            _colour_bar(axes, image)
        else:
            _draw_map(axes, curves[column], _map_values(curves[column]), colours)
            axes.plot(snapshot["x"], snapshot["y"], "x", color="black", markersize=2.8, markeredgewidth=0.7)
        axes.set(xlabel="x", ylabel="y", aspect="equal")
        axes.set_title(f"{field} at t = {snapshot.t:.6g}: {len(snapshot)} points")


def _map_values(curve: Mapping[str, Any]) -> np.ndarray:
    return np.asarray(curve["mean"]).reshape([len(a) for a in curve["axes"]])


def _draw_map(axes: Axes, curve: Mapping[str, Any], values: np.ndarray, colours: Mapping[str, Any]) -> None:
    x, y = curve["axes"]
    image = axes.pcolormesh(x, y, values.T, shading="gouraud", rasterized=True, **colours)
    axes.set(xlabel="x", ylabel="y", aspect="equal")
    _colour_bar(axes, image)


def _colour_bar(axes: Axes, image: Any) -> None:
    axes.figure.colorbar(image, ax=axes, pad=0.01, shrink=0.9).outline.set_visible(False)
