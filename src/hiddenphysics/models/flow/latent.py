"""The latent of a window: what it begins with, what comes into it, and both as modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.models.flow.program import Program
from hiddenphysics.spectral import Driving, Features, Gauge, Grid


class Latent(NamedTuple):
    """What a window begins with, and what comes into it.

    Attributes
    ----------
    z
        (W, F·K) amplitudes of the latents; behind them, for every stop, F·M of what comes from outside there, and for
        every shape of its history.
    gauge
        How amplitudes make fields, with a leading axis W.
    ends
        (W, D, 2) of the box.
    padding
        (W, *shape) from 0 around the data to 1 far from them: where something may come in; None where nothing does.
    places
        (W, n) on a line, where the waves of what comes in are read; None where that is at the grid's points.
    driving
        The known inputs of every window, with a leading axis W; None where the equation has none.
    history
        (W, H, 2, n) on a line, what had come in at its two ends before the first stop, in H shapes; None where that is
        not asked. Their amplitudes are the last ones of z.
    """

    z: Any
    gauge: Gauge
    ends: Any
    padding: Any = None
    places: Any = None
    driving: Driving | None = None
    history: Any = None

    def window(self, index: int) -> Latent:
        """Return one window, still with a leading axis."""
        return jax.tree.map(lambda part: np.asarray(part[index : index + 1]), self)


def kicks_of(
    program: Program, grid: Grid, latent: Latent, allow: Callable[[Any], Any]
) -> tuple[Callable[[Any], Any], Any]:
    """Return what comes from outside as modes, a function of its number, and the modes of its features; 0 below 0.

    Of a push in the padding what the constraints allow: around the data the gradient of a harmonic pressure.
    """
    if not program.outside:
        return lambda index: 0.0, None
    waves = Features(grid, program.outside)
    places = latent.places
    if places is not None:
        places = jnp.broadcast_to(places, (len(program.state), *program.shape))
    gauge = Gauge(jnp.broadcast_to(latent.padding, (len(program.state), *program.shape)), places)
    amplitudes = latent.z[program.features :].reshape(-1, program.kicks)

    def to_modes(z: jax.Array) -> jax.Array:
        each = jnp.zeros((len(program.state), waves.count))
        each = each.at[:, np.array(program.entering)].set(z.reshape(len(program.state), -1))
        return allow(waves.to_modes(each, gauge))

    basis = jax.vmap(to_modes)(jnp.eye(program.kicks))
    return lambda index: (index >= 0) * to_modes(amplitudes[jnp.maximum(index, 0)]), basis


def history_of(program: Program, grid: Grid, latent: Latent) -> tuple[Any, Any]:
    """Return what had come in before the first stop as modes (F, *modes), and the modes of its features (K, F, *modes).

    It stands beside what the prior says of the first state.
    """
    fields, count = len(program.state), program.history * program.kicks
    nothing = jnp.zeros((fields, *grid.modes_shape), complex)
    if not program.history:
        return nothing, jnp.zeros((0, *nothing.shape), complex)

    def to_modes(z: jax.Array) -> jax.Array:
        return grid.to_modes(jnp.einsum("hfe,hen->fn", z.reshape(program.history, fields, 2), latent.history))

    return to_modes(jnp.asarray(latent.z)[-count:]), jax.vmap(to_modes)(jnp.eye(count))
