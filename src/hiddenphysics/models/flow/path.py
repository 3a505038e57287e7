"""The way through the stops of a window: the equation's own flow, with its tangents beside it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.compiled_code import compiled
from hiddenphysics.models.flow.program import DEGREE, Program
from hiddenphysics.models.flow.rungs import rung
from hiddenphysics.spectral import Driving, Features, Gauge, Grid, Unready
from hiddenphysics.together import together

EQUAL = 1e-6
"""Gaps that differ by no more than this part of themselves are equal: times were printed, or summed up."""

SAME, FEW_LENGTHS = 1e-10, 4
"""Steps whose lengths differ by no more than rounding of the times, relative to the longest, are the same; so many
different ones have a path through equal gaps: none, a half, one gap and two."""

TOGETHER = 32
"""Tangents in a plane that are moved side by side: what they need stays in a core's own memory."""

MOST_GROWTH = 18.0
"""No wave grows by more than e^18 over the whole path: parameters of an ill-posed equation stay finite on the way."""


class Leg(NamedTuple):
    """A way in equal steps: which of the path's lengths they have, their number, when they begin; (W, T) each."""

    which: Any
    steps: Any
    starts: Any


class Stops(NamedTuple):
    """How T stops of W windows are reached, each from the one before.

    Attributes
    ----------
    fine
        From the stop before; 0 steps for the first stop.
    coarse
        The same in half as many steps, which tells the error of the fine ones. Where these are one for every gap, a
        coarse step spans two gaps, and leaves out the stop between.
    compared
        (W, T) whether the coarse way gets to the stop, too.
    visited
        (W, T) whether the path gets there, and looks.
    comes
        (W, T) which of what comes from outside begins to after the stop, counted through the window's own stops; −1
        where nothing new does.
    """

    fine: Leg
    coarse: Leg
    compared: Any
    visited: Any
    comes: Any


class Entering(NamedTuple):
    """How what comes from outside goes on in time: Σ_j c_j B_j(t), with S of the splines B at work in every gap.

    In the gap after stop k these are B_k, …, B_{k+S−1}, polynomials of the time since that stop.

    Attributes
    ----------
    knots
        (W, J) times of a window's own stops.
    gaps
        (W, J) times until the next one; after the last as long as before.
    shapes
        (W, J, S, 4) coefficients of 1, t, t², t³, over the usual time between stops: c counts as what comes in that
        time.
    """

    knots: Any
    gaps: Any
    shapes: Any

    @classmethod
    def smoothly(cls, times: np.ndarray) -> Entering:
        """Return cubic splines with knots at the stops (W, J): twice differentiable, however unequal the gaps.

        Where it was constant from stop to stop, a weather of one day that was seen four times a day had overtones of
        a third and a fifth of its size, which decay faster on their way in: the diffusivity of a twin of glacier ice
        came out 7 % too small, 4.6 of its deviations, over 30 days.
        """
        made = [_splines(np.unique(own)) for own in times]
        more = [times.shape[1] - len(shapes) for shapes in made]
        padded = [
            np.pad(one, ((0, n), (0, 0), (0, 0)), mode="edge") for one, n in zip(made, more, strict=True)
        ]
        return cls(times, _gaps(times), np.stack(padded) / usual_gaps(times)[:, None, None, None])

    @classmethod
    def steadily(cls, times: np.ndarray) -> Entering:
        """Return what is constant from stop to stop, as in results of before 19 November 2026."""
        shapes = np.zeros((*times.shape, 1, 4))
        shapes[..., 0] = 1.0
        return cls(times, _gaps(times), shapes / usual_gaps(times)[:, None, None, None])

    def weights(self, gap: Any, t: Any) -> jax.Array:
        """(S,) of the splines at a time in a gap of one window, 0 before the first; beyond the last they stay."""
        here = jnp.maximum(gap, 0)
        after = jnp.minimum(t - jnp.asarray(self.knots)[here], jnp.asarray(self.gaps)[here])
        return (gap >= 0) * (jnp.asarray(self.shapes)[here] @ after ** jnp.arange(4))


def _gaps(times: np.ndarray) -> np.ndarray:
    """(W, J) time from each of the times (W, J) to the next, and after the last one as long as before it."""
    gaps = np.diff(times, axis=1, append=times[:, -1:])
    last = np.max(np.where(gaps > 0, np.arange(gaps.shape[1]), 0), axis=1)
    return np.where(gaps > 0, gaps, np.take_along_axis(gaps, last[:, None], axis=1))


def _splines(stops: np.ndarray) -> np.ndarray:
    """(J, 4, 4) polynomials of the four cubic B-splines in the gap after each of J stops, one more than gaps."""
    from scipy.interpolate import BSpline  # a quarter of a second to import, for driven edges alone

    gaps = np.diff(stops) if len(stops) > 1 else np.ones(1)
    before = stops[0] + gaps[0] * np.arange(-DEGREE, 0)
    after = stops[-1] + gaps[-1] * np.arange(1, DEGREE + 2)
    knots = np.concatenate([before, stops, after])
    count = len(knots) - DEGREE - 1
    splines = BSpline(knots, np.eye(count), DEGREE)
    powers = [splines(stops, nu=p) / math.factorial(p) for p in range(DEGREE + 1)]
    return np.stack(
        [np.stack([one[k, k : k + DEGREE + 1] for one in powers], axis=1) for k in range(len(stops))]
    )


