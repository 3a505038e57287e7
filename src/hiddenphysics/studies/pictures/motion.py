"""The paper's figures 6 and 7: a path of the particle, and two histograms of its displacements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.datasets.motion import ALPHA, DT, SEED, STEPS
from hiddenphysics.simulate.random_motion import brownian_path, levy_path
from hiddenphysics.studies.pictures.canvas import BLUE, INK, ORANGE, new_figure
from hiddenphysics.studies.pictures.field import BAND, posterior
from hiddenphysics.studies.runner import Outcome
from hiddenphysics.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 10_000
"""Steps of the path that are drawn: its beginning, so that single jumps are seen."""


def motion_figure(outcome: Outcome, study: Study) -> Figure:
    """Draw one random motion."""
    path = brownian_path(STEPS, DT, SEED) if study.name == "brownian" else levy_path(STEPS, DT, ALPHA, SEED)
    figure = new_figure(4.6)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.0, 1.25])
    axes = figure.add_subplot(grid[0, :])
    axes.plot(DT * np.arange(SHOWN + 1), path[: SHOWN + 1], color=INK, linewidth=0.6)
    axes.set(xlabel="t", ylabel="x")
    axes.set_title(f"The first {SHOWN:,} of {STEPS:,} steps of the particle".replace(",", " "))
    axes.margins(x=0.01)
    unit, drawn = posterior(outcome, study, 0.0)
    curves = drawn.get("u")
    for column, snapshot in enumerate(outcome.plan.draw(unit)):
        below = figure.add_subplot(grid[1, column])
        _histogram(below, snapshot["x"], snapshot["u"], None if curves is None else curves[column])
        below.set_title(f"Displacements after {snapshot.t:.2g}: {len(snapshot)} bins")
        below.set(xlabel="displacement", ylabel="density")
    below.legend(fontsize=8)
    return figure


def _histogram(axes: Axes, x: np.ndarray, density: np.ndarray, found: Any) -> None:
    axes.bar(x, density, width=x[1] - x[0], color=ORANGE, alpha=0.45, linewidth=0, label="histogram")
    if found is not None:
        along, mean, std = (np.asarray(v) for v in (found["axes"][0], found["mean"], found["std"]))
        axes.fill_between(
            along, mean - BAND * std, mean + BAND * std, color=BLUE, alpha=0.3, linewidth=0, label="95 %"
        )
        axes.plot(along, mean, color=BLUE, linewidth=1.3, label="posterior mean")
    axes.margins(x=0.01)
