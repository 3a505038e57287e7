"""Smoothing: a field in every snapshot as processes of their own; the best of a ladder of lengths, then a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from hiddenphysics.compiled_code import compiled
from hiddenphysics.gaussian import Observed, covariance, negative_log_density, stable_cholesky
from hiddenphysics.learning.optimiser import minimise
from hiddenphysics.learning.watch import Progress, silent
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.priors import NOISE, Kernel, Prior, shape_name, variance_name
from hiddenphysics.snapshots import Snapshot, Snapshots

FIRST_LENGTHS = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Lengths to try first, relative to the extent of the data."""
FIRST_NOISES = (1e-6, 1e-2)
"""Noise variances to try first, relative to the field's power."""

MANY = 600
"""Above so many values a part of them tells lengths and noise: an evaluation costs their number cubed."""
PART = 2
"""That part is every second point."""

LEAST_NOISE = 1e-10
"""Smallest noise variance, relative to the data's: below it the covariance has no digits left to factor."""

Fitted = TypeVar("Fitted")


# ---- the procedure, whatever the processes are made of --------------------


def climb(
    rungs: Sequence[np.ndarray], loss: Callable[[np.ndarray], float], search: Callable[[np.ndarray], Fitted]
) -> Fitted:
    """Search from the vector with the smallest loss among those of a ladder."""

    def finite(vector: np.ndarray) -> float:
        value = loss(vector)
        return value if np.isfinite(value) else np.inf

    return search(min(rungs, key=finite))


# ---- processes as dense matrices --------------------


class Seen(NamedTuple):
    """One field in one snapshot: points (N, D), values (N,), known variances of their errors (N,)."""

    points: Array
    values: Array
    variances: Array


@dataclass(frozen=True)
class SmoothedField:
    """One field, smoothed in every snapshot: a process per snapshot (latents ``z0, z1, …``), one noise."""

    prior: Prior
    values: dict[str, float]
    seen: tuple[Seen, ...]

    @property
    def kernel(self) -> Kernel:
        """The kernel of all processes."""
        return self.prior.latents[0][1]

    def hyper(self, snapshot: int) -> tuple[float, list[dict[str, float]]]:
        """Return variance and the kernel's numbers per dimension, as learned from one snapshot."""
        latent, kernel = self.prior.latents[snapshot]
        shapes = [
            {p: self.values[shape_name(latent, p, c)] for p in kernel.parameters}
            for c in self.prior.coordinates
        ]
        return self.values[variance_name(latent)], shapes

    def means(
        self, symbols: tuple[Symbol, ...], points: Float[np.ndarray, "N D"]
    ) -> Float[np.ndarray, "S J N"]:
        """Return the posterior mean of J derivatives of the field at N points in each of the S snapshots."""
        numbers = [np.log(self.values[name]) for name in self.prior.names]
        return np.asarray(
            _means(self.prior, symbols, jnp.asarray(numbers), self.seen, jnp.asarray(points, float))
        )


Smoother = Callable[[str], SmoothedField]
"""Gives every measured field smoothed, when it is asked for."""


def smooth(snapshots: Snapshots, field: str, kernel: Kernel, say: Progress = silent) -> SmoothedField:
    """Fit one process per snapshot to a field, by marginal likelihood from the best of a few lengths and noises.

    Of many values a part is fitted; all of them give the posterior means. `say` is called at every evaluation.
    """
    prior = prior_of(snapshots, kernel)
    whole = seen_in(snapshots, field)
    many = sum(len(s) for s in snapshots) * len(snapshots.fields) > MANY
    data = _thinned(whole) if many else whole
    everything = np.concatenate([s.points for s in snapshots])
    extent, per_side = np.ptp(everything, axis=0), _per_side(snapshots)
    power = float(np.mean(np.concatenate([s[field] for s in snapshots]) ** 2))
    variances = dict.fromkeys((latent for latent, _ in prior.latents), power)
    bounds = prior.bounds(
        variances,
        lambda _, d: kernel.limits(float(extent[d] / per_side), float(extent[d])),
        (LEAST_NOISE * power, 10.0 * power),
    )

    def objective(vector: np.ndarray) -> tuple[float, np.ndarray]:
        say(f"smoothing {field}")
        value, slope = _value_and_gradient(prior, jnp.asarray(vector), data)
        return float(value), np.asarray(slope)

    def search(vector: np.ndarray) -> SmoothedField:
        optimum = minimise(objective, vector, np.ones_like(vector), bounds, max_iterations=100)
        return SmoothedField(
            prior, dict(zip(prior.names, np.exp(optimum.vector).tolist(), strict=True)), whole
        )

    rungs = [
        _start(prior, power, lengths, noise)
        for lengths, noise in product(np.multiply.outer(FIRST_LENGTHS, extent), FIRST_NOISES)
    ]
    return climb(rungs, lambda vector: objective(vector)[0], search)


