"""The paper's figures 1 to 4: the field with its two snapshots marked, the snapshots with their points and bands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.snapshots import Snapshot
from hiddenphysics.studies.pictures.canvas import BLUE, ORANGE, new_figure
from hiddenphysics.studies.plan import Unit
from hiddenphysics.studies.runner import Outcome
from hiddenphysics.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES = {"h_re": "Re h", "h_im": "Im h"}
BAND = 1.96
MOST = 400
"""Columns of a drawn field; no screen shows more in its width."""


def field_figure(outcome: Outcome, study: Study) -> Figure:
    """Draw one study in one dimension."""
    noises = study.picture.noises
    recording = outcome.plan.library.recording(study)
    every = max(1, len(recording.times) // MOST)
    whole = recording.take(list(range(0, len(recording.times), every)))
    fields = whole.fields
    rows = len(fields) * len(noises)
    heights = [1.75] * len(fields) + [1.9] * rows
    figure = new_figure(sum(heights) + 0.3)
    grid = figure.add_gridspec(len(heights), 2, height_ratios=heights)
    marks = recording.times[[study.picture.first, study.picture.first + 1]]
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
                found = curves[field][column] if field in curves else None
                _snapshot(axes, pair[column], field, noise, found)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8.5)
    return figure


def posterior(outcome: Outcome, study: Study, noise: float) -> tuple[Unit, dict[str, Any]]:
    """Return the fit that a figure draws and its curves: of the wanted model, or of another that gave an answer."""
    units = outcome.plan.drawn(study, noise)
    for unit in units:
        curves = outcome.rows.get(unit.key, {}).get("curves")
        if curves:
            return unit, curves
    return units[0], {}


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
    axes: Axes, snapshot: Snapshot, field: str, noise: float, found: Mapping[str, Any] | None
) -> None:
    if found is not None:
        x, mean, std = (np.asarray(v) for v in (found["axes"][0], found["mean"], found["std"]))
        axes.fill_between(
            x, mean - BAND * std, mean + BAND * std, color=BLUE, alpha=0.3, linewidth=0, label="95 %"
        )
        axes.plot(x, mean, color=BLUE, linewidth=1.3, label="posterior mean")
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
