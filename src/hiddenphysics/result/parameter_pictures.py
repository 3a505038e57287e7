"""The parameters' normal distribution: each by itself, and the correlation of every two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.result.pictures import BLUE, INK, ORANGE, load_figure_class
from hiddenphysics.result.tables import parameter_covariance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hiddenphysics.result.result import Result
    from hiddenphysics.result.self_showing import Figure

MOST_ELLIPSES = 5
"""Parameters with a panel for every two; more are drawn as one matrix of correlations."""
REACH = 3.2
"""Deviations to both sides that a panel shows."""


def plot_parameters(result: Result) -> Figure:
    """Draw the distribution of the parameters; see `Result.plot_parameters`."""
    covariance = parameter_covariance(result)
    deviations = np.sqrt(np.diagonal(covariance))
    if not len(deviations) or not (deviations > 0).all():
        raise ModelError(
            f"A picture of the parameters needs a deviation of each; the fit ended {result.status} with "
            f"{', '.join(f'{name} {e}' for name, e in result.parameters.items()) or 'none at all'}."
        )
    correlation = covariance / np.outer(deviations, deviations)
    draw = _corner if len(deviations) <= MOST_ELLIPSES else _matrix
    return draw(result, deviations, correlation)


def _corner(result: Result, deviations: np.ndarray, correlation: np.ndarray) -> Figure:
    """Densities on the diagonal, below it the ellipses that hold 39 and 86 % of every two."""
    names, size = list(result.parameters), len(deviations)
    side = max(2.2 * size, 3.4)
    figure: Figure = load_figure_class().Figure(figsize=(side, side), layout="constrained")
    centre = np.array([e.estimate for e in result.parameters.values()])
    for row in range(size):
        for column in range(row + 1):
            axes = figure.add_subplot(size, size, row * size + column + 1)
            if row == column:
                _density(
                    centre[row], deviations[row], f"{names[row]} = {result.parameters[names[row]]}", axes
                )
            else:
                pair = [column, row]
                _ellipses(centre[pair], deviations[pair], float(correlation[row, column]), axes)
            axes.locator_params(nbins=3)
            axes.tick_params(labelsize="x-small")
            if row == size - 1:
                axes.set_xlabel(names[column])
            else:
                axes.tick_params(labelbottom=False)
            if column == 0 and row > 0:
                axes.set_ylabel(names[row])
            elif column < row:
                axes.tick_params(labelleft=False)
    return figure


def _density(centre: float, deviation: float, title: str, axes: Axes) -> None:
    steps = np.linspace(-REACH, REACH, 200)
    x, height = centre + deviation * steps, np.exp(-(steps**2) / 2)
    axes.plot(x, height, color=BLUE, linewidth=1.6)
    inside = np.abs(steps) <= 1.96
    axes.fill_between(x[inside], height[inside], color=BLUE, alpha=0.2, linewidth=0)
    axes.set(xlim=(x[0], x[-1]), ylim=(0, 1.1), yticks=[])
    axes.set_title(title, fontsize="medium")


def _ellipses(centre: np.ndarray, deviation: np.ndarray, correlation: float, axes: Axes) -> None:
    turn = np.linspace(0, 2 * np.pi, 200)
    along, across = np.cos(turn), correlation * np.cos(turn) + np.sqrt(1 - correlation**2) * np.sin(turn)
    for reach in (1.0, 2.0):
        axes.fill(
            centre[0] + reach * deviation[0] * along,
            centre[1] + reach * deviation[1] * across,
            facecolor=BLUE,
            alpha=0.2,
            linewidth=0,
        )
    axes.plot(*centre, "+", color=ORANGE, markersize=8)
    axes.set(
        xlim=centre[0] + np.array([-REACH, REACH]) * deviation[0],
        ylim=centre[1] + np.array([-REACH, REACH]) * deviation[1],
    )
    left = correlation >= 0  # the corner that the ellipse leaves empty
    axes.text(
        0.04 if left else 0.96,
        0.95,
        f"{correlation:+.2f}",
        transform=axes.transAxes,
        ha="left" if left else "right",
        va="top",
        color=INK,
        fontsize="small",
    )


def _matrix(result: Result, deviations: np.ndarray, correlation: np.ndarray) -> Figure:
    names, size = [f"{name} = {e}" for name, e in result.parameters.items()], len(deviations)
    side = 0.5 * size + 2.4
    figure: Figure = load_figure_class().Figure(figsize=(side + 0.6, side), layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(correlation, cmap="RdBu_r", vmin=-1, vmax=1)
    axes.set_xticks(range(size), list(result.parameters), rotation=90)
    axes.set_yticks(range(size), names)
    for row, column in np.ndindex(size, size):
        value = correlation[row, column]
        axes.text(
            column,
            row,
            f"{value:.2f}".replace("0.", ".", 1),
            ha="center",
            va="center",
            fontsize="x-small",
            color="white" if abs(value) > 0.6 else INK,
        )
    figure.colorbar(image, ax=axes, pad=0.02, label="correlation", shrink=0.8)
    return figure
