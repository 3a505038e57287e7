"""The paper's figure: the field with its two snapshots, the snapshots with their posterior, the equation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hiddenphysics.errors import DataError
from hiddenphysics.plots.library import load_figure_class
from hiddenphysics.plots.panels import equation_lines, plot_equation, plot_recording, plot_snapshot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hiddenphysics.result import Result


def plot_result(result: Result) -> Figure:
    """Draw a result: the whole field where it is known, a row of snapshots for each field, the equations.

    Fields in three dimensions have no panel; their equation still does.
    """
    dimensions = len(result.equation.coordinates)
    fields = (
        [f for f in result.snapshots.fields if f in dict(result.equation.evolution)] if dimensions < 3 else []
    )
    recorded = fields if _has_recording(result) else []
    heights = [2.2] * len(recorded) + [2.8] * len(fields) + [0.3 * len(equation_lines(result))]
    figure: Figure = load_figure_class().Figure(figsize=(10, sum(heights) + 0.4), layout="constrained")
    grid = figure.add_gridspec(len(heights), len(result.snapshots), height_ratios=heights)
    for row, name in enumerate(recorded):
        plot_recording(result, name, figure.add_subplot(grid[row, :]))
    for row, name in enumerate(fields, len(recorded)):
        for column in range(len(result.snapshots)):
            plot_snapshot(result, name, column, figure.add_subplot(grid[row, column]))
    plot_equation(result, figure.add_subplot(grid[-1, :]))
    return figure


def write_figure(figure: Figure, path: Path, *, overwrite: bool) -> Path:
    """Write a figure in the format of the file's ending; an existing file is kept unless ``overwrite``."""
    if path.exists() and not overwrite:
        raise DataError(
            f"{path} exists and is not overwritten. Choose another name, or say so: overwrite=True, --force."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        figure.savefig(path, dpi=150)
    except ValueError as problem:
        raise DataError(
            f"{path.name} cannot be written: {problem}. Use an ending such as .png, .pdf or .svg."
        ) from problem
    return path


def _has_recording(result: Result) -> bool:
    return (
        result.recording is not None and result.equation.coordinates == ("x",) and result.recording.is_gridded
    )
