"""An unknown function as it was learned: a curve with a band."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from hiddenphysics.equation import UnknownFunction

if TYPE_CHECKING:
    from hiddenphysics.result.self_showing import Figure

NEEDED = 3.0
"""Log evidence from which on a constant, or a line, does not do: twenty to one."""

TWO_SIDED = 1.96
"""Deviations that 95 % of a normal distribution lie within."""

PLACES = 200
"""Values of the argument at which a curve is drawn."""


def basis_of(function: UnknownFunction, values: np.ndarray) -> np.ndarray:
    """φ (N, n) of an unknown function at values (N,) of its argument."""
    start, end = function.ends
    s = (values - start) / (end - start)
    free = [np.ones_like(s), s][: function.flat]
    cosines = (np.cos(2 * np.pi * wave * s) for wave in function.waves[function.flat :])
    return np.stack([*free, *cosines], axis=1)


@dataclass(frozen=True)
class FunctionEstimate:
    """`D(x)`, `c(t)` or `f(u)` with its uncertainty.

    Attributes
    ----------
    function
        What was sought, and over which range of its argument.
    mean, covariance
        (n,) and (n, n) of its coefficients.
    worth
        By how much the log evidence would fall were it a constant, or of a field a line; NaN where a limit came before
        that was asked.
    """

    function: UnknownFunction
    mean: np.ndarray
    covariance: np.ndarray
    worth: float

    def mean_and_std(self, values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation (N,) at values (N,) of the argument, within the range of the data.

        Of a function that has a bound they are those next to the optimum.
        """
        one, basis = self.function, basis_of(self.function, np.atleast_1d(np.asarray(values, float)))
        if one.sign:
            grown, part = np.exp(basis[:, 1:] @ self.mean[1:]), self.mean[0] / one.width
            # Of the way from one bound to the other, `left` of 1 is left; all of it where there is one bound.
            left = 1 / (1 + part * (grown - 1))
            away = one.sign * grown * left
            mean = one.bound + self.mean[0] * away
            in_cosines = self.mean[0] * (1 - part) * basis[:, 1:]
            basis = (away * left)[:, None] * np.column_stack([basis[:, 0], in_cosines])
        else:
            mean = basis @ self.mean
        variances = np.einsum("ni,ij,nj->n", basis, self.covariance, basis)
        return mean, np.sqrt(np.maximum(variances, 0.0))

    def interval(self, values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends (N,) of the 95 % band at values (N,) of the argument; it stays within the bounds."""
        mean, std = self.mean_and_std(values)
        if not self.function.sign:
            return mean - TWO_SIDED * std, mean + TWO_SIDED * std
        one, tiny = self.function, np.finfo(float).tiny
        away = np.abs(mean - one.bound)
        # The logarithm, or between two bounds the logit, has a symmetric band.
        part = away / one.width
        factor = np.exp(TWO_SIDED * std / np.maximum(away * (1 - part), tiny))
        ends = [one.bound + one.sign * away * f / (1 + part * (f - 1)) for f in (1 / factor, factor)]
        return np.minimum(*ends), np.maximum(*ends)

    def __str__(self) -> str:
        one, simple = self.function, "a constant" if self.function.flat == 1 else "a straight line"
        places = (one.low, one.high)
        ends = zip(places, *self.mean_and_std(places), strict=True)
        told = " and ".join(
            f"{value:.3g} ± {std:.1g} at {one.argument} = {at:.3g}" for at, value, std in ends
        )
        if np.isnan(self.worth):
            return told
        if self.worth > NEEDED:
            return f"{told}; {simple} would lose {self.worth:.1f} of log evidence"
        return f"{told}; {simple} would do ({self.worth:+.1f} of log evidence)"

    def plot(self, path: str | Path | None = None, *, overwrite: bool = False) -> Figure:
        """Draw the curve with its 95 % band; write it to `path` if one is given."""
        from hiddenphysics.result.pictures import BLUE, load_figure_class, written

        one = self.function
        values = np.linspace(one.low, one.high, PLACES)
        mean, _ = self.mean_and_std(values)
        figure: Figure = load_figure_class().Figure(figsize=(5.0, 3.4), layout="constrained")
        axes = figure.add_subplot()
        axes.fill_between(values, *self.interval(values), color=BLUE, alpha=0.25, linewidth=0)
        axes.plot(values, mean, color=BLUE)
        axes.set_xlabel(one.argument)
        axes.set_ylabel(one.call)
        return written(figure, path, overwrite)
