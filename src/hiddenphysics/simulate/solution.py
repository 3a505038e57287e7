"""`simulate`: an equation, an initial state and times in; a labelled data set out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError
from hiddenphysics.simulate.checks import (
    check_allowed,
    check_orders,
    check_tolerance,
    check_well_posed,
    checked_parameters,
    checked_times,
)
from hiddenphysics.simulate.march import Segment, march
from hiddenphysics.spectral import INTEGRATORS, Motion

if TYPE_CHECKING:
    import xarray as xr

Profile = Callable[..., ArrayLike]


def simulate(
    equation: Equation | str,
    initial: Mapping[str, ArrayLike | Profile],
    *,
    box: Mapping[str, Sequence[float]] | Sequence[float],
    times: ArrayLike,
    shape: Mapping[str, int] | Sequence[int] | int,
    parameters: Mapping[str, float] | None = None,
    tolerance: float = 1e-8,
    integrator: str = "krogstad",
    progress: Callable[[float], None] | None = None,
) -> xr.Dataset:
    """Solve an evolution equation on a periodic box.

    Fourier modes in space, exponential Runge–Kutta of order four in time, steps chosen so that their errors
    stay below the tolerance. How fine the grid must be is the caller's to say; the attribute `spectral_tail`
    of the result tells whether it was: the largest amplitude in the last tenth of the wavenumbers over the
    largest of all, 1e-6 and below for a well resolved smooth solution.

    Parameters
    ----------
    equation
        PDE text or `Equation`; see `Motion.of` for what can be moved.
    initial
        Field -> values at the grid's points, or a function of the coordinates that gives them. A complex
        field `h` may be given as one. An equation of second order in time needs `u` and `u_t`. Fields without a
        time derivative, such as a pressure, follow from these.
    box
        Coordinate -> (low, high), where low and high are the same point; (low, high) for one coordinate.
    times
        Increasing; the first is the time of the initial state.
    shape
        Number of points along each side; 256 for smooth fields with features of a fiftieth of the box.
    parameters
        Value of every parameter of the equation.
    tolerance
        Accepted error of the time steps over the whole run, relative to each field's largest value, as far
        as the equation does not amplify it (chaos does). Fields that are not smooth on the periodic box (a
        tail cut off by its edge) make dispersive equations slow: there 1e-4 is a good value.
    integrator
        How a step in time is taken: a name in `hiddenphysics.spectral.INTEGRATORS`.
    progress
        Called with the part of the run that is done, from 0 to 1.

    Returns
    -------
    xarray.Dataset
        The equation's fields over (t, x, …), complex ones as `h_re` and `h_im`, those without a time derivative
        among them (a pressure with mean 0); the parameters are an attribute, as JSON.

    Raises
    ------
    ModelError
        The equation is ill-posed forward in time, the solution blows up, or the tolerance cannot be met.

    Examples
    --------
    >>> data = simulate("u_t - b*u_xx = 0", {"u": np.cos}, box=(0, 2 * np.pi), shape=16, times=[0, 1],
    ...                 parameters={"b": 2.0})
    >>> float(data.u[1, 0]), float(np.exp(-2))  # doctest: +ELLIPSIS
    (0.13533528323..., 0.13533528323...)
    """
    motion = Motion.of(equation, box, shape, integrator=INTEGRATORS[integrator])
    moments = checked_times(times)
    values = checked_parameters(motion.equation.parameters, parameters or {})
    check_orders(motion.equation, values)
    check_tolerance(tolerance)
    state = check_allowed(motion, values, _initial_state(motion, initial), tolerance)
    check_well_posed(motion, values, float(moments[-1] - moments[0]), tolerance)
    segments = []
    for segment in march(motion, state, values, moments, tolerance):
        segments.append(segment)
        if progress is not None:
            progress(len(segments) / len(moments))
    return _dataset(motion, segments, values, tolerance)


def _initial_state(motion: Motion, initial: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the state's fields at the grid's points, (F, *shape)."""
    points = motion.grid.points()
    given = {name: value(*points) if callable(value) else value for name, value in initial.items()}
    for name, pair in motion.equation.complex_fields.items():
        if name in given:
            whole = np.asarray(given.pop(name))
            given |= dict(zip(pair, (whole.real, whole.imag), strict=True))
    _check_names(motion.state, given)
    return np.stack([_checked_field(name, given[name], motion.grid.shape) for name in motion.state])


def _check_names(state: tuple[str, ...], given: Mapping[str, Any]) -> None:
    missing = [name for name in state if name not in given]
    unknown = [name for name in given if name not in state]
    if missing or unknown:
        raise DataError(
            f"The initial state gives {', '.join(given) or 'nothing'}; the equation moves "
            f"{', '.join(state)} and needs exactly these. Write initial={{{state[0]!r}: ...}}."
        )


def _checked_field(name: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = np.asarray(value)
    if np.iscomplexobj(array):
        raise DataError(f"The initial {name} is complex, but the equation is real; give its real part.")
    if array.shape not in ((), shape) or not np.isfinite(array).all():
        raise DataError(
            f"The initial {name} has shape {array.shape} and {int((~np.isfinite(array)).sum())} values that "
            f"are not finite; one finite value for each point of the grid is needed, shape {shape}."
        )
    return np.broadcast_to(array, shape).astype(float)


def _dataset(
    motion: Motion, segments: Sequence[Segment], values: Mapping[str, float], tolerance: float
) -> xr.Dataset:
    import xarray as xr

    coordinates = motion.equation.coordinates
    solution = np.stack([segment.fields for segment in segments], axis=1)
    axes = dict(zip(coordinates, motion.grid.axes, strict=True))
    fields = {
        name: (("t", *coordinates), solution[row])
        for row, name in enumerate(motion.state)
        if name in motion.equation.fields
    }
    if motion.idle_fields:
        idle = np.stack([_idle(motion, segment, values) for segment in segments], axis=1)
        fields |= {name: (("t", *coordinates), idle[row]) for row, name in enumerate(motion.idle_fields)}
    attributes: dict[str, Any] = {
        "equation": motion.equation.text,
        "parameters": json.dumps(values),
        "tolerance": tolerance,
        "steps": sum(segment.steps for segment in segments),
        "spectral_tail": spectral_tail(motion, solution),
    }
    return xr.Dataset(fields, {"t": [segment.t for segment in segments], **axes}, attributes)


@partial(jax.jit, static_argnums=0)
def _idle_fields(motion: Motion, fields: Any, values: dict[str, Any], t: Any) -> jax.Array:
    return motion.grid.to_fields(motion.idle(motion.grid.to_modes(fields), values, t))


def _idle(motion: Motion, segment: Segment, values: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the fields without a time derivative at an output time, in the order of `Motion.idle_fields`."""
    return np.asarray(_idle_fields(motion, segment.fields, dict(values), segment.t))


def spectral_tail(motion: Motion, solution: NDArray[np.float64]) -> float:
    """Largest amplitude in the last tenth of the wavenumbers along any side, over the largest of all."""
    modes = np.abs(np.asarray(motion.grid.to_modes(jnp.asarray(solution))))
    tail = np.zeros(motion.grid.modes_shape, bool)
    for k in motion.grid.wavenumbers:
        tail = tail | (np.abs(k) > 0.9 * np.abs(k).max())
    largest = modes.max()
    return float(modes[..., tail].max() / largest) if largest > 0 else 0.0
