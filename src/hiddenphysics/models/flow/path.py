"""The equation's own flow as an observation model: values at scattered points and times, and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from hiddenphysics.equation import Equation, evaluate, parameter
from hiddenphysics.operators import Symbol
from hiddenphysics.spectral import Features, Gauge, Motion, values_at

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
    """

    equation: Equation
    shape: tuple[int, ...]
    waves: tuple[int, ...]

    @classmethod
    def of(cls, equation: Equation, features: Features) -> Program:
        """Return the program on the features' grid."""
        return cls(equation, features.grid.shape, features.waves)

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the F fields of the state."""
        return self.equation.system.state

    def on(self, ends: Any) -> tuple[Motion, Features]:
        """Return the motion and the features on a box with ends (D, 2), which may be traced."""
        motion = Motion.over(self.equation, self.shape, ends)
        return motion, Features(motion.grid, self.waves)


class Path(NamedTuple):
    """W windows of T stops with up to N points; a stop is reached from the one before in equal steps.

    Attributes
    ----------
    durations, steps, starts
        (W, T) time to the stop, number of steps, time at which they begin; 0 for the first stop.
    points
        (W, T, N, D).
    most
        Largest growth rate that is let happen, (W, T).
    """

    durations: Any
    steps: Any
    starts: Any
    points: Any
    most: Any

    def with_steps(self, dt: float) -> Path:
        """Return the path with steps of about dt."""
        counts = np.ceil(np.asarray(self.durations) / dt - 1e-9).astype(int)
        return self._replace(steps=jnp.asarray(np.maximum(counts, np.asarray(self.durations) > 0)))


class Latent(NamedTuple):
    """Amplitudes (W, F·K) of the latents, their gauges with a leading axis W, ends (W, D, 2) of the box."""

    z: Any
    gauge: Gauge
    ends: Any

    def window(self, index: int) -> Latent:
        """Return one window, still with a leading axis."""
        return jax.tree.map(lambda part: jnp.asarray(part[index : index + 1]), self)


def predict(
    program: Program, latent: Latent, parameters: jax.Array, path: Path, symbol: Symbol | None = None
) -> Float[jax.Array, "T F N"]:
    """Values of all fields of the state at the stops of one window, from the latent at its first.

    With a symbol, what that operator makes of them; its orders may hold parameters.
    """
    motion, features = program.on(latent.ends)
    modes = features.to_modes(latent.z.reshape(len(program.state), -1), latent.gauge)
    if symbol is not None:
        numbers = {parameter(n): p for n, p in zip(program.equation.parameters, parameters, strict=True)}
        symbol = symbol.evaluate(lambda order: evaluate(order, numbers, jnp))

    def visit(modes: jax.Array, stop: Path) -> tuple[jax.Array, jax.Array]:
        modes = _advance(motion, modes, parameters, stop)
        return modes, values_at(motion.grid, modes, stop.points, symbol)

    return jax.lax.scan(visit, modes, path)[1]


def _advance(motion: Motion, modes: jax.Array, parameters: jax.Array, stop: Path) -> jax.Array:
    numbers = dict(zip(motion.equation.parameters, parameters, strict=True))
    dt = stop.durations / jnp.maximum(stop.steps, 1)
    by = motion.weights(numbers, dt, most=stop.most)

    def body(index: Any, now: jax.Array) -> jax.Array:
        return motion.step(now, numbers, by, stop.starts + index * dt)

    return jax.lax.fori_loop(0, stop.steps, body, modes)


@partial(jax.jit, static_argnums=0)
def predictions(
    program: Program, latent: Latent, parameters: jax.Array, path: Path
) -> Float[jax.Array, "W T F N"]:
    """`predict` for every window."""
    return jax.lax.map(lambda each: predict(program, each[0], parameters, each[1]), (latent, path))


@partial(jax.jit, static_argnums=(0, 4))
def linearised(
    program: Program, latent: Latent, parameters: jax.Array, path: Path, symbol: Symbol | None = None
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Predictions (W, T, F, N) with their derivatives in z, (W, K, T, F, N), and in the parameters, (W, P, T, F, N).

    Forward derivatives, one for each feature and parameter: the motion is computed once, its tangents side by side.
    """

    def one(each: tuple[Latent, Path]) -> tuple[jax.Array, jax.Array, jax.Array]:
        latent, path = each

        def value(z: jax.Array, at: jax.Array) -> jax.Array:
            return predict(program, latent._replace(z=z), at, path, symbol)

        z = latent.z
        in_z = jax.vmap(lambda t: jax.jvp(lambda v: value(v, parameters), (z,), (t,))[1])
        in_p = jax.vmap(lambda t: jax.jvp(lambda p: value(z, p), (parameters,), (t,))[1])
        return value(z, parameters), in_z(jnp.eye(z.size)), in_p(jnp.eye(parameters.size))

    return jax.lax.map(one, (latent, path))


def path_to(times: np.ndarray, points: np.ndarray, dt: float, most: float) -> Path:
    """Return one window's path from times[0] through all times, with the same points (N, D) at every stop."""
    durations = np.diff(times, prepend=times[:1])
    starts = np.concatenate([times[:1], times[:-1]])
    places = np.broadcast_to(points, (len(times), *points.shape))
    path = Path(durations, np.zeros(len(times), int), starts, places, np.full(len(times), most))
    return Path(*map(jnp.asarray, path)).with_steps(dt)


@partial(jax.jit, static_argnums=0)
def fastest_growth(program: Program, ends: jax.Array, parameters: jax.Array) -> Float[jax.Array, ""]:
    """Largest growth rate of any wave on the grid, of equations whose linear part does not mix fields."""
    motion, _ = program.on(ends)
    return jnp.max(motion.symbol(dict(zip(program.equation.parameters, parameters, strict=True))).real)
