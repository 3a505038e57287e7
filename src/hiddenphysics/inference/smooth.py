"""Gaussian process smoothing of each snapshot by itself: derivatives of noisy data, and the scales of a field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from hiddenphysics.engines import Observed, covariance, stable_cholesky
from hiddenphysics.forward import independent
from hiddenphysics.inference.data import MANY, Data, known_variance, place
from hiddenphysics.inference.likelihood import RUNS_ONCE, covariance_and_residual, observations
from hiddenphysics.inference.optimise import minimise
from hiddenphysics.inference.parameters import NOISE, Layout, shape_name, variance_name
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.scales import Scales
from hiddenphysics.kernels import Kernel
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.snapshots import Snapshots

FIRST_LENGTHS = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Lengths to try first, relative to the extent of the data: there is often one optimum per scale of the field."""
FIRST_NOISES = (1e-6, 1e-2)
"""Noise variances to try first, relative to the field's power."""
PART = 2
"""Every second point tells the lengths and noise of many values."""


@dataclass(frozen=True)
class SmoothedField:
    """One field, smoothed in every snapshot: a process per snapshot (latents ``z0, z1, …``), one noise."""

    problem: Problem
    values: dict[str, float]

    def hyper(self, snapshot: int) -> tuple[float, list[dict[str, float]]]:
        """Return variance and the kernel's numbers per dimension, as learned from one snapshot."""
        latent, kernel = self.problem.layout.kernels[snapshot]
        shapes = [
            {p: self.values[shape_name(latent, p, c)] for p in kernel.parameters}
            for c in self.problem.layout.model.coordinates
        ]
        return self.values[variance_name(latent)], shapes

    def means(
        self, symbols: tuple[Symbol, ...], points: Float[np.ndarray, "N D"]
    ) -> Float[np.ndarray, "S J N"]:
        """Return the posterior mean of J derivatives of the field at N points in each of the S snapshots."""
        layout = self.problem.layout
        vector = jnp.asarray(layout.vector(self.values))
        return np.asarray(_means(layout, symbols, vector, self.problem.data, jnp.asarray(points, float)))


Smoother = Callable[[str], SmoothedField]
"""Gives every measured field smoothed, when it is asked for."""


def smooth(snapshots: Snapshots, field: str, kernel: Kernel) -> SmoothedField:
    """Fit one process per snapshot to a field, by marginal likelihood from the best of a few lengths and noises.

    Of many values a part is fitted; all of them give the posterior means.
    """
    whole = smoothing_problem(snapshots, field, kernel)
    many = whole.size * len(snapshots.fields) > MANY
    problem = _thinned(whole, PART) if many else whole
    scales = Scales.of(snapshots)
    variances = dict.fromkeys(problem.layout.model.latents, scales.power[field])
    bounds = scales.hyper_bounds(problem.layout, variances)
    trials = [
        _start(problem.layout, scales, variances, length, noise)
        for length in FIRST_LENGTHS
        for noise in FIRST_NOISES
    ]
    best = min(trials, key=lambda vector: _finite(problem.objective(vector)[0]))
    limits = np.log([bounds[name] for name in problem.names])
    optimum = minimise(problem.objective, best, np.ones_like(best), limits, max_iterations=100)
    values = {name: float(v) for name, v in problem.layout.values(jnp.asarray(optimum.vector)).items()}
    return SmoothedField(whole, values)


def smoothing_problem(snapshots: Snapshots, field: str, kernel: Kernel) -> Problem:
    """Return the likelihood of one field in which every snapshot is a process of its own."""
    model = independent(snapshots.coordinates, len(snapshots))
    data = Data(
        tuple(place(s.points, {}, 0.0, s.t) for s in snapshots),
        tuple(jnp.asarray(s[field]) for s in snapshots),
        tuple(known_variance(s, field) for s in snapshots),
    )
    return Problem.of(model, dict.fromkeys(model.latents, kernel), data)


def _thinned(problem: Problem, one_of: int) -> Problem:
    data = problem.data.thinned(range(len(problem.data.places)), one_of, seed=0)
    return replace(problem, data=data)


def _start(
    layout: Layout, scales: Scales, variances: dict[str, float], length: float, noise: float
) -> np.ndarray:
    values = {NOISE: noise * float(np.mean(list(variances.values())))}
    for latent, kernel in layout.kernels:
        values[variance_name(latent)] = variances[latent]
        for d, coordinate in enumerate(layout.model.coordinates):
            shape = kernel.start(length * float(scales.extent[d]))
            values |= {shape_name(latent, p, coordinate): v for p, v in shape.items()}
    return layout.vector(values)


def _finite(value: float) -> float:
    return value if np.isfinite(value) else np.inf


@partial(jax.jit, static_argnames=("layout", "symbols"), compiler_options=RUNS_ONCE)
def _means(layout: Layout, symbols: tuple[Symbol, ...], vector: Array, data: Data, points: Array) -> Array:
    K, residual = covariance_and_residual(layout, vector, data)
    factor, _ = stable_cholesky(K)
    weights = jax.scipy.linalg.cho_solve((factor, True), residual)
    values = layout.values(vector)
    observed, _ = observations(layout, values, data)
    priors = layout.priors(values)
    sizes = np.cumsum([0, *(o.points.shape[0] for o in observed)])
    return jnp.stack([
        jnp.stack([
            covariance(Observed(Operator.of(latent, symbol, 1.0), points), one, priors) @ weights[low:high]
            for symbol in symbols
        ])
        for latent, one, low, high in zip(layout.model.latents, observed, sizes[:-1], sizes[1:], strict=True)
    ])  # fmt: skip
