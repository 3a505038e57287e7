"""The picture of the vortex street."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.plots.library import load_figure_class
from hiddenphysics.simulate.cylinder import (
    CHECKPOINT,
    RADIUS,
    FlowSettings,
    nested_grids,
    open_recording,
    read_state,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VIEW = ((-1.5, 16.0), (-2.6, 2.6))
DEEPEST = 3.0
"""Vorticity of the deepest colours; beside the cylinder it is larger."""


def plot_vorticity(recording: Path) -> Figure:
    """Draw the vorticity at the last time of a recording (`path("cylinder")`), all grids, and the recorded box."""
    opened = open_recording(recording)
    flow = FlowSettings(**opened.metadata["flow"])
    state, _ = read_state(recording / CHECKPOINT)
    figure: Figure = load_figure_class().Figure(figsize=(10, 3.4), layout="constrained")
    axes = figure.add_subplot()
    # Coarse grids first: each finer one covers the middle of the one before.
    for grid, omega in reversed(list(zip(nested_grids(flow), state.omega, strict=True))):
        image = axes.pcolormesh(
            grid.x, grid.y, omega.T, cmap="RdBu_r", vmin=-DEEPEST, vmax=DEEPEST, shading="nearest"
        )
    _outline(axes, opened.x, opened.y)
    axes.set(xlabel="x", ylabel="y", xlim=VIEW[0], ylim=VIEW[1], aspect="equal")
    axes.set_title(f"Vorticity at t = {state.time:.2f}, Re = {flow.reynolds:g}; recorded in the box")
    figure.colorbar(image, ax=axes, pad=0.01, extend="both")
    return figure


def _outline(axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """Draw the cylinder and the recorded box."""
    from matplotlib.patches import Circle, Rectangle

    axes.add_patch(Circle((0, 0), RADIUS, color="0.6"))
    axes.add_patch(Rectangle((x[0], y[0]), x[-1] - x[0], y[-1] - y[0], fill=False, linewidth=0.8))
