"""Equations that must not be run forward in time: the finest waves grow fastest, without bound."""

from __future__ import annotations

import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.simulate.spectral.flow import Flow

ROUNDING = float(np.finfo(float).eps)


def check_well_posed(flow: Flow, parameters: dict[str, float], duration: float, tolerance: float) -> None:
    """Refuse a run in which the linear part would lift rounding errors of the finest waves above the tolerance.

    Growth that is bounded in k, such as the band of unstable waves of Kuramoto and Sivashinsky or a
    reaction, is no reason: what counts is how much faster the outer half of the wavenumbers grows than the
    inner half, since a finer grid would only make that worse.
    """
    rates = _growth_rates(flow, parameters)
    outer = _outer_half(flow)
    excess = max(0.0, float(rates[outer].max() - rates[~outer].max()))
    if np.log(ROUNDING) + excess * duration > np.log(tolerance):
        raise ModelError(
            f"With these parameters the finest waves on the grid grow like e^({rates[outer].max():.3g} t), "
            f"faster than the long ones: over a time of {duration:g} rounding errors would exceed the "
            "solution. The equation is ill-posed forward in time (a negative viscosity, say): check the signs."
        )


def _growth_rates(flow: Flow, parameters: dict[str, float]) -> np.ndarray:
    """Largest real part of the eigenvalues of L, for each mode."""
    symbol = np.asarray(flow.symbol(parameters))
    if not flow.coupled:
        return np.asarray(symbol.real.max(axis=0))
    return np.asarray(np.linalg.eigvals(np.moveaxis(symbol, (0, 1), (-2, -1))).real.max(axis=-1))


def _outer_half(flow: Flow) -> np.ndarray:
    """Modes beyond half of the largest wavenumber along some side."""
    outer = np.zeros(flow.grid.modes_shape, bool)
    for k in flow.grid.wavenumbers:
        outer = outer | (np.abs(k) > np.abs(k).max() / 2)
    return outer