class Path(NamedTuple):
    """The way through all stops.

    Attributes
    ----------
    stops
        One after the other.
    lengths
        (W, U) of the steps, the same for all windows: equal gaps share what a step needs to know.
    most
        (W,) largest growth rate that is let happen.
    entering
        How what comes from outside goes on in time; None where nothing does, or all of it at once.
    """

    stops: Stops
    lengths: Any
    most: Any
    entering: Entering | None = None

    @classmethod
    def through(
        cls,
        times: np.ndarray,
        dt: float,
        most: float,
        horizon: int | None = None,
        *,
        two_gaps: bool = False,
        comes: np.ndarray | None = None,
        entering: Entering | None = None,
    ) -> Path:
        """Return the way through times (W, T) in steps of at most dt, two in every gap at least.

        Stops are padded to a rung: a window waits where nothing more is seen. With a horizon only that many stops of a
        window are visited. With `two_gaps` one step is enough for a gap where the next one is as long. `comes` (W, T)
        says what comes from outside after a stop, by default one thing after the other, and `entering` how.
        """
        count = times.shape[1]
        times = np.pad(times, ((0, 0), (0, rung(count) - count)), mode="edge")
        durations = np.diff(times, axis=1, prepend=times[:, :1])
        starts = np.concatenate([times[:, :1], times[:, :-1]], axis=1)
        visited = np.broadcast_to(np.arange(times.shape[1]) < (horizon or count), times.shape)
        halves = np.ceil(durations / (2 * dt) - 1e-9).astype(int)
        halves = np.maximum(halves, durations > 0) * visited
        short = visited & (durations > 0) & (durations <= (1 + EQUAL) * dt)
        second = _second_of_two(durations, short) if two_gaps else np.zeros(times.shape, bool)
        first = np.roll(second, -1, axis=1)
        steps = np.where(first | second, 1, 2 * halves)
        coarse_steps = np.where(first, 0, np.where(second, 1, halves))
        before = np.roll(durations, 1, axis=1)
        each = np.stack([
            durations / np.maximum(steps, 1),
            np.where(second, durations + before, durations) / np.maximum(coarse_steps, 1),
        ])  # fmt: skip
        lengths, which = _distinct(each)
        fine = Leg(which[0], steps, starts)
        coarse = Leg(which[1], coarse_steps, np.where(second, starts - before, starts))
        own = np.broadcast_to(np.arange(times.shape[1]), times.shape)
        if comes is not None:
            own = np.pad(comes, ((0, 0), (0, times.shape[1] - count)), constant_values=-1)
        stops = Stops(fine, coarse, visited & ~first, visited, own)
        return cls(stops, np.tile(lengths, (len(times), 1)), np.full(len(times), most), entering)

    def window(self, index: int) -> Path:
        """Return the way of one window, without the leading axis."""
        return jax.tree.map(lambda part: part[index], self)


def usual_gaps(times: np.ndarray) -> np.ndarray:
    """(W,) mean time from one of the times (W, T) of a window to the next; 1 where there is one."""
    gaps = np.diff(times, axis=1)
    count = np.count_nonzero(gaps > 0, axis=1)
    return np.where(count > 0, np.sum(gaps, axis=1) / np.maximum(count, 1), 1.0)


