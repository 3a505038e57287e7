"""`simulate`: an equation, an initial state and times in; a labelled data set out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray

from hiddenphysics.equation import Equation
from hiddenphysics.simulate.spectral.checks import (
    check_orders,
    check_tolerance,
    checked_parameters,
    checked_times,
)
from hiddenphysics.simulate.spectral.driver import Segment, march
from hiddenphysics.simulate.spectral.flow import Flow
from hiddenphysics.simulate.spectral.growth import check_well_posed
from hiddenphysics.simulate.spectral.initial import initial_state

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
        PDE text or `Equation`; see `Flow.of` for what can be moved.
    initial
        Field -> values at the grid's points, or a function of the coordinates that gives them. A complex
        field `h` may be given as one. An equation of second order in time needs `u` and `u_t`.
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
    progress
        Called with the part of the run that is done, from 0 to 1.

    Returns
    -------
    xarray.Dataset
        The equation's fields over (t, x, …), complex ones as `h_re` and `h_im`; the parameters are an
        attribute, as JSON.

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
    flow = Flow.of(equation, box, shape)
    moments = checked_times(times)
    values = checked_parameters(flow.equation.parameters, parameters or {})
    check_orders(flow.equation, values)
    check_tolerance(tolerance)
    state = initial_state(flow, initial)
    check_well_posed(flow, values, float(moments[-1] - moments[0]), tolerance)
    segments = []
    for segment in march(flow, state, values, moments, tolerance):
        segments.append(segment)
        if progress is not None:
            progress(len(segments) / len(moments))
    return _dataset(flow, segments, values, tolerance)


def _dataset(
    flow: Flow, segments: Sequence[Segment], values: Mapping[str, float], tolerance: float
) -> xr.Dataset:
    import xarray as xr

    coordinates = flow.equation.coordinates
    solution = np.stack([segment.fields for segment in segments], axis=1)
    axes = dict(zip(coordinates, flow.grid.axes, strict=True))
    fields = {
        name: (("t", *coordinates), solution[row])
        for row, name in enumerate(flow.state)
        if name in flow.equation.fields
    }
    attributes: dict[str, Any] = {
        "equation": flow.equation.text,
        "parameters": json.dumps(values),
        "tolerance": tolerance,
        "steps": sum(segment.steps for segment in segments),
        "spectral_tail": spectral_tail(flow, solution),
    }
    return xr.Dataset(fields, {"t": [segment.t for segment in segments], **axes}, attributes)


def spectral_tail(flow: Flow, solution: NDArray[np.float64]) -> float:
    """Largest amplitude in the last tenth of the wavenumbers along any side, over the largest of all."""
    modes = np.abs(np.asarray(flow.grid.to_modes(jnp.asarray(solution))))
    tail = np.zeros(flow.grid.modes_shape, bool)
    for k in flow.grid.wavenumbers:
        tail = tail | (np.abs(k) > 0.9 * np.abs(k).max())
    largest = modes.max()
    return float(modes[..., tail].max() / largest) if largest > 0 else 0.0
