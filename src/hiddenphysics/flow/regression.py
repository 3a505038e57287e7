"""A first guess of the parameters: the smoothed increments regressed on the equation's own rate."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import least_squares

from hiddenphysics.flow.features import Features, Gauge, values_at
from hiddenphysics.flow.motion import Motion
from hiddenphysics.flow.task import Task

FIRST_SIZES = (0.3, 1.0, 3.0)
"""Sizes of all parameters from which a nonlinear regression starts."""


def bounds_of_parameters(task: Task) -> np.ndarray:
    """(P, 2) limits from the equation: those that were typed, and those of orders of differentiation."""
    equation = task.equation
    return np.array([equation.bounds.get(name, (-np.inf, np.inf)) for name in equation.parameters], float)


def regress(
    motion: Motion, features: Features, task: Task, states: np.ndarray, gauge: Gauge
) -> tuple[np.ndarray, np.ndarray]:
    """Solve ∂ₜh ≈ rate(h; λ) in the mean square over the data's region, for every pair of neighbouring stops.

    Parameters
    ----------
    states
        Feature amplitudes (W, T, F, K) of all fields at all stops.
    gauge
        How amplitudes make fields on the motion's grid, with a leading axis W.

    Returns
    -------
    estimate, scale
        (P,) the parameters, and the change of each that alters the rate by as much as the data change.
    """
    gaps = np.diff(task.windows, axis=1)
    window, stop = np.nonzero(gaps)
    middle = 0.5 * (states[window, stop + 1] + states[window, stop])
    rates = (states[window, stop + 1] - states[window, stop]) / gaps[window, stop, None, None]
    times = jnp.asarray(0.5 * (task.windows[window, stop + 1] + task.windows[window, stop]))
    gauges = jax.tree.map(lambda part: jnp.asarray(part[window]), gauge)
    points = _points(features, task)
    ends = jnp.asarray(features.grid.box)
    target = np.asarray(_increments(motion, jnp.asarray(rates), gauges, ends, points))
    size = np.sqrt(np.mean(target**2, axis=(0, 2), keepdims=True))
    # A field that does not change tells nothing of the size of its terms.
    size = np.where(size > 1e-9 * np.max(size), size, np.inf)
    bounds = bounds_of_parameters(task)

    def rates_and_slopes(at: np.ndarray) -> tuple[jax.Array, jax.Array]:
        return _rates(motion, jnp.asarray(middle), gauges, ends, times, points, jnp.asarray(at))

    def residual(at: np.ndarray) -> np.ndarray:
        return np.ravel((np.asarray(rates_and_slopes(at)[0]) - target) / size)

    def jacobian(at: np.ndarray) -> np.ndarray:
        found = rates_and_slopes(at)[1]
        return np.stack([np.ravel(np.asarray(column) / size) for column in found], axis=1)

    runs = []
    for first in FIRST_SIZES:
        start = np.clip(np.full(len(bounds), first), bounds[:, 0] + 1e-6, bounds[:, 1] - 1e-6)
        with np.errstate(all="ignore"):
            try:
                runs.append(
                    least_squares(
                        residual,
                        start,
                        jacobian,
                        bounds=(bounds[:, 0], bounds[:, 1]),
                        x_scale="jac",
                        max_nfev=100,
                    )
                )
            except (ValueError, np.linalg.LinAlgError):  # the rate left the numbers: not a start to use
                continue
    solution = min(runs, key=lambda run: run.cost).x if runs else np.ones(len(bounds))
    columns = np.sqrt(np.mean(jacobian(solution) ** 2, axis=0))
    return solution, np.where(
        columns > 0, 1.0 / np.maximum(columns, 1e-300), np.maximum(np.abs(solution), 1.0)
    )


def _points(features: Features, task: Task) -> jax.Array:
    """As many points as the grid has, (N, D), spread evenly over the data's region."""
    region = task.region
    axes = [
        np.linspace(a, b, n) for a, b, n in zip(region.low, region.high, features.grid.shape, strict=True)
    ]
    return jnp.asarray(np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1))


@partial(jax.jit, static_argnums=0)
def _increments(
    motion: Motion, rates: jax.Array, gauges: Gauge, ends: jax.Array, points: jax.Array
) -> jax.Array:
    flow, features = motion.on(ends)

    def one(z: jax.Array, gauge: Gauge) -> jax.Array:
        return values_at(flow.grid, features.to_modes(z, gauge), points)

    return jax.vmap(one)(rates, gauges)


@partial(jax.jit, static_argnums=0)
def _rates(
    motion: Motion,
    states: jax.Array,
    gauges: Gauge,
    ends: jax.Array,
    times: jax.Array,
    points: jax.Array,
    parameters: jax.Array,
) -> tuple[jax.Array, jax.Array]:
    """Rates of all fields (pairs, F, N) and their derivatives in the parameters (P, pairs, F, N)."""
    flow, features = motion.on(ends)

    def rate(at: jax.Array) -> jax.Array:
        numbers = dict(zip(motion.equation.parameters, at, strict=True))

        def one(z: jax.Array, gauge: Gauge, t: jax.Array) -> jax.Array:
            modes = flow.rate(features.to_modes(z, gauge), numbers, t)
            return values_at(flow.grid, modes, points)

        return jax.vmap(one)(states, gauges, times)

    return rate(parameters), jnp.moveaxis(jax.jacfwd(rate)(parameters), -1, 0)
