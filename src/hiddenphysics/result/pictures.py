"""Pictures of a result: the field beside the model's, snapshots with their posterior, the equation.

Single panels are drawn into the Axes they are given. A `Result` is handed in; this module never imports one, so that
rooms without JAX can draw, too.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.errors import DataError, MissingExtraError
from hiddenphysics.writer import check_target, write_file

if TYPE_CHECKING:
    from matplotlib import figure as matplotlib_figure
    from matplotlib.axes import Axes

    from hiddenphysics.result.result import Result
    from hiddenphysics.result.self_showing import Figure

# Okabe and Ito's palette: told apart by every kind of colour vision, and in print.
BLUE, ORANGE, INK = "#0072B2", "#D55E00", "#222222"
DENSE = 400
"""Points along x at which a posterior curve is drawn."""
PANELS = 3
"""Snapshots that have a panel of their own; more are drawn as an image, and so many of them by themselves."""
EXPERIMENTS = 6
"""Experiments that have a row of their own; of more, evenly spaced ones."""
MOST_MARKS = 2000
"""Values of a snapshot that are drawn in its panel; of more, an even part."""
MOST_CROSSES = 400
"""Points that are marked in a map: more hide what they lie on."""

Drawer = Callable[["Axes"], object]


def load_figure_class() -> ModuleType:
    """Return the module of `Figure`, matplotlib's that shows itself in a notebook, or say how to install it.

    No global backend is touched.
    """
    try:
        return import_module("hiddenphysics.result.self_showing")
    except ImportError as missing:
        raise MissingExtraError(
            'Pictures need matplotlib. Type: pip install "hiddenphysics[plot]"'
        ) from missing


def plot_result(result: Result) -> Figure:
    """Draw a result: fields beside the model's where there is more than a few snapshots, snapshots, the equations.

    Fields in three dimensions have no panel; their equation still does.
    """
    if len(result.runs) > 1:
        return _plot_experiments(result)
    dimensions = len(result.equation.coordinates)
    fields = [f for f in result.snapshots.fields if f in result.equation.evolution] if dimensions < 3 else []
    rows: list[tuple[float, list[Drawer]]] = []
    if dimensions == 1 and (result.recording is not None or len(result.snapshots) > PANELS):
        rows += [(2.4, _image_row(result, name)) for name in fields]
    shown = evenly(len(result.snapshots), PANELS)
    height = 2.7 if dimensions == 1 else 3.0
    rows += [
        (height, [partial(plot_snapshot, result, name, index, legend=index == shown[0]) for index in shown])
        for name in fields
    ]
    rows.append((0.27 * len(equation_lines(result)), [partial(plot_equation, result)]))
    return arranged(rows)


def _plot_experiments(result: Result) -> Figure:
    """Draw some snapshots of every experiment in a row of its own; of very many experiments some."""
    dimensions = len(result.equation.coordinates)
    fields = [f for f in result.runs.fields if f in result.equation.evolution] if dimensions < 3 else []
    rows: list[tuple[float, list[Drawer]]] = []
    for number in evenly(len(result.runs), EXPERIMENTS):
        name, one = result.runs.names[number], result.experiments[number]
        shown = evenly(len(one.snapshots), PANELS)
        rows += [
            (
                2.3,
                [
                    partial(_named_snapshot, name, one, field, index, legend=not rows and index == shown[0])
                    for index in shown
                ],
            )
            for field in fields
        ]
    rows.append((0.27 * len(equation_lines(result)), [partial(plot_equation, result)]))
    return arranged(rows)


def _named_snapshot(name: str, result: Result, field: str, index: int, axes: Axes, *, legend: bool) -> None:
    plot_snapshot(result, field, index, axes, legend=legend)
    axes.set_title(f"{name}: {field} at t = {result.snapshots[index].t:g}", fontsize="medium")


def arranged(rows: list[tuple[float, list[Drawer]]], width: float = 10.0) -> Figure:
    """Draw rows of panels of equal width below each other; each row has its height in inches."""
    heights = [height for height, _ in rows]
    figure: Figure = load_figure_class().Figure(figsize=(width, sum(heights) + 0.3), layout="constrained")
    grid = figure.add_gridspec(len(rows), 1, height_ratios=heights)
    for row, (_, drawers) in enumerate(rows):
        panels = grid[row].subgridspec(1, len(drawers))
        for column, draw in enumerate(drawers):
            draw(figure.add_subplot(panels[column]))
    return figure


def evenly(count: int, most: int) -> list[int]:
    """Return the numbers of at most so many of `count` things: all, or evenly spaced with the first and the last."""
    return sorted({int(k) for k in np.linspace(0, count - 1, min(count, most)).round()})


def _image_row(result: Result, field: str) -> list[Drawer]:
    from hiddenphysics.result.images import field_images, plot_image

    return [partial(plot_image, image) for image in field_images(result, field)]


def write_figure(figure: matplotlib_figure.Figure, path: Path, *, overwrite: bool) -> Path:
    """Write a figure in the format of the file's ending; an existing file is kept unless ``overwrite``."""
    check_picture(path, overwrite=overwrite)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower(), dpi=load_figure_class().DOTS)
    return write_file(path, picture.getvalue(), overwrite=overwrite)


