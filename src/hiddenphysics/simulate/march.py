"""Error control: from output time to output time, with as many steps as the tolerance needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import ModelError
from hiddenphysics.spectral import Modes, Motion

MAX_STEPS = 2**16
"""Steps between two output times after which a run is given up."""

BLOWN_UP = 2**12
"""Steps after which fields that are still not finite are believed to blow up."""

FLOOR = 2e-14
"""Relative error of one interval that rounding alone makes; no less is ever asked."""

STALLED = 1e-10
"""Below this, an error that halving the steps does not halve is rounding; above, the steps are still too long."""

MARGIN = 4
"""An error that much below what twice the steps would gain lets the next interval start with half of them."""


@dataclass(frozen=True)
class Segment:
    """State at an output time, with what it cost."""

    t: float
    fields: NDArray[np.float64]
    steps: int
    error: float


def march(
    motion: Motion, initial: Any, parameters: dict[str, float], times: NDArray[np.float64], tolerance: float
) -> Iterator[Segment]:
    """Yield the state at each time; the errors of all intervals together stay below the tolerance.

    Each interval is computed with m and with 2m equal steps; m is doubled until the difference says that the
    finer result is good enough. Errors are relative to each field's largest value so far, shared out over the
    intervals by their length.
    """
    modes = motion.grid.to_modes(jnp.asarray(initial))
    fields = motion.grid.to_fields(modes)
    yield Segment(float(times[0]), np.asarray(fields), 0, 0.0)
    marcher = _Marcher(motion, parameters)
    scale, dt = np.asarray(_largest(fields)), None
    for start, end in pairwise(map(float, times)):
        allowed = max(FLOOR, tolerance * (end - start) / float(times[-1] - times[0]))
        steps = 1 if dt is None else max(1, round((end - start) / dt))
        modes, segment, scale = marcher.interval(modes, start, end, steps, allowed, scale)
        # The coarser of the two results was made with half of the steps; begin there, or lower.
        far_below = segment.error * 2**motion.integrator.order * MARGIN <= allowed
        again = max(1, segment.steps // 4) if far_below else segment.steps // 2
        dt = (end - start) / again
        yield segment


class _Marcher:
    """Keeps the weights of the last few step lengths: output times are mostly equispaced."""

    def __init__(self, motion: Motion, parameters: dict[str, float]) -> None:
        self._motion = motion
        self._parameters = {name: jnp.asarray(value) for name, value in parameters.items()}
        self._weights: dict[float, Any] = {}

    def interval(
        self, modes: Modes, start: float, end: float, steps: int, allowed: float, scale: NDArray[np.float64]
    ) -> tuple[Modes, Segment, NDArray[np.float64]]:
        coarse = self._run(modes, start, end, steps)
        last = np.inf
        while True:
            steps *= 2
            fine = self._run(modes, start, end, steps)
            # Richardson: the difference of one step and two half steps is 2^p − 1 times the error of the two.
            fields, largest, difference = map(np.asarray, _compare(self._motion, coarse, fine))
            now = np.maximum(scale, largest)
            error = _relative(difference / (2**self._motion.integrator.order - 1), now)
            if error <= allowed:
                return fine, Segment(end, fields, steps, error), now
            _check_progress(start, end, steps, error, last, allowed)
            coarse, last = fine, error

    def _run(self, modes: Modes, start: float, end: float, steps: int) -> Modes:
        dt = (end - start) / steps
        by = self._weights_of(dt)
        return _repeat(self._motion, modes, self._parameters, by, dt, start, steps)

    def _weights_of(self, dt: float) -> Any:
        key = float(f"{dt:.11e}")  # equispaced times differ in their last digits
        if key not in self._weights:
            if len(self._weights) >= 8:
                self._weights.pop(next(iter(self._weights)))
            self._weights[key] = _weights(self._motion, self._parameters, dt)
        return self._weights[key]


@partial(jax.jit, static_argnums=0)
def _weights(motion: Motion, parameters: dict[str, jax.Array], dt: Any) -> Any:
    return motion.weights(parameters, dt)


@partial(jax.jit, static_argnums=0)
def _repeat(
    motion: Motion, modes: Modes, parameters: dict[str, jax.Array], by: Any, dt: Any, start: Any, steps: Any
) -> Modes:
    """Take steps; their number is no part of the compiled program, unlike in `Motion.run`."""

    def body(index: Any, now: Modes) -> Modes:
        return motion.step(now, parameters, by, start + index * dt)

    return jax.lax.fori_loop(0, steps, body, modes)


@partial(jax.jit, static_argnums=0)
def _compare(motion: Motion, coarse: Modes, fine: Modes) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the finer fields, each field's largest value, and its largest difference from the coarser one."""
    fields = motion.grid.to_fields(fine)
    return fields, _largest(fields), _largest(motion.grid.to_fields(fine - coarse))


def _largest(fields: jax.Array) -> jax.Array:
    return jnp.max(jnp.abs(fields), axis=tuple(range(1, fields.ndim)))


def _relative(difference: NDArray[np.float64], scale: NDArray[np.float64]) -> float:
    """Return the largest relative difference; infinite when anything is not finite."""
    if not (np.isfinite(difference).all() and np.isfinite(scale).all()):
        return np.inf
    # A field that is zero everywhere has no scale, and no error.
    return float(np.max(difference / np.where(scale > 0, scale, 1.0)))


def _check_progress(start: float, end: float, steps: int, error: float, last: float, allowed: float) -> None:
    where = f"between t = {start:g} and t = {end:g}"
    if steps >= BLOWN_UP and not np.isfinite(error):
        raise ModelError(
            f"The fields stop being finite {where}, even with {steps} steps: the solution blows up there, or the "
            "signs of the equation make it ill-posed forward in time. Stop earlier, or check signs and "
            "parameters. (Where the highest derivative is multiplied by a field, ask for more output times.)"
        )
    if steps >= MAX_STEPS or (error > last / 2 and last < STALLED):
        raise ModelError(
            f"The error {where} stays at {error:.1e} of the fields' size with {steps} steps; {allowed:.1e} was "
            "allowed there. Ask for a larger tolerance, or for a shorter run."
        )
