"""What a simulation is refused for, checked once, at the door."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenphysics.equation import MAX_ORDER, Equation, Fractional, atoms_of, evaluate, field_name, parameter
from hiddenphysics.errors import DataError, ModelError

MIN_POINTS = 4


def check_box(box: Sequence[tuple[float, float]]) -> None:
    """Refuse sides that are empty, reversed or infinite."""
    for low, high in box:
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ModelError(
                f"The box has a side from {low:g} to {high:g}; each side needs two finite ends, the smaller "
                "one first: box=(-8, 8), or box={'x': (-8, 8), 'y': (0, 1)}."
            )


def check_shape(shape: Sequence[int], sides: int) -> None:
    """Refuse a wrong number of sides and sides with too few points."""
    if len(shape) != sides or any(not isinstance(n, int | np.integer) or n < MIN_POINTS for n in shape):
        raise ModelError(
            f"shape is {tuple(shape)}; it needs {sides} whole numbers of points, one for each side of the box,"
            f" and each at least {MIN_POINTS}: shape={(256,) * sides}."
        )


def check_evolves(equation: Equation) -> None:
    """Refuse fields that no equation moves: pressure, potentials."""
    idle = [name for name in equation.fields if name not in equation.evolution]
    if idle:
        raise ModelError(
            f"The equation gives no time derivative of {', '.join(idle)}; the spectral simulator moves every "
            f"field forward in time. Eliminate {', '.join(idle)} first, or write an equation for "
            f"{idle[0]}_t."
        )


def checked_times(times: ArrayLike) -> NDArray[np.float64]:
    """Return the times as a vector; refuse times that do not increase."""
    checked = np.atleast_1d(np.asarray(times, dtype=float))
    if checked.ndim != 1 or not np.isfinite(checked).all() or (np.diff(checked) <= 0).any():
        raise DataError(
            "The times of a simulation must be finite and increase; the first is the time of the initial "
            "state. Write times=numpy.linspace(0, 10, 101)."
        )
    return checked


def checked_parameters(names: Sequence[str], given: Mapping[str, float]) -> dict[str, float]:
    """Return a finite value for every parameter; refuse missing and unknown ones."""
    if unknown := [name for name in given if name not in names]:
        raise ModelError(
            f"A value was given for {', '.join(unknown)}, which the equation does not contain; its "
            f"parameters are {', '.join(names) or 'none'}."
        )
    for name in names:
        if name not in given or not math.isfinite(given[name]):
            found = f"{given[name]}" if name in given else "missing"
            raise ModelError(
                f"The value of the parameter {name} is {found}; a simulation needs a finite number for each, "
                f"as in parameters={{{name!r}: 1.0}}."
            )
    return {name: float(given[name]) for name in names}


def check_orders(equation: Equation, values: Mapping[str, float]) -> None:
    """Refuse fractional operators whose order the parameters make negative or huge."""
    numbers = {parameter(name): value for name, value in values.items()}
    for atom in {atom for expr in equation.evolution.values() for atom in atoms_of(expr)}:
        if not isinstance(atom, Fractional):
            continue
        order = float(evaluate(atom.order, numbers, np))
        if not 0 <= order <= MAX_ORDER:
            raise ModelError(
                f"The order {atom.order} of a fractional operator on {field_name(atom)} is {order:g} with these "
                f"parameters; a derivative has an order from 0 to {MAX_ORDER}."
            )


def check_tolerance(tolerance: float) -> None:
    """Refuse tolerances that mean nothing or lie below rounding."""
    if not 1e-12 <= tolerance < 1:
        raise ModelError(
            f"tolerance is {tolerance:g}; it is the accepted error of the whole run relative to the largest "
            "value of each field, between 1e-12 (rounding) and 1: tolerance=1e-8."
        )
