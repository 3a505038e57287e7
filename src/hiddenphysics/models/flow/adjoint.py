"""The values' rows pulled back along the flow: derivatives in the state where there are fewer values than features."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from hiddenphysics.models.flow.compressed import Seen
from hiddenphysics.models.flow.latent import Latent, kicks_of
from hiddenphysics.models.flow.moved_fields import in_parts
from hiddenphysics.models.flow.path import Path, Stops
from hiddenphysics.models.flow.program import Program
from hiddenphysics.spectral import Motion

ON_A_LINE = 0.5
"""Part of the work of pushing features on that pulling rows back has to cost at most on a line: a step back is up to
twice a step on. Two snapshots of Schrödinger's field with a spike, 102 values and 770 features each, are swept in 1.8
instead of 6.4 s (one shared core, 18 November 2026)."""


def pulls(program: Program, seen: Seen, features: int) -> bool:
    """Whether it is less work to pull rows back to the first stop than to push features on to the last one.

    The rows of stop k go back through k gaps, features through every gap once. On a line something that comes in does
    so over a whole gap, which rows do not meet on their way back: there features are pushed on.
    """
    _, stops, fields, rows = seen.values.shape
    work = stops * fields * rows / 2
    if program.in_a_plane:
        return bool(work < features)
    return bool(not program.outside and work < ON_A_LINE * features)


def pulled_rows(
    program: Program, seen: Seen, latent: Latent, parameters: jax.Array, path: Path, which: jax.Array
) -> jax.Array:
    """(T, G·r, K) derivatives of the values at all stops of one window in its K amplitudes.

    A value is a linear functional of the modes at its stop. The transpose of the flow's derivative, step by step, takes
    it back to the first stop, where it meets the features, and past every stop, where it meets what comes in. The steps
    are those of the derivatives, and exact up to their error.
    """
    motion, features = program.on(latent.ends, latent.driving)
    rough = program.for_derivatives(latent.ends, latent.driving) if program.in_a_plane else motion
    numbers = dict(zip(program.equation.parameters, parameters, strict=True))
    allow = program.allowing(motion)
    kick, kick_basis = kicks_of(program, motion.grid, latent, lambda modes: allow(modes, parameters))
    state_of = program.state_of(motion, features, latent.gauge)
    by = jax.vmap(lambda dt: motion.weights(numbers, dt, most=path.most))(path.lengths)
    stops: Stops = path.stops
    first = latent.z[: program.features]
    count = len(seen.fields) * seen.waves.shape[1]
    parts, whole = in_parts(count)

    def ready(stop: Stops, modes: jax.Array) -> Any:
        here = jax.tree.map(lambda part: part[stop.rough.which], by)
        return motion.readied(here, modes, numbers, stop.rough.starts)

    def stepped(
        stop: Stops, modes: jax.Array, here: Any, index: Any, by_motion: Motion = motion
    ) -> jax.Array:
        dt = path.lengths[stop.rough.which]
        return by_motion.step(modes, numbers, here, stop.rough.starts + index * dt)

    def on(stop: Stops, modes: jax.Array, here: Any, steps: Any) -> jax.Array:
        return jax.lax.fori_loop(0, steps, lambda index, now: stepped(stop, now, here, index), modes)

    def leave(modes: jax.Array, stop: Stops) -> tuple[jax.Array, jax.Array]:
        after = on(stop, modes, ready(stop, modes), stop.rough.steps)
        return after + kick(stop.comes), modes

    begins = jax.lax.scan(leave, state_of(first, parameters), stops)[1]
    at_first = jax.vjp(lambda z: state_of(z, parameters), first)[1]

    def back(number: jax.Array, rows: jax.Array) -> jax.Array:
        """Pull rows from a stop to what leaves the one before."""
        stop = jax.tree.map(lambda part: part[number], stops)
        way_here = ready(stop, begins[number])

        def one(done: jax.Array, rows: jax.Array) -> jax.Array:
            # The state at a step is run up to again: one state costs nothing beside hundreds of rows.
            index = stop.rough.steps - 1 - done
            here = on(stop, begins[number], way_here, index)
            pull = jax.vjp(lambda modes: stepped(stop, modes, way_here, index, rough), here)[1]
            return jax.lax.map(jax.vmap(lambda row: pull(row)[0]), rows)

        return jax.lax.fori_loop(0, stop.rough.steps, one, rows)

    def of_stop(number: jax.Array) -> jax.Array:
        columns = jnp.zeros((count, latent.z.size))
        rows = parts(_functionals(program, seen, which[number], motion.grid.modes_shape))

        def gap(done: jax.Array, now: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            rows, columns = now
            rows = back(number - done, rows)
            if program.outside:
                comes = stops.comes[number - done - 1]
                into = program.features + jnp.maximum(comes, 0) * program.kicks
                met = jnp.where(comes < 0, 0.0, _met(whole(rows), kick_basis))
                old = jax.lax.dynamic_slice_in_dim(columns, into, program.kicks, axis=1)
                columns = jax.lax.dynamic_update_slice_in_dim(columns, old + met, into, axis=1)
            return rows, columns

        rows, columns = jax.lax.fori_loop(0, number, gap, (rows, columns))
        own = whole(jax.lax.map(jax.vmap(lambda row: at_first(row)[0]), rows))
        return columns.at[:, : program.features].set(own)

    return jax.lax.map(of_stop, jnp.arange(stops.visited.size))


def _functionals(program: Program, seen: Seen, which: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """(G·r, F, *modes) c with value = Re Σ c û for the values at a stop: derivatives of reals as JAX writes them."""
    real, imaginary = jnp.split(seen.waves[which], 2, axis=-1)
    waves = (real - 1j * imaginary).reshape(-1, *shape)
    every = jnp.zeros((len(seen.fields), len(waves), len(program.state), *shape), complex)
    for row, (field, size) in enumerate(zip(seen.fields, seen.scale, strict=True)):
        every = every.at[row, :, field].set(size * waves)
    return every.reshape(-1, *every.shape[2:])


def _met(rows: jax.Array, columns: jax.Array) -> jax.Array:
    """Re Σ c û of functionals (R, F, *modes) and modes (K, F, *modes): (R, K)."""
    one, other = rows.reshape(len(rows), -1), columns.reshape(len(columns), -1)
    return one.real @ other.real.T - one.imag @ other.imag.T