def prior_of(snapshots: Snapshots, kernel: Kernel) -> Prior:
    """Return the prior in which every snapshot is a process of its own."""
    return Prior(tuple((f"z{k}", kernel) for k in range(len(snapshots))), snapshots.coordinates)


def seen_in(snapshots: Snapshots, field: str) -> tuple[Seen, ...]:
    """Return one field of every snapshot as arrays."""
    return tuple(
        Seen(jnp.asarray(s.points), jnp.asarray(s[field]), known_variance(s, field)) for s in snapshots
    )


def known_variance(snapshot: Snapshot, field: str) -> Float[Array, " N"]:
    """Return the squares of a field's known standard deviations, 0 where none are known."""
    return jnp.square(jnp.asarray(snapshot.stds.get(field, np.zeros(len(snapshot)))))


def _per_side(snapshots: Snapshots) -> float:
    return float(min(len(s) for s in snapshots) ** (1.0 / len(snapshots.coordinates)))


def _thinned(seen: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """Return the data at every n-th point of every snapshot, chosen at random."""
    random = np.random.default_rng(0)
    sizes = [one.points.shape[0] for one in seen]
    kept = [np.sort(random.permutation(n)[: -(-n // PART)]) for n in sizes]
    return tuple(Seen(*(array[k] for array in one)) for one, k in zip(seen, kept, strict=True))


def _start(prior: Prior, power: float, lengths: np.ndarray, noise: float) -> np.ndarray:
    values = {NOISE: noise * power}
    for latent, kernel in prior.latents:
        values[variance_name(latent)] = power
        for coordinate, length in zip(prior.coordinates, lengths, strict=True):
            values |= {shape_name(latent, p, coordinate): v for p, v in kernel.start(float(length)).items()}
    return np.log([values[name] for name in prior.names])


def _covariances(prior: Prior, vector: Array, seen: tuple[Seen, ...]) -> list[Array]:
    """K + σ²I + diag(known variances) of every snapshot by itself."""
    values = dict(zip(prior.names, jnp.exp(vector), strict=True))
    processes = prior.processes(values)
    identity = Symbol.identity(len(prior.coordinates))
    blocks = []
    for (latent, _), one in zip(prior.latents, seen, strict=True):
        field = Observed(Operator.of(latent, identity, 1.0), one.points)
        K = covariance(field, field, processes)
        blocks.append(K + jnp.diag(values[NOISE] + one.variances))
    return blocks


@compiled(static_argnames="prior")
def _value_and_gradient(prior: Prior, vector: Array, seen: tuple[Seen, ...]) -> tuple[Array, Array]:
    def loss(vector: Array) -> Array:
        blocks = _covariances(prior, vector, seen)
        losses = [negative_log_density(K, one.values) for K, one in zip(blocks, seen, strict=True)]
        return jnp.sum(jnp.stack(losses))

    return jax.value_and_grad(loss)(vector)


@compiled(once=True, static_argnames=("prior", "symbols"))
def _means(
    prior: Prior, symbols: tuple[Symbol, ...], vector: Array, seen: tuple[Seen, ...], points: Array
) -> Array:
    processes = prior.processes(dict(zip(prior.names, jnp.exp(vector), strict=True)))
    identity = Symbol.identity(len(prior.coordinates))
    means = []
    for (latent, _), one, K in zip(prior.latents, seen, _covariances(prior, vector, seen), strict=True):
        factor, _ = stable_cholesky(K)
        weights = jax.scipy.linalg.cho_solve((factor, True), one.values)
        field = Observed(Operator.of(latent, identity, 1.0), one.points)
        wanted = [Observed(Operator.of(latent, symbol, 1.0), points) for symbol in symbols]
        means.append(jnp.stack([covariance(w, field, processes) @ weights for w in wanted]))
    return jnp.stack(means)
