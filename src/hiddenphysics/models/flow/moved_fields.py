"""Fields moved through the stops of a window by the equation's own flow, with their tangents beside them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from hiddenphysics.compiled_code import compiled
from hiddenphysics.models.flow.inflow import Entering
from hiddenphysics.models.flow.latent import Latent, history_of, kicks_of
from hiddenphysics.models.flow.path import Leg, Path, Stops
from hiddenphysics.models.flow.program import Program
from hiddenphysics.spectral import Unready
from hiddenphysics.together import together

TOGETHER = 32
"""Tangents in a plane that are moved side by side: what they need stays in a core's own memory."""


NEXT = 1e-6
"""Distance between two states, in parts of what they vary by, of which the difference tells a derivative: where the
flow bends it is off by about as much, by rounding far less, and a hundredth is asked for."""


class Along(NamedTuple):
    """Fields at a stop of one window, as modes.

    Attributes
    ----------
    modes
        (F, *modes) of the state.
    coarse
        The same, moved in half as many steps: what tells the error of the steps, where the path compares them.
    probed
        The derivative of the state along one direction of the latent, moved in the state's own steps: what tells the
        error of the other derivatives.
    rough
        The state, moved in the steps of the derivatives.
    in_state, in_parameters
        (K, F, *modes) and (P, F, *modes) derivatives of the state in the latent and in the parameters.
    """

    modes: Any
    coarse: Any
    probed: Any
    rough: Any
    in_state: Any
    in_parameters: Any


