"""Each snapshot smoothed by itself, in features: a kernel, lengths, noise and a first state of every field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from hiddenphysics.flow.box import LEAST_NOISE, choose
from hiddenphysics.flow.envelope import STRETCH, Envelope
from hiddenphysics.flow.features import Features
from hiddenphysics.flow.linear import evidence, posterior, reduce
from hiddenphysics.flow.prior import Prior
from hiddenphysics.flow.task import Task
from hiddenphysics.flow.tune import Objective, tune
from hiddenphysics.kernels import Kernel, Sech, SquaredExponential

KERNELS: dict[int, tuple[Kernel, ...]] = {
    1: (SquaredExponential(), Sech()),
    2: (SquaredExponential(),),
}
"""Priors to choose from by evidence: analytic everywhere, or in a strip. The latter's spectrum needs more waves than a
plane can have."""

COARSE_REACH = 6.0
"""ωℓ of the shortest length that is enough to compare lengths."""

FINE_REACH, NEAR = 8.0, 2.0
"""The same for the lengths near the best one, down to half of it."""

FEW_STEPS = 12
"""Steps of tuning: kernel and envelope are told apart long before the last digit, which the rounds will find."""

FIRST_NOISES = (1e-8, 1e-5, 1e-2)
"""Noise variances that are tried first, in units of the field's."""

FIRST_STOPS = 2
"""Snapshots of a window that the envelope of its first state is read from."""

NOISY = 1e-6
"""Noise variance, in units of the field's, above which it matters how fine the prior is where; below, the data tell."""

SPACINGS = 1.5
"""Shortest length that is tried, in mean distances between neighbours."""


@dataclass(frozen=True)
class Smoothed:
    """One field in every snapshot, as independent processes with common numbers.

    Attributes
    ----------
    kernel
        The prior that explains the snapshots best.
    theta
        (log variance, log lengths, log noise variance); variance and noise in units of the field's size squared.
    evidence
        Log evidence of the snapshots without any equation.
    envelope
        Where the field is large, in each window.
    """

    kernel: Kernel
    theta: np.ndarray
    evidence: float
    envelope: Envelope


def smooth(task: Task, row: int, kernels: Sequence[Kernel]) -> Smoothed:
    """Fit the snapshots of one measured field: the best of a ladder of lengths and noises, then a local search."""
    region = task.region
    extent = region.extent
    shortest = np.minimum(SPACINGS * extent / task.per_side, 0.1 * extent)
    features = choose(region, shortest, 0.1 * extent, COARSE_REACH)
    priors = [_single(task, row, kernel) for kernel in kernels]
    flat = Envelope.flat(len(task.windows), len(extent))
    first = _objective(task, priors[0], row, features, flat)
    rungs = 1 + int(np.ceil(2 * np.log2(float(np.max(0.5 * extent / shortest)))))
    trials = [
        np.concatenate([[0.0], np.log(shortest) + rung * np.log(0.5 * extent / shortest), [np.log(noise)]])
        for rung in np.linspace(0.0, 1.0, rungs)
        for noise in FIRST_NOISES
    ]
    guess = min(trials, key=lambda theta: _finite(_value(first, theta)))
    # The trials need all lengths at once; from here on only those near the best one.
    shortest = np.maximum(np.exp(guess[1:-1]) / NEAR, shortest)
    features = choose(region, shortest, np.minimum(NEAR * np.exp(guess[1:-1]), 0.3 * extent), FINE_REACH)
    bounds = bounds_of(priors[0], shortest[None], extent[None])

    def fitted(prior: Prior, start: np.ndarray, envelope: Envelope) -> Smoothed:
        tuned = tune(_objective(task, prior, row, features, envelope), start, bounds, FEW_STEPS)
        return Smoothed(prior.latents[0][1], tuned.theta, -float(tuned.at.value), envelope)

    plain = fitted(priors[0], guess, flat)
    envelope = envelope_of(task, row, plain, features)
    found = [plain, fitted(priors[0], plain.theta, envelope)]
    if len(extent) == 1 and np.exp(found[-1].theta[-1]) > NOISY:
        found.append(fitted(priors[0], found[-1].theta, replace(envelope, stretch=STRETCH)))
    found += [fitted(prior, one.theta, one.envelope) for prior in priors[1:] for one in tuple(found)]
    return max(found, key=_evidence)


def _evidence(found: Smoothed) -> float:
    return found.evidence if np.isfinite(found.evidence) else -np.inf


