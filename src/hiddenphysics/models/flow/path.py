"""The way through the stops of a window: the equation's own flow, with its tangents beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.rungs import rung
from hiddenphysics.spectral import MIN_POINTS, Features, Gauge, Grid, Motion
from hiddenphysics.together import together

MOST_GROWTH = 18.0
"""No wave grows by more than e^18 over the whole path: parameters of an ill-posed equation stay finite on the way."""


@dataclass(frozen=True)
class Program:
    """An equation on a grid; static and hashable: what a compiled program depends on.

    Attributes
    ----------
    equation
        What moves the fields.
    shape, waves
        Points of the grid along each side, and waves of the latent.
    outside
        Waves of what comes from outside at every stop; none where nothing does.
    """

    equation: Equation
    shape: tuple[int, ...]
    waves: tuple[int, ...]
    outside: tuple[int, ...] = ()

    @classmethod
    def of(cls, equation: Equation, features: Features, outside: tuple[int, ...] = ()) -> Program:
        """Return the program on the features' grid."""
        return cls(equation, features.grid.shape, features.waves, outside)

    @property
    def features(self) -> int:
        """Features F·K of the state in the latent; what comes from outside stands behind them."""
        return len(self.state) * wave_count(self.waves)

    @property
    def kicks(self) -> int:
        """Features F·M of what comes from outside at one stop."""
        return len(self.state) * wave_count(self.outside) if self.outside else 0

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the F fields of the state."""
        return self.equation.system.state

    def on(self, ends: Any) -> tuple[Motion, Features]:
        """Return the motion and the features on a box with ends (D, 2), which may be traced."""
        motion = Motion.over(self.equation, self.shape, ends)
        return motion, Features(motion.grid, self.waves)


class Path(NamedTuple):
    """W windows of T stops; a stop is reached from the one before in equal steps, an even number of them.

    Attributes
    ----------
    durations, steps, starts
        (W, T) time to the stop, number of steps, time at which they begin; 0 steps for the first stop.
    most
        Largest growth rate that is let happen, (W, T).
    visited
        (W, T) whether the path gets there, and looks.
    """

    durations: Any
    steps: Any
    starts: Any
    most: Any
    visited: Any

    @classmethod
    def through(cls, times: np.ndarray, dt: float, most: float, horizon: int | None = None) -> Path:
        """Return the way through times (W, T) in steps of at most dt, two in every gap at least.

        Stops are padded to a rung: a window waits where nothing more is seen. With a horizon only that many stops of a
        window are visited.
        """
        count = times.shape[1]
        times = np.pad(times, ((0, 0), (0, rung(count) - count)), mode="edge")
        durations = np.diff(times, axis=1, prepend=times[:, :1])
        starts = np.concatenate([times[:, :1], times[:, :-1]], axis=1)
        visited = np.broadcast_to(np.arange(times.shape[1]) < (horizon or count), times.shape)
        halves = np.ceil(durations / (2 * dt) - 1e-9).astype(int)
        steps = 2 * np.maximum(halves, durations > 0) * visited
        return cls(durations, steps, starts, np.full(durations.shape, most), visited)


class Latent(NamedTuple):
    """What a window begins with, and what comes into it.

    Attributes
    ----------
    z
        (W, F·K) amplitudes of the latents; behind them, for every stop, F·M of what comes from outside there.
    gauge
        How amplitudes make fields, with a leading axis W.
    ends
        (W, D, 2) of the box.
    padding
        (W, *shape) from 0 around the data to 1 far from them: where something may come in; None where nothing does.
    """

    z: Any
    gauge: Gauge
    ends: Any
    padding: Any = None

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
        The same, moved in half as many steps: what tells the error of the steps.
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
) -> Any:
    """Fold `visit(carry, fields, extra)` over the stops of one window; only the fields at one stop exist at a time.

    The motion is computed once, its tangents side by side: one for each feature and each parameter.
    """
    motion, features = program.on(latent.ends)
    names = program.equation.parameters

    def to_modes(z: jax.Array) -> jax.Array:
        return features.to_modes(z.reshape(len(program.state), -1), latent.gauge)

    kick, kick_basis = _kicks(program, motion.grid, latent)

    def weights(at: jax.Array, dt: jax.Array, most: jax.Array) -> Any:
        return motion.weights(dict(zip(names, at, strict=True)), dt, most=most)

    dt = path.durations / jnp.maximum(path.steps, 1)
    by, in_by = _with_slopes(lambda at: jax.vmap(partial(weights, at))(dt, path.most), parameters)
    by_coarse = jax.vmap(partial(weights, parameters))(2 * dt, path.most)

    def step(modes: jax.Array, at: jax.Array, by: Any, t: jax.Array) -> jax.Array:
        return motion.step(modes, dict(zip(names, at, strict=True)), by, t)

    def advance(now: Along, stop: Path, dt: jax.Array, by: Any, in_by: Any, by_coarse: Any) -> Along:
        def fine(index: jax.Array, now: Along) -> Along:
            t = stop.starts + index * dt

            def column(tangent: jax.Array, unit: jax.Array, in_by: Any) -> jax.Array:
                taken = partial(step, t=t)
                return jax.jvp(taken, (now.modes, parameters, by), (tangent, unit, in_by))[1]

            modes, push = jax.linearize(lambda modes: step(modes, parameters, by, t), now.modes)
            return now._replace(
                modes=modes,
                in_state=jax.vmap(push)(now.in_state),
                in_parameters=jax.vmap(column)(now.in_parameters, jnp.eye(parameters.size), in_by),
            )

        def coarse(index: jax.Array, modes: jax.Array) -> jax.Array:
            return step(modes, parameters, by_coarse, stop.starts + 2 * index * dt)

        return jax.lax.fori_loop(0, stop.steps, fine, now)._replace(
            coarse=jax.lax.fori_loop(0, stop.steps // 2, coarse, now.coarse)
        )

    def to_stop(state: tuple[Along, Any], each: Any) -> tuple[tuple[Along, Any], None]:
        now, carry = state
        index, stop, dt, by, in_by, by_coarse, extra = each
        now = advance(now, stop, dt, by, in_by, by_coarse)
        carry = visit(carry, now, extra)
        if program.outside:
            into = program.features + index * program.kicks
            comes = jax.lax.dynamic_update_slice_in_dim(now.in_state, kick_basis, into, axis=0)
            now = Along(now.modes + kick(index), now.coarse + kick(index), comes, now.in_parameters)
        return (now, carry), None

    modes = to_modes(latent.z[: program.features])
    tangents = jax.vmap(to_modes)(jnp.eye(program.features))
    if program.outside:
        later = latent.z.size - program.features
        tangents = jnp.concatenate([tangents, jnp.zeros((later, *modes.shape), modes.dtype)])
    nothing = jnp.zeros((parameters.size, *modes.shape), modes.dtype)
    begin = (Along(modes, modes, tangents, nothing), carry)
    # Slopes of the weights have the parameters in front; the scan goes over stops.
    in_by = jax.tree.map(lambda part: jnp.swapaxes(part, 0, 1), in_by)
    stops = jnp.arange(path.durations.size)
    return jax.lax.scan(to_stop, begin, (stops, path, dt, by, in_by, by_coarse, extra))[0][1]


def _kicks(program: Program, grid: Grid, latent: Latent) -> tuple[Callable[[Any], Any], Any]:
    """Return what comes from outside after a stop as modes, a function of its number, and the modes of its features."""
    if not program.outside:
        return lambda index: 0.0, None
    waves = Features(grid, program.outside)
    gauge = Gauge(jnp.broadcast_to(latent.padding, (len(program.state), *program.shape)), None)
    amplitudes = latent.z[program.features :].reshape(-1, len(program.state), waves.count)

    def to_modes(z: jax.Array) -> jax.Array:
        return waves.to_modes(z.reshape(len(program.state), -1), gauge)

    basis = jax.vmap(to_modes)(jnp.eye(program.kicks))
    return lambda index: to_modes(amplitudes[index]), basis


@lru_cache(maxsize=256)
def wave_count(waves: tuple[int, ...]) -> int:
    """Return the number of features with these waves along the sides of any box."""
    unit = Grid(((0.0, 1.0),) * len(waves), tuple(2 * w + 2 + MIN_POINTS for w in waves))
    return Features(unit, waves).count


def _with_slopes(function: Callable[[jax.Array], Any], at: jax.Array) -> tuple[Any, Any]:
    """Return a function's value, and its derivatives in every entry of a vector, with that entry's axis in front."""
    value, push = jax.linearize(function, at)
    return value, jax.vmap(push)(jnp.eye(at.size))


@partial(jax.jit, static_argnums=0)
def moved(program: Program, latent: Latent, parameters: jax.Array, path: Path) -> jax.Array:
    """Modes (T, F, *modes) of the state at all stops of one window; latent and path without the leading axis."""
    motion, features = program.on(latent.ends)
    numbers = dict(zip(program.equation.parameters, parameters, strict=True))
    kick, _ = _kicks(program, motion.grid, latent)

    def visit(modes: jax.Array, each: tuple[Any, Path]) -> tuple[jax.Array, jax.Array]:
        index, stop = each
        dt = stop.durations / jnp.maximum(stop.steps, 1)
        by = motion.weights(numbers, dt, most=stop.most)
        modes = jax.lax.fori_loop(
            0, stop.steps, lambda i, now: motion.step(now, numbers, by, stop.starts + i * dt), modes
        )
        return modes + kick(index), modes

    modes = features.to_modes(latent.z[: program.features].reshape(len(program.state), -1), latent.gauge)
    return jax.lax.scan(visit, modes, (jnp.arange(path.durations.size), path))[1]


@partial(jax.jit, static_argnums=0)
def at_the_end(program: Program, latent: Latent, parameters: jax.Array, path: Path) -> Along:
    """Fields at the last stop of one window, with their tangents; latent and path without the leading axis."""
    motion, _ = program.on(latent.ends)
    count, shape = latent.z.size, (len(program.state), *motion.grid.modes_shape)
    nothing = Along(
        *(jnp.zeros((*front, *shape), complex) for front in ((), (), (count,), (parameters.size,)))
    )
    stops = jnp.zeros(path.durations.shape)
    return along(program, latent, parameters, path, lambda _, fields, __: fields, nothing, stops)


@together
@partial(jax.jit, static_argnums=0)
def fastest_growth(program: Program, ends: jax.Array, parameters: jax.Array) -> jax.Array:
    """Largest growth rate of any wave on the grid, of equations whose linear part does not mix fields."""
    motion, _ = program.on(ends)
    return jnp.max(motion.symbol(dict(zip(program.equation.parameters, parameters, strict=True))).real)
