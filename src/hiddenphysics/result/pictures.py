"""Pictures of a result: the field with its snapshots, the snapshots with their posterior, the equation.

Single panels are drawn into the Axes they are given. A `Result` is handed in; this module never imports one, so that
rooms without JAX can draw, too.
"""

from __future__ import annotations

import io
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.errors import DataError, MissingExtraError
from hiddenphysics.writer import check_target, write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hiddenphysics.result.result import Result

# Okabe and Ito's palette: told apart by every kind of colour vision, and in print.
BLUE, ORANGE, INK = "#0072B2", "#D55E00", "#222222"
DENSE = 400
"""Points along x at which a posterior curve is drawn."""


def load_figure_class() -> ModuleType:
    """Return ``matplotlib.figure`` without touching any global backend, or say how to install it."""
    try:
        import matplotlib.figure
    except ImportError as missing:
        raise MissingExtraError(
            'Pictures need matplotlib. Type: pip install "hiddenphysics[plot]"'
        ) from missing
    return matplotlib.figure


def plot_result(result: Result) -> Figure:
    """Draw a result: the whole field where it is known, a row of snapshots for each field, the equations.

    Fields in three dimensions have no panel; their equation still does.
    """
    dimensions = len(result.equation.coordinates)
    fields = [f for f in result.snapshots.fields if f in result.equation.evolution] if dimensions < 3 else []
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
    check_picture(path, overwrite=overwrite)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower(), dpi=150)
    return write_file(path, picture.getvalue(), overwrite=overwrite)


def check_picture(path: Path, *, overwrite: bool) -> None:
    """Refuse, before the work and not after it, a name without the ending of a picture, and what may not be replaced.

    Without an ending one would have to be added, and another file be written than was named.
    """
    known = load_figure_class().Figure().canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise DataError(
            f"{path.name!r:.100} does not end like a picture. Use an ending such as .png, .pdf or .svg."
        )
    check_target(path, overwrite=overwrite)


def _has_recording(result: Result) -> bool:
    return (
        result.recording is not None and result.equation.coordinates == ("x",) and result.recording.is_gridded
    )


# ---- panels --------------------


def plot_recording(result: Result, field: str, axes: Axes) -> Axes:
    """Draw the whole known field over (t, x), and where the two snapshots lie in it."""
    if result.recording is None:
        raise ValueError("the result holds no recording")
    t, x, values = result.recording.field_grid(field)
    image = axes.pcolormesh(t, x, values.T, cmap="viridis", shading="nearest", rasterized=True)
    for time in result.snapshots.times:
        axes.axvline(time, color="white", linewidth=1.2)
    axes.set(xlabel="t", ylabel="x", title=f"{field}(t, x) and the two snapshots")
    axes.figure.colorbar(image, ax=axes, pad=0.01)
    return axes


def plot_snapshot(result: Result, field: str, index: int, axes: Axes) -> Axes:
    """Draw one snapshot: points, posterior mean and 95 % band; in 2-D the mean as colours, the points as crosses."""
    snapshot = result.snapshots[index]
    draw = _curve if len(result.equation.coordinates) == 1 else _map
    draw(result, field, index, axes)
    axes.set_title(f"{field} at t = {snapshot.t:g}: {len(snapshot)} points")
    return axes


def _curve(result: Result, field: str, index: int, axes: Axes) -> None:
    snapshot = result.snapshots[index]
    x = np.linspace(snapshot["x"].min(), snapshot["x"].max(), DENSE)
    mean, std = result.predict(field, x, t=snapshot.t)
    axes.fill_between(
        x, mean - 1.96 * std, mean + 1.96 * std, color=BLUE, alpha=0.25, linewidth=0, label="95 % band"
    )
    axes.plot(x, mean, color=BLUE, linewidth=1.6, label="posterior mean")
    axes.plot(
        snapshot["x"], snapshot[field], "x", color=ORANGE, markersize=4.5, markeredgewidth=1.1, label="data"
    )
    axes.set(xlabel="x", ylabel=field)
    axes.legend(frameon=False, fontsize="small")


def _map(result: Result, field: str, index: int, axes: Axes) -> None:
    snapshot = result.snapshots[index]
    sides = [np.linspace(snapshot[c].min(), snapshot[c].max(), 60) for c in ("x", "y")]
    x, y = np.meshgrid(*sides, indexing="ij")
    mean, _ = result.predict(field, x.ravel(), y.ravel(), t=snapshot.t)
    image = axes.pcolormesh(x, y, mean.reshape(x.shape), cmap="viridis", shading="nearest", rasterized=True)
    axes.plot(snapshot["x"], snapshot["y"], "x", color="white", markersize=2.5, markeredgewidth=0.6)
    axes.set(xlabel="x", ylabel="y", aspect="equal")
    axes.figure.colorbar(image, ax=axes, pad=0.01)


def equation_lines(result: Result) -> list[tuple[str, str]]:
    """Return label and text of every line below the pictures: as typed, as identified, and how it went."""
    typed = [line.strip() for line in result.equation.text.replace(";", "\n").splitlines() if line.strip()]
    identified = result.identified().splitlines()
    labels = ["equation"] + [""] * (len(typed) - 1) + ["identified"] + [""] * len(identified)
    ending = f"{result.status}; model {result.model}, noise std {result.noise_std:.2g}"
    return list(zip(labels, [*typed, *identified, ending], strict=True))


def plot_equation(result: Result, axes: Axes) -> Axes:
    """Write the equation that was asked and the one that was identified."""
    axes.axis("off")
    rows = equation_lines(result)
    for row, (label, text) in enumerate(rows):
        height = 1.0 - (row + 0.5) / len(rows)
        style: dict[str, Any] = {"va": "center", "transform": axes.transAxes, "color": INK}
        axes.text(0.01, height, label, fontweight="bold", **style)
        axes.text(0.14, height, text, family="monospace", **style)
    return axes