def _distinct(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct ones among lengths (2, W, T), and which of them each is.

    There are a few of them, or as many as stops: so numbers of lengths do not make numbers of compiled programs.
    """
    unit = SAME * max(float(np.max(lengths)), 1e-300)
    _, places, which = np.unique(np.round(lengths / unit), return_index=True, return_inverse=True)
    if len(places) <= FEW_LENGTHS:
        places = np.resize(places, FEW_LENGTHS)
    else:
        places, which = np.arange(lengths.size), np.arange(lengths.size)
    return lengths.ravel()[places], which.reshape(lengths.shape)


def _second_of_two(durations: np.ndarray, short: np.ndarray) -> np.ndarray:
    """Mark the second of every two neighbouring gaps (W, T) that are short and equally long."""
    second = np.zeros(durations.shape, bool)
    for t in range(2, durations.shape[1]):
        equal = np.abs(durations[:, t] - durations[:, t - 1]) <= EQUAL * durations[:, t]
        second[:, t] = short[:, t] & short[:, t - 1] & equal & ~second[:, t - 1]
    return second


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


class Along(NamedTuple):
    """Fields at a stop of one window, as modes.

    Attributes
    ----------
    modes
        (F, *modes) of the state.
    coarse
        The same, moved in half as many steps: what tells the error of the steps, where the path compares them.
    in_state, in_parameters
        (K, F, *modes) and (P, F, *modes) derivatives of the state in the latent and in the parameters.
    """

    modes: Any
    coarse: Any
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
    *,
    tangents: bool = True,
) -> Any:
    """Fold `visit(carry, fields, extra)` over the stops of one window; only the fields at one stop exist at a time.

    The motion is computed once, its tangents side by side: one for each feature and each parameter; without `tangents`
    of the parameters alone.
    """
    motion, features = program.on(latent.ends, latent.driving)
    names = program.equation.parameters
    allow = program.allowing(motion)

    state_of = program.state_of(motion, features, latent.gauge)

    kick, kick_basis = kicks_of(program, motion.grid, latent, lambda modes: allow(modes, parameters))
    coarsely = program.coarsely
    rough = program.coarse_on(latent.ends, latent.driving) if coarsely else motion
    parts, whole = in_parts(latent.z.size) if coarsely and tangents else (_same, _same)

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

    def advance(now: Along, stop: Stops, came: jax.Array) -> Along:
        amplitudes, force_of = (None, None) if pushes is None else pushes(came)
        force = None if amplitudes is None or force_of is None else force_of(amplitudes)
        dt, by_here = path.lengths[stop.fine.which], jax.tree.map(lambda part: part[stop.fine.which], by)
        in_by_here = jax.tree.map(lambda part: part[:, stop.fine.which], in_by)
        coarse_dt = path.lengths[stop.coarse.which]
        by_coarse = jax.tree.map(lambda part: part[stop.coarse.which], by)
        if isinstance(by_here, Unready):
            raw, here = by_here, now.modes
            by_here, in_by_here = _with_slopes(lambda at: ready(raw, here, at, stop.fine.starts), parameters)
            by_coarse = ready(by_coarse, now.coarse, parameters, stop.coarse.starts)

        def fine(index: jax.Array, now: Along) -> Along:
            t = stop.fine.starts + index * dt

            def column(tangent: jax.Array, unit: jax.Array, in_by: Any) -> jax.Array:
                taken = partial(step, t=t, force=force)
                return jax.jvp(taken, (now.modes, parameters, by_here), (tangent, unit, in_by))[1]

            in_parameters = jax.vmap(column)(now.in_parameters, jnp.eye(parameters.size), in_by_here)
            if coarsely or not tangents:
                modes = step(now.modes, parameters, by_here, t)
                return now._replace(modes=modes, in_parameters=in_parameters)
            modes, push = jax.linearize(lambda modes: step(modes, parameters, by_here, t, force), now.modes)
            in_state = jax.vmap(push)(now.in_state)
            if amplitudes is not None and force_of is not None:
                _, forced = jax.linearize(
                    lambda some: step(now.modes, parameters, by_here, t, force_of(some)), amplitudes
                )
                new = jax.vmap(forced)(jnp.eye(amplitudes.size).reshape(-1, *amplitudes.shape))
                into = program.features + jnp.maximum(came, 0) * program.kicks
                old = jax.lax.dynamic_slice_in_dim(in_state, into, amplitudes.size)
                in_state = jax.lax.dynamic_update_slice_in_dim(in_state, old + new, into, axis=0)
            return now._replace(modes=modes, in_state=in_state, in_parameters=in_parameters)

        def coarse(index: jax.Array, now: Along) -> Along:
            t = stop.coarse.starts + index * coarse_dt
            if not (coarsely and tangents):
                return now._replace(coarse=step(now.coarse, parameters, by_coarse, t, force))
            modes = step(now.coarse, parameters, by_coarse, t)
            push = jax.linearize(
                lambda modes: rough.step(modes, dict(zip(names, parameters, strict=True)), by_coarse, t),
                now.coarse,
            )[1]
            return now._replace(coarse=modes, in_state=jax.lax.map(jax.vmap(push), now.in_state))

        now = jax.lax.fori_loop(0, stop.fine.steps, fine, now)
        return jax.lax.fori_loop(0, stop.coarse.steps, coarse, now)

    def to_stop(state: tuple[Along, Any, jax.Array], each: Any) -> tuple[tuple[Along, Any, jax.Array], None]:
        now, carry, came = state
        stop, extra = each
        now = advance(now, stop, came)
        carry = visit(carry, now._replace(in_state=whole(now.in_state)), extra)
        if program.outside and not tangents:
            push = kick(stop.comes)
            now = now._replace(modes=now.modes + push, coarse=now.coarse + push)
        elif program.outside and program.at_once:
            into = program.features + jnp.maximum(stop.comes, 0) * program.kicks
            columns = whole(now.in_state)
            old = jax.lax.dynamic_slice_in_dim(columns, into, program.kicks)
            new = jnp.where(stop.comes < 0, old, kick_basis)
            columns = jax.lax.dynamic_update_slice_in_dim(columns, new, into, axis=0)
            push = kick(stop.comes)
            now = Along(now.modes + push, now.coarse + push, parts(columns), now.in_parameters)
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
    begin = (Along(modes, modes, parts(columns), in_parameters), carry, jnp.asarray(-1))
    return jax.lax.scan(to_stop, begin, (path.stops, extra))[0][1]


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
        *(jnp.zeros((*front, *shape), complex) for front in ((), (), (count,), (parameters.size,)))
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