def written(figure: Figure, path: str | Path | None, overwrite: bool) -> Figure:
    """Return a figure that has been written to a path, if one is given."""
    if path is not None:
        write_figure(figure, Path(path), overwrite=overwrite)
    return figure


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


# ---- panels --------------------


def plot_snapshot(result: Result, field: str, index: int, axes: Axes, *, legend: bool = True) -> Axes:
    """Draw one snapshot: points, posterior mean and 95 % band; in 2-D the mean as colours, the points as crosses.

    Values whose deviation is known have error bars of two of them.
    """
    snapshot = result.snapshots[index]
    if len(result.equation.coordinates) == 1:
        _curve(result, field, index, axes)
        if legend:
            _room_for_legend(axes)
    else:
        _map(result, field, index, axes)
    axes.set_title(f"{field} at t = {snapshot.t:g}: {len(snapshot)} points", fontsize="medium")
    return axes


def _curve(result: Result, field: str, index: int, axes: Axes) -> None:
    snapshot = result.snapshots[index]
    x = np.linspace(snapshot["x"].min(), snapshot["x"].max(), DENSE)
    mean, std = result.predict(field, x, t=snapshot.t)
    axes.fill_between(
        x, mean - 1.96 * std, mean + 1.96 * std, color=BLUE, alpha=0.25, linewidth=0, label="95 % band"
    )
    axes.plot(x, mean, color=BLUE, linewidth=1.6, label="posterior mean")
    some = evenly(len(snapshot), MOST_MARKS)
    places, values, known = snapshot["x"][some], snapshot[field][some], snapshot.stds.get(field)
    if known is not None:
        axes.errorbar(places, values, 2 * known[some], fmt="none", ecolor=ORANGE, elinewidth=0.8, alpha=0.7)
    size = float(np.clip(45.0 / np.sqrt(len(snapshot)), 2.5, 4.5))
    axes.plot(
        places,
        values,
        "x",
        color=ORANGE,
        markersize=size,
        markeredgewidth=0.22 * size,
        label="data" if known is None else "data ± 2 std",
        zorder=1.5 if len(snapshot) > DENSE // 4 else 3.0,  # many points would hide the curve
    )
    axes.set(xlabel="x", ylabel=field)


def _room_for_legend(axes: Axes) -> None:
    """Put the legend above what is drawn, where it hides nothing."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.22 * (high - low))
    axes.legend(
        frameon=False,
        fontsize="x-small",
        loc="upper center",
        ncols=3,
        handlelength=1.2,
        columnspacing=1.0,
        borderaxespad=0.1,
    )


def _map(result: Result, field: str, index: int, axes: Axes) -> None:
    snapshot = result.snapshots[index]
    sides = [np.linspace(snapshot[c].min(), snapshot[c].max(), 60) for c in ("x", "y")]
    x, y = np.meshgrid(*sides, indexing="ij")
    mean, _ = result.predict(field, x.ravel(), y.ravel(), t=snapshot.t)
    image = axes.pcolormesh(x, y, mean.reshape(x.shape), cmap="viridis", shading="nearest", rasterized=True)
    chosen = evenly(len(snapshot), MOST_CROSSES)
    axes.plot(
        snapshot["x"][chosen], snapshot["y"][chosen], "x", color="white", markersize=2.5, markeredgewidth=0.6
    )
    axes.set(xlabel="x", ylabel="y", aspect="equal")
    axes.figure.colorbar(image, ax=axes, pad=0.01)


def equation_lines(result: Result) -> list[tuple[str, str]]:
    """Return label and text of every line below the pictures: as typed, as identified, and how it went."""
    typed = [line.strip() for line in result.equation.text.replace(";", "\n").splitlines() if line.strip()]
    identified = result.identified().splitlines()
    endings = [f"{result.status}; model {result.model}, noise std {result.noise_std:.2g}"]
    if result.criticism is not None:
        p, missing = f"p = {result.criticism.p_value:.1g}", result.criticism.missing
        small = "is no noise" if result.criticism.speaks_against else "has structure, too little to matter"
        what = "looks like noise" if result.criticism.is_noise else small
        endings.append(f"what is left over {what} ({p})" + (f"; it looks like {missing}" if missing else ""))
    if result.heterogeneity is not None:
        endings.append(f"{len(result.runs)} experiments agree: p = {result.heterogeneity.p_value:.1g}")
    lines = {"equation": typed, "identified": identified, "verdict": endings}
    return [(label if k == 0 else "", text) for label, texts in lines.items() for k, text in enumerate(texts)]


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
