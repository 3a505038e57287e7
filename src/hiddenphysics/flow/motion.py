"""The equation's own flow as an observation model: values at scattered points and times, and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from hiddenphysics.equation import Equation
from hiddenphysics.flow.features import Features, Gauge, values_at
from hiddenphysics.flow.moving import moving_flow, split_of
from hiddenphysics.simulate import Flow
from hiddenphysics.simulate.spectral.grid import Box
from hiddenphysics.simulate.spectral.phi import elementwise, half_and_full, matrices
from hiddenphysics.simulate.spectral.scheme import Weights

MOST_GROWTH = 18.0
"""No wave grows by more than e^18 over the whole path: parameters of an ill-posed equation stay finite on the way."""


@dataclass(frozen=True)
class Motion:
    """An equation on a grid; static and hashable: what a compiled program depends on.

    Attributes
    ----------
    equation
        What moves the fields.
    shape, waves
        Points of the grid along each side, and waves of the latent.
    box
        Ends of the sides where they are part of the program (fractional operators), None where they are not.
    """

    equation: Equation
    shape: tuple[int, ...]
    waves: tuple[int, ...]
    box: Box | None

    @classmethod
    def of(cls, equation: Equation, features: Features) -> Motion:
        """Return the motion on the features' grid."""
        box = features.grid.box if equation.fractional else None
        return cls(equation, features.grid.shape, features.waves, box)

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the F fields of the state."""
        return split_of(self.equation).state

    def on(self, ends: Any) -> tuple[Flow, Features]:
        """Return the flow and the features on a box with ends (D, 2), which may be traced."""
        if self.box is None:
            flow = moving_flow(self.equation, self.shape, ends)
        else:
            names = self.equation.coordinates
            sides = dict(zip(names, self.box, strict=True))
            flow = Flow.of(self.equation, sides, dict(zip(names, self.shape, strict=True)))
        return flow, Features(flow.grid, self.waves)


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
    motion: Motion, latent: Latent, parameters: jax.Array, path: Path, orders: tuple[int, ...] | None = None
) -> Float[jax.Array, "T F N"]:
    """Values of all fields of the state, or a derivative, at the stops of one window, from the latent at its first."""
    flow, features = motion.on(latent.ends)
    modes = features.to_modes(latent.z.reshape(len(motion.state), -1), latent.gauge)

    def visit(modes: jax.Array, stop: Path) -> tuple[jax.Array, jax.Array]:
        modes = _advance(flow, modes, parameters, stop)
        return modes, values_at(flow.grid, modes, stop.points, orders)

    return jax.lax.scan(visit, modes, path)[1]


def _advance(flow: Flow, modes: jax.Array, parameters: jax.Array, stop: Path) -> jax.Array:
    numbers = dict(zip(flow.equation.parameters, parameters, strict=True))
    dt = stop.durations / jnp.maximum(stop.steps, 1)
    symbol = flow.symbol(numbers)
    if not flow.coupled:
        symbol = jnp.minimum(symbol.real, stop.most) + 1j * symbol.imag
    by = Weights(dt, *half_and_full(symbol * dt, matrices if flow.coupled else elementwise))

    def body(index: Any, now: jax.Array) -> jax.Array:
        return flow.step(now, numbers, by, stop.starts + index * dt)

    return jax.lax.fori_loop(0, stop.steps, body, modes)


@partial(jax.jit, static_argnums=0)
def predictions(
    motion: Motion, latent: Latent, parameters: jax.Array, path: Path
) -> Float[jax.Array, "W T F N"]:
    """`predict` for every window."""
    return jax.lax.map(lambda each: predict(motion, each[0], parameters, each[1]), (latent, path))


@partial(jax.jit, static_argnums=(0, 4))
def linearised(
    motion: Motion, latent: Latent, parameters: jax.Array, path: Path, orders: tuple[int, ...] | None = None
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Predictions (W, T, F, N) with their derivatives in z, (W, K, T, F, N), and in the parameters, (W, P, T, F, N).

    Forward derivatives, one for each feature and parameter: the motion is computed once, its tangents side by side.
    """

    def one(each: tuple[Latent, Path]) -> tuple[jax.Array, jax.Array, jax.Array]:
        latent, path = each

        def value(z: jax.Array, at: jax.Array) -> jax.Array:
            return predict(motion, latent._replace(z=z), at, path, orders)

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
def fastest_growth(motion: Motion, ends: jax.Array, parameters: jax.Array) -> Float[jax.Array, ""]:
    """Largest growth rate of any wave on the grid, of equations whose linear part does not mix fields."""
    flow, _ = motion.on(ends)
    return jnp.max(flow.symbol(dict(zip(motion.equation.parameters, parameters, strict=True))).real)
