"""What the model leaves of the data: over space, snapshot by snapshot, and against a normal distribution."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from hiddenphysics.result.pictures import BLUE, INK, ORANGE, Drawer, arranged, evenly

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiddenphysics.result.result import Result
    from hiddenphysics.result.self_showing import Figure

MOST_POINTS = 4000
"""Residuals that are drawn one by one; of more, an even part."""
REACH = 4.0
"""Deviations that a panel shows; what lies beyond is drawn at its edge."""


def plot_residuals(result: Result) -> Figure:
    """Draw a row of three panels for every measured field; see `Result.plot_residuals`.

    Residuals are divided by the deviation they should have: the learned noise, with a known ``u_std`` where there is
    one. Several fields have one noise in common in their own units, so there each is divided by its root mean square.
    """
    table = result.residuals()
    times, places = table["t"].to_numpy(), table["x"].to_numpy()
    rows: list[tuple[float, list[Drawer]]] = []
    for field in (f for f in result.snapshots.fields if f in table):
        raw = table[field].to_numpy()
        scale, unit = _scale(result, field, raw)
        scaled = raw / scale
        title = f"{field}: r.m.s. residual {np.sqrt(np.mean(raw**2)):.2g}"
        rows.append(
            (
                2.8,
                [
                    partial(_over_space, times, places, scaled, unit, title),
                    partial(_over_time, result.snapshots.times, times, scaled),
                    partial(_histogram, scaled, unit),
                ],
            )
        )
    return arranged(rows)


def _scale(result: Result, field: str, raw: np.ndarray) -> tuple[np.ndarray, str]:
    if len(result.snapshots.fields) > 1 or not result.noise_std > 0:
        return np.full(len(raw), np.sqrt(np.mean(raw**2)) or 1.0), "residual / r.m.s."
    known = np.concatenate([s.stds.get(field, np.zeros(len(s))) for s in result.snapshots])
    return np.hypot(result.noise_std, known), "residual / noise"


def _over_space(
    times: np.ndarray, x: np.ndarray, scaled: np.ndarray, unit: str, title: str, axes: Axes
) -> None:
    chosen = evenly(len(x), MOST_POINTS)
    axes.axhspan(-2, 2, color=BLUE, alpha=0.12, linewidth=0)
    axes.axhline(0, color=INK, linewidth=0.8)
    dots = axes.scatter(
        x[chosen],
        np.clip(scaled[chosen], -REACH, REACH),
        c=times[chosen],
        s=float(np.clip(3000 / len(chosen), 2, 12)),
        cmap="viridis",
        linewidths=0,
        rasterized=True,
    )
    axes.set(xlabel="x", ylabel=unit, ylim=(-1.06 * REACH, 1.06 * REACH))
    axes.set_title(title, fontsize="medium")
    axes.figure.colorbar(dots, ax=axes, pad=0.02, aspect=15, label="t")


def _over_time(stops: np.ndarray, times: np.ndarray, scaled: np.ndarray, axes: Axes) -> None:
    """Root mean square of every snapshot, and where 95 % of those of pure noise would lie."""
    parts = [scaled[times == t] for t in stops]
    counts = np.array([len(part) for part in parts])
    axes.fill_between(
        stops,
        1 - 1.96 / np.sqrt(2 * counts),
        1 + 1.96 / np.sqrt(2 * counts),
        color=BLUE,
        alpha=0.2,
        linewidth=0,
        label="95 % of pure noise",
    )
    sizes = [np.sqrt(np.mean(part**2)) for part in parts]
    axes.plot(stops, sizes, "o-" if len(stops) < 30 else "-", color=ORANGE, markersize=4, linewidth=1.2)
    low, high = axes.get_ylim()
    axes.set(xlabel="t", ylabel="r.m.s. residual", ylim=(low, high + 0.25 * (high - low)))
    axes.axhline(1, color=INK, linewidth=0.8)
    axes.legend(frameon=False, fontsize="x-small", loc="upper center")
    axes.set_title("snapshot by snapshot", fontsize="medium")


def _histogram(scaled: np.ndarray, unit: str, axes: Axes) -> None:
    bins = int(np.clip(np.sqrt(len(scaled)), 12, 40))
    within = np.clip(scaled, -REACH, REACH)
    axes.hist(within, bins, range=(-REACH, REACH), density=True, color=ORANGE, alpha=0.55)
    x = np.linspace(-REACH, REACH, 200)
    axes.plot(x, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), color=BLUE, linewidth=1.6, label="normal")
    low, high = axes.get_ylim()
    axes.set(xlabel=unit, ylabel="density", ylim=(low, 1.15 * high))
    axes.legend(frameon=False, fontsize="x-small", loc="upper center")
    axes.set_title(f"{len(scaled)} values", fontsize="medium")