def envelope_of(task: Task, row: int, smoothed: Smoothed, features: Features) -> Envelope:
    """Read off where the field, or the complex field that it is a part of, is large in the first stops of a window."""
    lengths = np.exp(smoothed.theta[1:-1])
    stops = min(FIRST_STOPS, task.windows.shape[1])
    points = task.points[:, :stops]
    energy = np.zeros(points.shape[:3])
    for other in _partners(task, row):
        z = states(task, other, smoothed, features)[:, :stops]
        for w, t in np.ndindex(*points.shape[:2]):
            value, slopes = features.with_slopes(points[w, t])
            energy[w, t] += (value @ z[w, t]) ** 2
            energy[w, t] += sum(
                (ell * (slope @ z[w, t])) ** 2 for ell, slope in zip(lengths, slopes, strict=True)
            )
    windows = len(points)
    flat_points = points.reshape(windows, -1, points.shape[-1])
    return Envelope.of(flat_points, energy.reshape(windows, -1), lengths, float(np.exp(smoothed.theta[-1])))


def _partners(task: Task, row: int) -> list[int]:
    """Return the rows of the measured fields that are parts of the same complex field, this one among them."""
    name = task.state[task.measured[row]]
    for parts in task.equation.complex_fields.values():
        if name in parts:
            return [r for r, f in enumerate(task.measured) if task.state[f] in parts]
    return [row]


def states(task: Task, row: int, smoothed: Smoothed, features: Features) -> np.ndarray:
    """Posterior mean of one measured field in every snapshot, as feature amplitudes (W, T, K), natural units."""
    prior = _single(task, row, smoothed.kernel)
    objective = _objective(task, prior, row, features, smoothed.envelope)
    mean, _ = posterior(objective.data, objective.spectrum(smoothed.theta), jnp.exp(smoothed.theta[-1]))
    size = task.sizes[task.measured[row]]
    return size * np.asarray(mean).reshape(*task.windows.shape, features.count)


def evidence_at(task: Task, row: int, smoothed: Smoothed) -> Callable[[float], float]:
    """Log evidence of one field's snapshots as a function of the log noise variance, all else as smoothed."""
    lengths, extent = np.exp(smoothed.theta[1:-1]), task.region.extent
    features = choose(task.region, lengths / NEAR, np.minimum(NEAR * lengths, 0.3 * extent), FINE_REACH)
    objective = _objective(task, _single(task, row, smoothed.kernel), row, features, smoothed.envelope)
    return lambda noise: -_finite(_value(objective, np.append(smoothed.theta[:-1], noise)))


def bounds_of(prior: Prior, shortest: np.ndarray, longest: np.ndarray) -> np.ndarray:
    """Bounds (H, 2) of the vector: lengths (F, D) as given, the rest generous, in units of the field's size."""
    bounds = np.tile(np.log([1e-6, 1e6]), (len(prior.names), 1))
    bounds[prior.is_length] = np.log(np.stack([shortest.ravel(), longest.ravel()], axis=1))
    bounds[-1] = np.log([LEAST_NOISE[len(prior.coordinates)], 10.0])
    return bounds


def _single(task: Task, row: int, kernel: Kernel) -> Prior:
    return Prior(((task.state[task.measured[row]], kernel),), task.equation.coordinates)


def _objective(task: Task, prior: Prior, row: int, features: Features, envelope: Envelope) -> Objective:
    windows, stops = task.windows.shape
    each = [envelope.window(w) for w in range(windows)]
    A = np.stack([
        [one.basis(features, p)[0] for p in points] for one, points in zip(each, task.points, strict=True)
    ])  # fmt: skip
    seen = task.weights[:, :, row].reshape(windows * stops, -1) > 0
    A = A.reshape(windows * stops, *A.shape[2:]) * seen[..., None]
    y = (task.values * task.weights)[:, :, row].reshape(windows * stops, -1)
    valid = jnp.asarray(float(np.count_nonzero(seen)))
    known = None if task.errors is None else jnp.asarray(task.errors[:, :, row].reshape(y.shape))
    data = reduce(jnp.asarray(A), jnp.zeros((*y.shape, 0)), jnp.asarray(y), valid, known)
    return Objective(prior, features, np.array([float(np.mean(y[seen])) ** 2]), data)


def _value(objective: Objective, theta: np.ndarray) -> float:
    return float(evidence(objective.data, objective.spectrum(theta), jnp.exp(theta[-1])))


def _finite(value: float) -> float:
    return value if np.isfinite(value) else np.inf
