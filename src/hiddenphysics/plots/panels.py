"""Single panels, each drawn into the Axes it is given and returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiddenphysics.result import Result

# Okabe and Ito's palette: told apart by every kind of colour vision, and in print.
BLUE, ORANGE, INK = "#0072B2", "#D55E00", "#222222"
DENSE = 400
"""Points along x at which a posterior curve is drawn."""


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
    found = result.identified().splitlines()
    labels = ["equation"] + [""] * (len(typed) - 1) + ["identified"] + [""] * len(found)
    ending = f"{result.status}; model {result.model}, noise std {result.noise_std:.2g}"
    return list(zip(labels, [*typed, *found, ending], strict=True))


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
