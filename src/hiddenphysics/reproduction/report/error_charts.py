"""Pictures of the tables: how far every number lies from the truth, in the paper and in each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hiddenphysics.reproduction.report.canvas import INK, METHODS, new_figure
from hiddenphysics.reproduction.report.wording import MODELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FLOOR, CEILING = 1e-5, 3.0
"""Relative errors beyond are drawn here: the data themselves are certain to no more, or the answer is lost anyway."""
PUBLISHED = "published"
TICKS = {1e-5: "≤ 0.001 %", 1e-4: "0.01 %", 1e-3: "0.1 %", 1e-2: "1 %", 1e-1: "10 %", 1.0: "100 %"}


def methods_of(tables: Mapping[str, Any]) -> list[str]:
    """Return the paper's numbers and all models, in the order of columns."""
    models = dict.fromkeys(
        m for s in tables["studies"] for t in s["tables"] for c in t["cells"] for m in c["models"]
    )
    return [PUBLISHED, *models]


def error_of(cell: Mapping[str, Any], method: str) -> float | None:
    """Return the largest relative error of a cell's medians, over its parameters."""
    if method == PUBLISHED:
        return max(p["error"] for p in cell["paper"].values())
    parameters = cell["models"].get(method, {}).get("parameters", {})
    return max((p["error"] for p in parameters.values()), default=None)


def overview_figure(tables: Mapping[str, Any]) -> Figure:
    """Draw one line for each cell of each table, and on it a mark for each method."""
    lines = _lines(tables)
    figure = new_figure(0.9 + 0.155 * len(lines))
    axes = figure.add_subplot()
    methods = methods_of(tables)
    for k, (_, cell) in enumerate(lines):
        if cell is not None:
            axes.axhline(k, color=INK, alpha=0.1, linewidth=0.6, zorder=0)
    for method in methods:
        marks = [(error_of(cell, method), k) for k, (_, cell) in enumerate(lines) if cell is not None]
        _marks(axes, [(e, k) for e, k in marks if e is not None], method)
    axes.set_yticks(range(len(lines)), [label for label, _ in lines], fontsize=7.5)
    for tick, (_, cell) in zip(axes.get_yticklabels(), lines, strict=True):
        tick.set_fontweight("bold" if cell is None else "normal")
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(lines) - 0.3, -0.7)
    _percent_axis(axes, "x")
    axes.xaxis.set_label_position("top")
    axes.xaxis.tick_top()
    axes.set_xlabel(
        "relative error of the median, the worst parameter of each cell (beyond 300 %: at the edge)"
    )
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.spines["top"].set_visible(True)
    figure.legend(loc="outside upper center", ncols=len(methods), fontsize=8.5)
    return figure


def gap_figure(table: Mapping[str, Any], methods: Sequence[str]) -> Figure:
    """Draw the error of the median against the gap: one panel for each row of a table of gaps."""
    figure = new_figure(2.5)
    panels = figure.subplots(1, len(table["rows"]), sharey=True, squeeze=False)[0]
    for axes, row in zip(panels, table["rows"], strict=True):
        cells = [c for c in table["cells"] if c["row"] == row]
        places = list(range(len(cells)))
        for method in methods:
            colour, marker = METHODS.get(method, (INK, "o"))
            errors = [error_of(cell, method) for cell in cells]
            points = [(k, _inside(e)) for k, e in zip(places, errors, strict=True) if e is not None]
            if points:
                axes.plot(
                    *zip(*points, strict=True), color=colour, marker=marker, markersize=5, label=_name(method)
                )
        axes.set_xticks(places, [c["column"].removeprefix("Δt = ") for c in cells])
        axes.set(xlabel="Δt", title=row)
        axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    _percent_axis(panels[0], "y")
    panels[0].set_ylabel("error of the median")
    panels[-1].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _lines(tables: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any] | None]]:
    lines: list[tuple[str, Mapping[str, Any] | None]] = []
    for study in tables["studies"]:
        lines.append((study["title"], None))
        for table in study["tables"]:
            for cell in table["cells"]:
                words = ", ".join(filter(None, (cell["column"], cell["row"])))
                lines.append((f"{table['place']}: {words}", cell))
    return lines


def _marks(axes: Axes, marks: Sequence[tuple[float, int]], method: str) -> None:
    colour, marker = METHODS.get(method, (INK, "o"))
    axes.plot(
        [_inside(error) for error, _ in marks],
        [k for _, k in marks],
        marker,
        color=colour,
        markersize=5,
        linestyle="none",
        label=_name(method),
    )


def _inside(error: float) -> float:
    return min(max(error, FLOOR), CEILING)


def _percent_axis(axes: Axes, which: str) -> None:
    """Make an axis logarithmic, in per cent."""
    from matplotlib.ticker import NullLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    axis.set_ticks(list(TICKS), list(TICKS.values()))
    axis.set_minor_locator(NullLocator())
    (axes.set_xlim if which == "x" else axes.set_ylim)(FLOOR / 1.5, 1.4 * CEILING)


def _name(method: str) -> str:
    return "published" if method == PUBLISHED else MODELS.get(method, method)
