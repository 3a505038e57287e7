"""The numbers that a likelihood needs, as arrays: one compiled function serves every data set of the same shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import sympy
from jax import Array
from jaxtyping import Float

from hiddenphysics.forward import LinearModel, derivative_symbol, field_name
from hiddenphysics.operators import Symbol
from hiddenphysics.snapshots import Snapshots

State = Callable[[str, Symbol, int, Float[np.ndarray, "N D"]], Float[np.ndarray, " N"]]
"""(field, derivative, snapshot, points) -> values: where derivatives of a measured field come from."""


class Place(NamedTuple):
    """Points at one time, with all that coefficients may ask for there."""

    points: Float[Array, "N D"]
    frozen: dict[str, Float[Array, " N"]]
    lag: Float[Array, ""]
    time: Float[Array, ""]


class Data(NamedTuple):
    """One `Place` per snapshot and one array of values per observation of the model."""

    places: tuple[Place, ...]
    values: tuple[Float[Array, " N"], ...]

    @property
    def stacked(self) -> Float[Array, " N"]:
        """All observed values in the model's order."""
        return jnp.concatenate(self.values)


def latent_time(model: LinearModel, snapshots: Snapshots) -> float:
    """Return the time at which the model's latent lives."""
    first, last = snapshots.times[0], snapshots.times[-1]
    return float(first + model.latent_fraction * (last - first))


def collect(model: LinearModel, snapshots: Snapshots, state: State) -> Data:
    """Gather points, values, time lags and frozen fields for every snapshot.

    A frozen field is taken raw where it was measured (as the paper does); its derivatives come from `state`.
    """
    time = latent_time(model, snapshots)
    places = []
    for k, snapshot in enumerate(snapshots):
        frozen = {str(a): _frozen_values(a, model, snapshots, k, state) for a in model.frozen_at(k)}
        places.append(place(snapshot.points, frozen, time - snapshot.t, time))
    values = tuple(jnp.asarray(snapshots[o.snapshot][o.field]) for o in model.observations)
    return Data(tuple(places), values)


def place(points: np.ndarray, frozen: dict[str, np.ndarray], lag: float, time: float) -> Place:
    """Return a `Place` of double-precision arrays."""
    return Place(
        jnp.asarray(points, float),
        {name: jnp.asarray(values, float) for name, values in frozen.items()},
        jnp.asarray(lag, float),
        jnp.asarray(time, float),
    )


def _frozen_values(
    atom: sympy.Expr, model: LinearModel, snapshots: Snapshots, k: int, state: State
) -> np.ndarray:
    field, symbol = field_name(atom), derivative_symbol(atom, model.coordinates)
    if symbol == Symbol.identity(len(model.coordinates)):
        return snapshots[k][field]
    return state(field, symbol, k, snapshots[k].points)
