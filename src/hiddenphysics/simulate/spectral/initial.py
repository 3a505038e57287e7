"""Initial states as users give them: arrays or functions, real or complex, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.simulate.spectral.flow import Flow


def initial_state(flow: Flow, initial: Mapping[str, Any]) -> NDArray[np.float64]:
    """Return the state's fields at the grid's points, (F, *shape)."""
    points = flow.grid.points()
    given = {name: value(*points) if callable(value) else value for name, value in initial.items()}
    for name, pair in flow.equation.complex_fields.items():
        if name in given:
            whole = np.asarray(given.pop(name))
            given |= dict(zip(pair, (whole.real, whole.imag), strict=True))
    _check_names(flow.state, given)
    return np.stack([_checked(name, given[name], flow.grid.shape) for name in flow.state])


def _check_names(state: tuple[str, ...], given: Mapping[str, Any]) -> None:
    missing = [name for name in state if name not in given]
    unknown = [name for name in given if name not in state]
    if missing or unknown:
        raise DataError(
            f"The initial state gives {', '.join(given) or 'nothing'}; the equation moves "
            f"{', '.join(state)} and needs exactly these. Write initial={{{state[0]!r}: ...}}."
        )


def _checked(name: str, value: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = np.asarray(value)
    if np.iscomplexobj(array):
        raise DataError(f"The initial {name} is complex, but the equation is real; give its real part.")
    if array.shape not in ((), shape) or not np.isfinite(array).all():
        raise DataError(
            f"The initial {name} has shape {array.shape} and {int((~np.isfinite(array)).sum())} values that "
            f"are not finite; one finite value for each point of the grid is needed, shape {shape}."
        )
    return np.broadcast_to(array, shape).astype(float)
