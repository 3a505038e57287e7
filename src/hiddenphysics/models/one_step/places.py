"""The numbers that a likelihood needs, as arrays: one compiled function serves every data set of the same shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import sympy
from jax import Array
from jaxtyping import Float

from hiddenphysics.learning import known_variance
from hiddenphysics.models.one_step.step import OneStep
from hiddenphysics.snapshots import Snapshots

State = Callable[[Sequence[sympy.Expr], int, Float[np.ndarray, "N D"]], dict[str, np.ndarray]]
"""(fields and derivatives, snapshot, points) -> values by printed name: what stands in the coefficients."""


class Place(NamedTuple):
    """Points at one time, with all that coefficients may ask for there."""

    points: Float[Array, "N D"]
    frozen: dict[str, Float[Array, " N"]]
    lag: Float[Array, ""]
    time: Float[Array, ""]


class Data(NamedTuple):
    """One `Place` per snapshot; values, and the known variances of their errors, per observation of the step."""

    places: tuple[Place, ...]
    values: tuple[Float[Array, " N"], ...]
    variances: tuple[Float[Array, " N"], ...]

    @property
    def stacked(self) -> Float[Array, " N"]:
        """All observed values in the model's order."""
        return jnp.concatenate(self.values)

    @property
    def known_variance(self) -> Float[Array, " N"]:
        """The known part of the noise variance of every value; 0 where nothing is known."""
        return jnp.concatenate(self.variances)

    def thinned(self, snapshots: Sequence[int], one_of: int, seed: int) -> Data:
        """Return the data at every n-th point of every place, chosen at random.

        Parameters
        ----------
        snapshots
            Of every observation, the place where its values were seen.
        """
        random = np.random.default_rng(seed)
        sizes = [here.points.shape[0] for here in self.places]
        kept = [np.sort(random.permutation(n)[: -(-n // one_of)]) for n in sizes]
        places = tuple(
            here._replace(points=here.points[k], frozen={name: v[k] for name, v in here.frozen.items()})
            for here, k in zip(self.places, kept, strict=True)
        )
        return Data(
            places,
            tuple(v[kept[at]] for v, at in zip(self.values, snapshots, strict=True)),
            tuple(v[kept[at]] for v, at in zip(self.variances, snapshots, strict=True)),
        )


def latent_time(step: OneStep, snapshots: Snapshots) -> float:
    """Return the time at which the model's latent lives."""
    first, last = snapshots.times[0], snapshots.times[-1]
    return float(first + step.latent_fraction * (last - first))


def collect(step: OneStep, snapshots: Snapshots, state: State) -> Data:
    """Gather points, values, known errors, time lags and frozen fields for every snapshot."""
    time = latent_time(step, snapshots)
    places = []
    for k, snapshot in enumerate(snapshots):
        frozen = state(step.frozen_at(k), k, snapshot.points)
        places.append(place(snapshot.points, frozen, time - snapshot.t, time))
    values = tuple(jnp.asarray(snapshots[o.snapshot][o.field]) for o in step.observations)
    variances = tuple(known_variance(snapshots[o.snapshot], o.field) for o in step.observations)
    return Data(tuple(places), values, variances)


def place(points: np.ndarray, frozen: dict[str, np.ndarray], lag: float, time: float) -> Place:
    """Return a `Place` of double-precision arrays."""
    return Place(
        jnp.asarray(points, float),
        {name: jnp.asarray(values, float) for name, values in frozen.items()},
        jnp.asarray(lag, float),
        jnp.asarray(time, float),
    )