def along(
    program: Program,
    latent: Latent,
    parameters: jax.Array,
    path: Path,
    visit: Callable[[Any, Along, Any], Any],
    carry: Any,
    extra: Any,
    probe: Any = 0.0,
    *,
    tangents: bool = True,
) -> Any:
    """Fold `visit(carry, fields, extra)` over the stops of one window; only the fields at one stop exist at a time.

    The motion is computed once, its tangents side by side: one for each feature and each parameter; without `tangents`
    of the parameters alone. `probe` (K,) is a direction of the state's amplitudes; 0 behind these.
    """
    motion, features = program.on(latent.ends, latent.driving)
    names = program.equation.parameters
    allow = program.allowing(motion)

    state_of = program.state_of(motion, features, latent.gauge)

    kick, kick_basis = kicks_of(program, motion.grid, latent, lambda modes: allow(modes, parameters))
    in_a_plane = program.in_a_plane
    rougher = program.for_derivatives(latent.ends, latent.driving) if in_a_plane else motion
    parts, whole = in_parts(latent.z.size) if in_a_plane and tangents else (_same, _same)

    def weights(at: jax.Array, dt: jax.Array, most: jax.Array) -> Any:
        return motion.weights(dict(zip(names, at, strict=True)), dt, most=most)

    by, in_by = _with_slopes(
        lambda at: jax.vmap(lambda dt: weights(at, dt, path.most))(path.lengths), parameters
    )

    entering = path.entering
    pushes = None if entering is None else _pushes(program, latent, entering, kick_basis)

    def step(modes: jax.Array, at: jax.Array, by: Any, t: jax.Array, force: Any = None) -> jax.Array:
        return motion.step(modes, dict(zip(names, at, strict=True)), by, t, force)

    def ready(by: Any, modes: jax.Array, at: jax.Array, t: jax.Array) -> Any:
        return motion.readied(by, modes, dict(zip(names, at, strict=True)), t)

    def advance(now: Moving, stop: Stops, came: jax.Array) -> Moving:
        amplitudes, force_of = (None, None) if pushes is None else pushes(came)
        force = None if amplitudes is None or force_of is None else force_of(amplitudes)

        def states(each: tuple[jax.Array, Leg]) -> jax.Array:
            modes, leg = each
            here = ready(jax.tree.map(lambda part: part[leg.which], by), modes, parameters, leg.starts)
            dt = path.lengths[leg.which]

            def one(index: jax.Array, modes: jax.Array) -> jax.Array:
                return step(modes, parameters, here, leg.starts + index * dt, force)

            return jax.lax.fori_loop(0, leg.steps, one, modes)

        rough_dt = path.lengths[stop.rough.which]
        by_rough = jax.tree.map(lambda part: part[stop.rough.which], by)
        in_by_rough = jax.tree.map(lambda part: part[:, stop.rough.which], in_by)
        if isinstance(by_rough, Unready):
            raw, here = by_rough, now.rough
            by_rough, in_by_rough = _with_slopes(
                lambda at: ready(raw, here, at, stop.rough.starts), parameters
            )

        def derivatives(index: jax.Array, now: Moving) -> Moving:
            t = stop.rough.starts + index * rough_dt

            def column(tangent: jax.Array, unit: jax.Array, in_by: Any) -> jax.Array:
                taken = partial(step, t=t, force=force)
                return jax.jvp(taken, (now.rough, parameters, by_rough), (tangent, unit, in_by))[1]

            in_parameters = jax.vmap(column)(now.in_parameters, jnp.eye(parameters.size), in_by_rough)
            if in_a_plane or not tangents:
                after = step(now.rough, parameters, by_rough, t, force)
                in_state = now.in_state
                if tangents:
                    numbers = dict(zip(names, parameters, strict=True))
                    push = jax.linearize(lambda m: rougher.step(m, numbers, by_rough, t), now.rough)[1]
                    in_state = jax.lax.map(jax.vmap(push), in_state)
                return now._replace(rough=after, in_state=in_state, in_parameters=in_parameters)
            after, push = jax.linearize(lambda modes: step(modes, parameters, by_rough, t, force), now.rough)
            in_state = jax.vmap(push)(now.in_state)
            if amplitudes is not None and force_of is not None:
                _, forced = jax.linearize(
                    lambda some: step(now.rough, parameters, by_rough, t, force_of(some)), amplitudes
                )
                new = jax.vmap(forced)(jnp.eye(amplitudes.size).reshape(-1, *amplitudes.shape))
                into = program.features + jnp.maximum(came, 0) * program.kicks
                old = jax.lax.dynamic_slice_in_dim(in_state, into, amplitudes.size)
                in_state = jax.lax.dynamic_update_slice_in_dim(in_state, old + new, into, axis=0)
            return now._replace(rough=after, in_state=in_state, in_parameters=in_parameters)

        legs = jax.tree.map(lambda *each: jnp.stack(each), stop.fine, stop.coarse, stop.fine)
        now = now._replace(states=jax.lax.map(states, (now.states, legs)))
        # Of a state that has left the numbers no derivative is asked.
        there = jnp.all(jnp.isfinite(now.states[0]))
        return jax.lax.fori_loop(0, jnp.where(there, stop.rough.steps, 0), derivatives, now)

    def to_stop(
        state: tuple[Moving, Any, jax.Array], each: Any
    ) -> tuple[tuple[Moving, Any, jax.Array], None]:
        now, carry, came = state
        stop, extra = each
        now = advance(now, stop, came)
        modes, coarse, aside = now.states
        probed = (aside - modes) / distance
        seen = Along(modes, coarse, probed, now.rough, whole(now.in_state), now.in_parameters)
        carry = visit(carry, seen, extra)
        if program.outside and (program.at_once or not tangents):
            push = kick(stop.comes)
            now = now._replace(states=now.states + push, rough=now.rough + push)
        if program.outside and program.at_once and tangents:
            into = program.features + jnp.maximum(stop.comes, 0) * program.kicks
            columns = whole(now.in_state)
            old = jax.lax.dynamic_slice_in_dim(columns, into, program.kicks)
            new = jnp.where(stop.comes < 0, old, kick_basis)
            columns = jax.lax.dynamic_update_slice_in_dim(columns, new, into, axis=0)
            now = now._replace(in_state=parts(columns))
        return (now, carry, jnp.where(stop.comes < 0, came, stop.comes)), None

    first = latent.z[: program.features]
    before, before_basis = history_of(program, motion.grid, latent)
    modes = state_of(first, parameters) + before
    columns = jnp.zeros((0, *modes.shape), modes.dtype)
    if tangents:
        columns = jax.vmap(lambda z: state_of(z, parameters))(jnp.eye(program.features))
        later = latent.z.size - program.features - len(before_basis)
        columns = jnp.concatenate([columns, jnp.zeros((later, *modes.shape), modes.dtype), before_basis])
    in_parameters = jnp.zeros((parameters.size, *modes.shape), modes.dtype)
    if program.tied:
        in_parameters = _with_slopes(lambda at: state_of(first, at), parameters)[1]
    along_it = state_of(jnp.broadcast_to(probe, latent.z.shape)[: program.features], parameters)
    distance = _next_to(modes, along_it)
    states = jnp.stack([modes, modes, modes + distance * along_it])
    begin = (Moving(states, modes, parts(columns), in_parameters), carry, jnp.asarray(-1))
    return jax.lax.scan(to_stop, begin, (path.stops, extra))[0][1]


