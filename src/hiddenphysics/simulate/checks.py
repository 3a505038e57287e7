"""What a simulation is refused for, checked once, at the door."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenphysics.equation import MAX_ORDER, Equation, Fractional, atoms_of, evaluate, field_name, parameter
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.spectral import Motion

NEARLY = 1e-6
"""Part of its size by which an initial state may miss the constraints: files in single precision do."""

ROUNDING = float(np.finfo(float).eps)


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
            shown = f"{given[name]}" if name in given else "missing"
            raise ModelError(
                f"The value of the parameter {name} is {shown}; a simulation needs a finite number for each, "
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


def check_allowed(
    motion: Motion, values: dict[str, float], state: NDArray[np.float64], tolerance: float
) -> NDArray[np.float64]:
    """Return the initial state as the constraints allow it; refuse one that is further away than the tolerance.

    What is cut off is the rounding of a state that was computed somewhere else.
    """
    if motion.equation.system.constraints.trivial:
        return state
    grid = motion.grid
    kept = jax.jit(lambda z: grid.to_fields(motion.allowed(grid.to_modes(z), values)))
    own, allowed = np.asarray(grid.to_fields(grid.to_modes(jnp.asarray(state)))), np.asarray(kept(state))
    apart, size = np.abs(allowed - own).max(), max(np.abs(own).max(), 1e-300)
    if apart > max(tolerance, NEARLY) * size:
        raise DataError(
            f"The initial state does not satisfy {'; '.join(motion.equation.system.constraints.shown)}: the nearest "
            f"one that does differs by {apart / size:.2g} of its size. Give one that does, as the derivatives of a "
            "potential do (u = psi_y, v = -psi_x)."
        )
    return allowed


def check_tolerance(tolerance: float) -> None:
    """Refuse tolerances that mean nothing or lie below rounding."""
    if not 1e-12 <= tolerance < 1:
        raise ModelError(
            f"tolerance is {tolerance:g}; it is the accepted error of the whole run relative to the largest "
            "value of each field, between 1e-12 (rounding) and 1: tolerance=1e-8."
        )


def check_well_posed(motion: Motion, parameters: dict[str, float], duration: float, tolerance: float) -> None:
    """Refuse a run in which the linear part would lift rounding errors of the finest waves above the tolerance.

    Growth that is bounded in k, such as the band of unstable waves of Kuramoto and Sivashinsky or a
    reaction, is no reason: what counts is how much faster the outer half of the wavenumbers grows than the
    inner half, since a finer grid would only make that worse.
    """
    rates = _growth_rates(motion, parameters)
    outer = _outer_half(motion)
    excess = max(0.0, float(rates[outer].max() - rates[~outer].max()))
    if np.log(ROUNDING) + excess * duration > np.log(tolerance):
        raise ModelError(
            f"With these parameters the finest waves on the grid grow like e^({rates[outer].max():.3g} t), "
            f"faster than the long ones: over a time of {duration:g} rounding errors would exceed the "
            "solution. The equation is ill-posed forward in time (a negative viscosity, say): check the signs."
        )


def _growth_rates(motion: Motion, parameters: dict[str, float]) -> np.ndarray:
    """Largest real part of the eigenvalues of L, for each mode."""
    symbol = np.asarray(motion.symbol(parameters))
    if not motion.coupled:
        return np.asarray(symbol.real.max(axis=0))
    return np.asarray(np.linalg.eigvals(np.moveaxis(symbol, (0, 1), (-2, -1))).real.max(axis=-1))


def _outer_half(motion: Motion) -> np.ndarray:
    """Modes beyond half of the largest wavenumber along some side."""
    outer = np.zeros(motion.grid.modes_shape, bool)
    for k in motion.grid.wavenumbers:
        outer = outer | (np.abs(k) > np.abs(k).max() / 2)
    return outer
