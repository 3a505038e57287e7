"""What a fit leaves of the data, drawn: measured minus posterior mean, in units of the noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hiddenphysics.result import load_figure_class

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hiddenphysics.result import Result

MOST = 4
"""Snapshots that are drawn; of more, evenly many between the first and the last."""
INK, POINTS = "#222222", "#0072B2"


def draw_residuals(result: Result) -> Figure:
    """Draw (data − mean) / σ over the first coordinate, one panel for each snapshot; ±2 is where 95 % should lie."""
    count = len(result.snapshots)
    chosen = np.unique(np.linspace(0, count - 1, min(count, MOST)).round().astype(int))
    fields = [f for f in result.snapshots.fields if f in result.equation.evolution]
    figure: Figure = load_figure_class().Figure(figsize=(10, 2.4 * max(len(fields), 1)), layout="constrained")
    panels = figure.subplots(max(len(fields), 1), len(chosen), squeeze=False, sharey=True)
    for row, name in zip(panels, fields, strict=False):
        for axes, index in zip(row, chosen, strict=True):
            snapshot = result.snapshots[int(index)]
            points = [snapshot[c] for c in result.snapshots.coordinates]
            mean, _ = result.predict(name, *points, t=snapshot.t)
            left = (snapshot[name] - mean) / result.noise_std
            axes.axhspan(-2, 2, color=POINTS, alpha=0.12, linewidth=0)
            axes.axhline(0, color=INK, linewidth=0.8)
            axes.plot(points[0], left, ".", color=POINTS, markersize=4)
            inside = np.mean(np.abs(left) <= 2)
            axes.set(xlabel="x", title=f"{name} at t = {snapshot.t:g}: {inside:.0%} within ±2")
        row[0].set_ylabel(f"({name} − mean) / noise")
    return figure