class Moving(NamedTuple):
    """What is moved from stop to stop: (3, F, *modes) the state in its own steps, in half as many, and next to it."""

    states: Any
    rough: Any
    in_state: Any
    in_parameters: Any


def _next_to(modes: jax.Array, along_it: jax.Array) -> jax.Array:
    """Return how far along some modes a state goes to be next to it: the flow is straight there, and rounding small."""
    still = (slice(None), *(0,) * (modes.ndim - 1))
    size, other = (jnp.linalg.norm(each) for each in (modes.at[still].set(0.0), along_it))
    return jnp.where((size > 0) & (other > 0), NEXT * size / jnp.maximum(other, 1e-300), 1.0)


def _same(columns: jax.Array) -> jax.Array:
    return columns


def in_parts(count: int) -> tuple[Callable[[jax.Array], jax.Array], Callable[[jax.Array], jax.Array]]:
    """Return what makes columns (K, …) parts (K / TOGETHER, TOGETHER, …), the last one filled up, and the way back."""
    size = -(-count // -(-count // TOGETHER))

    def parts(columns: jax.Array) -> jax.Array:
        more = jnp.zeros((-count % size, *columns.shape[1:]), columns.dtype)
        return jnp.concatenate([columns, more]).reshape(-1, size, *columns.shape[1:])

    def whole(columns: jax.Array) -> jax.Array:
        return columns.reshape(-1, *columns.shape[2:])[:count]

    return parts, whole


def _pushes(
    program: Program, latent: Latent, entering: Entering, basis: jax.Array
) -> Callable[[Any], tuple[jax.Array, Callable[[jax.Array], Callable[[Any], jax.Array]]]]:
    """Return what tells for a gap the amplitudes (S, kicks) at work in it, and how such make a force in time."""
    every = latent.z[program.features :].reshape(-1, program.kicks)
    splines = entering.shapes.shape[-2]

    def of_gap(gap: Any) -> tuple[jax.Array, Callable[[jax.Array], Callable[[Any], jax.Array]]]:
        amplitudes = jax.lax.dynamic_slice_in_dim(every, jnp.maximum(gap, 0), splines)

        def force_of(some: jax.Array) -> Callable[[Any], jax.Array]:
            return lambda t: jnp.tensordot(entering.weights(gap, t) @ some, basis, 1)

        return amplitudes, force_of

    return of_gap


def _with_slopes(function: Callable[[jax.Array], Any], at: jax.Array) -> tuple[Any, Any]:
    """Return a function's value, and its derivatives in every entry of a vector, with that entry's axis in front."""
    value, push = jax.linearize(function, at)
    return value, jax.vmap(push)(jnp.eye(at.size))


@together
@compiled(once=True, static_argnums=0)
def moved(program: Program, latent: Latent, parameters: jax.Array, path: Path) -> jax.Array:
    """Modes (T, F, *modes) of the state at all stops of one window; latent and path without the leading axis."""
    motion, features = program.on(latent.ends, latent.driving)
    numbers = dict(zip(program.equation.parameters, parameters, strict=True))
    allow = program.allowing(motion)
    kick, basis = kicks_of(program, motion.grid, latent, lambda modes: allow(modes, parameters))
    pushes = None if path.entering is None else _pushes(program, latent, path.entering, basis)

    def visit(state: tuple[jax.Array, jax.Array], each: tuple[Any, Leg]) -> tuple[Any, jax.Array]:
        modes, came = state
        index, leg = each
        dt = path.lengths[leg.which]
        by = motion.readied(motion.weights(numbers, dt, most=path.most), modes, numbers, leg.starts)
        force = None
        if pushes is not None:
            amplitudes, force_of = pushes(came)
            force = force_of(amplitudes)
        modes = jax.lax.fori_loop(
            0, leg.steps, lambda i, now: motion.step(now, numbers, by, leg.starts + i * dt, force), modes
        )
        after = modes if pushes is not None else modes + kick(index)
        return (after, jnp.where(index < 0, came, index)), modes

    modes = program.state_of(motion, features, latent.gauge)(latent.z[: program.features], parameters)
    modes = modes + history_of(program, motion.grid, latent)[0]
    legs = path.stops.fine
    return jax.lax.scan(visit, (modes, jnp.asarray(-1)), (path.stops.comes, legs))[1]


@together
@compiled(once=True, static_argnums=0)
def at_the_end(program: Program, latent: Latent, parameters: jax.Array, path: Path) -> Along:
    """Fields at the last stop of one window, with their tangents; latent and path without the leading axis."""
    motion, _ = program.on(latent.ends)
    count, shape = latent.z.size, (len(program.state), *motion.grid.modes_shape)
    nothing = Along(
        *(jnp.zeros((*front, *shape), complex) for front in ((), (), (), (), (count,), (parameters.size,)))
    )
    stops = jnp.zeros(path.stops.visited.shape)
    return along(program, latent, parameters, path, lambda _, fields, __: fields, nothing, stops)


@together
@compiled(once=True, static_argnums=0)
def idle_fields(
    program: Program, fields: Along, latent: Latent, parameters: jax.Array, t: jax.Array
) -> Along:
    """Return the fields without a time derivative, such as a pressure, that go with a state; with their tangents."""
    motion, _ = program.on(latent.ends, latent.driving)
    names = program.equation.parameters

    def made(modes: jax.Array, at: jax.Array) -> jax.Array:
        return motion.idle(modes, dict(zip(names, at, strict=True)), t)

    modes, push = jax.linearize(made, fields.modes, parameters)
    still = jnp.zeros_like(parameters)
    return Along(
        modes,
        modes,
        fields.probed,
        modes,
        jax.vmap(lambda tangent: push(tangent, still))(fields.in_state),
        jax.vmap(push)(fields.in_parameters, jnp.eye(parameters.size)),
    )


@together
@compiled(once=True, static_argnums=0)
def rates_in_parameters(
    program: Program, latent: Latent, parameters: jax.Array, modes: jax.Array, times: jax.Array
) -> jax.Array:
    """Return ∂(rate)/∂(parameter), (P, T, F, *modes), of modes (T, F, *modes) at times (T,), in one window."""
    motion, _ = program.on(latent.ends, latent.driving)

    def rate(at: jax.Array) -> jax.Array:
        numbers = dict(zip(program.equation.parameters, at, strict=True))
        return jax.vmap(lambda now, t: motion.rate(now, numbers, t))(modes, times)

    return jax.vmap(lambda unit: jax.jvp(rate, (parameters,), (unit,))[1])(jnp.eye(parameters.size))


@together
@compiled(once=True, static_argnums=0)
def fastest_growth(program: Program, ends: jax.Array, parameters: jax.Array) -> jax.Array:
    """Largest growth rate of any wave on the grid, of equations whose linear part does not mix fields."""
    motion, _ = program.on(ends)
    return jnp.max(motion.symbol(dict(zip(program.equation.parameters, parameters, strict=True))).real)
