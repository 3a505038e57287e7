"""The recording over (t, x) as an image, the model's beside it, and what lies between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.errors import HiddenPhysicsError
from hiddenphysics.result.pictures import evenly
from hiddenphysics.snapshots import Snapshots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiddenphysics.result.result import Result

MOST_TIMES, MOST_PLACES = 120, 256
"""Columns and rows of an image; what is finer is thinned evenly."""
MOST_DOTS = 20_000
"""Scattered values that are drawn one by one."""
MODEL_TIMES = 60
"""Columns of the model's image beside scattered data."""
MOST_LINES = 12
"""Snapshots that are marked by lines in an image; more would hide it."""


@dataclass(frozen=True)
class Image:
    """Values over (t, x): on a grid, (T,), (N,) and (T, N), or at scattered points, each (N,)."""

    title: str
    t: np.ndarray
    x: np.ndarray
    values: np.ndarray
    limits: tuple[float, float]
    colours: str = "viridis"
    marked: tuple[float, ...] = ()


def field_images(result: Result, field: str) -> list[Image]:
    """Return the recorded field, the model's mean and the difference; the first alone where the model cannot tell.

    The recording, where it is known, otherwise the snapshots that were learned from.
    """
    source = result.snapshots if result.recording is None else result.recording
    shown = Snapshots(source[k] for k in evenly(len(source), MOST_TIMES))
    limits = (min(s.span(field)[0] for s in shown), max(s.span(field)[1] for s in shown))
    marked = tuple(result.snapshots.times) if len(result.snapshots) <= MOST_LINES else ()
    if shown.is_gridded:
        t, x, values = _thinned(shown, field)
        data = Image(f"{field}: the recording", t, x, values, limits, marked=marked)
        model = _model(result, field, t, x)
        if model is None:
            return [data]
        rest = values - _told(result, field, t, x, model)
    else:
        t, x, values = (np.concatenate(part) for part in zip(*_columns(shown, field), strict=True))
        data = Image(f"{field}: the data", t, x, values, limits)
        grid = np.linspace(x.min(), x.max(), MOST_PLACES)
        often = np.linspace(t.min(), t.max(), MODEL_TIMES)
        model = _model(result, field, often, grid)
        if model is None:
            return [data]
        table = result.residuals()
        rest = table[field].to_numpy()
        return [
            data,
            Image(f"{field}: the model", often, grid, model, limits),
            Image(
                "data − model", table["t"].to_numpy(), table["x"].to_numpy(), rest, _symmetric(rest), "RdBu_r"
            ),
        ]
    return [
        data,
        Image(f"{field}: the model", t, x, model, limits, marked=marked),
        Image("recording − model", t, x, rest, _symmetric(rest), "RdBu_r", marked),
    ]


def plot_image(image: Image, axes: Axes) -> Axes:
    """Draw an image, with lines where the snapshots lie in it."""
    low, high = image.limits
    style: dict[str, Any] = {"cmap": image.colours, "vmin": low, "vmax": high, "rasterized": True}
    if image.values.ndim == 2:
        drawn: Any = axes.pcolormesh(image.t, image.x, image.values.T, shading="nearest", **style)
    else:
        some = evenly(len(image.t), MOST_DOTS)
        drawn = axes.scatter(
            image.t[some], image.x[some], c=image.values[some], s=9, marker="s", linewidths=0, **style
        )
    line = "white" if image.colours == "viridis" else "#555555"
    for time in image.marked:
        axes.axvline(time, color=line, linewidth=0.8)
    axes.set(xlabel="t", ylabel="x")
    axes.set_title(image.title, fontsize="medium")
    axes.figure.colorbar(drawn, ax=axes, pad=0.02, aspect=15)
    return axes


def _thinned(shown: Snapshots, field: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    t, x, values = shown.field_grid(field)
    columns = evenly(len(x), MOST_PLACES)
    return t, x[columns], values[:, columns]


def _columns(shown: Snapshots, field: str) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    return [(np.full(len(s), s.t), s["x"], s[field]) for s in shown]


def _model(result: Result, field: str, times: np.ndarray, x: np.ndarray) -> np.ndarray | None:
    """Return the model's mean (T, N), NaN before the first snapshot; None where the model does not reach so far."""
    first = result.snapshots.times[0]
    try:
        known = times >= first
        means = np.full((len(times), len(x)), np.nan)
        means[known] = result.history(field, times[known], [x[:, None]] * int(known.sum()))
        return means
    except HiddenPhysicsError:
        return None


def _told(result: Result, field: str, times: np.ndarray, x: np.ndarray, model: np.ndarray) -> np.ndarray:
    """Return what the sensors at x tell of the model's means (T, N): the same where they have no errors."""
    if result.sensors.empty or np.isnan(model).any():
        return model
    return np.array(result.readings(field, times, [x[:, None]] * len(times)))


def _symmetric(values: np.ndarray) -> tuple[float, float]:
    """Return limits around 0 that single outliers do not stretch."""
    reach = float(np.nanquantile(np.abs(values), 0.995)) or 1.0
    return -reach, reach
