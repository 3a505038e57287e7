"""Columns beside the state's: flat parameters, and those with a prior: unknown functions, errors of sensors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hiddenphysics.gaussian import Border
from hiddenphysics.models.flow.instruments import kinds_of, places_of, size_of
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.priors import Group, Prior

FIRST_SIZE, SMALLEST, LARGEST = 0.3, 1e-3, 100.0
"""First size of what an unknown function varies by, in natural sizes of its constant, and how far below and above these
it may go."""

LARGEST_LOGARITHM = 3.0
"""The same of the logarithm of a function that has a bound: a factor of twenty is one deviation."""

FIRST_REACH, REACHES = 0.3, (0.03, 3.0)
"""First reach of an unknown function, in parts of the range of its argument, and where it may go."""


class Columns(NamedTuple):
    """The P columns of the border: the equation's parameters, and behind them the errors of sensors, kind by kind.

    Attributes
    ----------
    group, wave, mean
        (P,) as `Border` has them; the means are those of the numbers themselves.
    """

    group: np.ndarray
    wave: np.ndarray
    mean: np.ndarray

    @property
    def is_flat(self) -> np.ndarray:
        """(P,) which columns carry no prior."""
        return np.asarray(self.group < 0)

    def around(self, parameters: np.ndarray) -> Border | None:
        """Return the border relative to a point (P,); None where every column is flat."""
        if np.all(self.is_flat):
            return None
        return Border(self.group, self.wave, self.mean - np.asarray(parameters))


def columns_of(windows: Windows) -> Columns:
    """Return the columns of a fit of these data: groups are the unknown functions, then the kinds of errors."""
    equation, kinds = windows.equation, kinds_of(windows)
    group, wave = np.full(len(equation.parameters), -1), np.zeros(len(equation.parameters))
    for number, function in enumerate(equation.functions):
        for name, waves in zip(
            function.coefficients[function.flat :], function.waves[function.flat :], strict=True
        ):
            group[equation.parameters.index(name)] = number
            wave[equation.parameters.index(name)] = waves
    each = len(places_of(windows)) if kinds else 0
    errors = len(equation.functions) + np.repeat(np.arange(len(kinds)), each)
    group = np.concatenate([group, errors]).astype(int)
    return Columns(group, np.pad(wave, (0, errors.size)), np.zeros(group.size))


def with_groups(prior: Prior, theta: np.ndarray, windows: Windows) -> tuple[Prior, np.ndarray]:
    """Return the prior and its vector with the sizes of what has a prior beside the state.

    Those of unknown functions are not known before a first guess: see `with_first_sizes`.
    """
    functions = [Group(one.name, falls=True) for one in windows.equation.functions]
    sizes = [size_of(windows, kind) for kind in kinds_of(windows)]
    if not (functions or sizes):
        return prior, theta
    numbers = [number for _ in functions for number in (1.0, FIRST_REACH)] + [one.first for one in sizes]
    return prior.with_groups(theta, [*functions, *(Group(one.name) for one in sizes)], numbers)


def with_first_sizes(prior: Prior, theta: np.ndarray, windows: Windows, scale: np.ndarray) -> np.ndarray:
    """Return the vector with first sizes of unknown functions, from the natural sizes (P,) of the parameters."""
    theta = np.array(theta)
    for name, natural in _natural_sizes(windows, scale).items():
        theta[prior.names.index(f"{name}.size")] = np.log(FIRST_SIZE * natural)
    return theta


def limits_of_groups(windows: Windows, scale: np.ndarray) -> dict[str, tuple[float, float]]:
    """Return the limits of sizes and reaches by name, given the natural sizes (P,) of the parameters."""
    limits = {}
    largest = {one.name: LARGEST_LOGARITHM if one.sign else LARGEST for one in windows.equation.functions}
    for name, natural in _natural_sizes(windows, scale).items():
        limits[f"{name}.size"] = (SMALLEST * natural, largest[name] * natural)
        limits[f"{name}.reach"] = REACHES
    for kind in kinds_of(windows):
        one = size_of(windows, kind)
        limits[f"{one.name}.size"] = (one.low, one.high)
    return limits


def _natural_sizes(windows: Windows, scale: np.ndarray) -> dict[str, float]:
    """Return by unknown function the natural size of its constant; that of a logarithm, with a bound, is 1."""
    names = windows.equation.parameters
    return {
        one.name: 1.0 if one.sign else float(scale[names.index(one.coefficients[0])])
        for one in windows.equation.functions
    }
