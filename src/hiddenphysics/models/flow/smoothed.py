"""Each snapshot smoothed by itself, in waves: a kernel, lengths, noise and a first state of every field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from hiddenphysics.compiled_code import compiled
from hiddenphysics.gaussian import RestrictedLikelihood, evidence, posterior, reduce
from hiddenphysics.learning import Progress, silent, tune
from hiddenphysics.models.flow.box import QUIETEST, choose
from hiddenphysics.models.flow.envelope import STRETCH, Envelope
from hiddenphysics.models.flow.rungs import rung
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.priors import Kernel, Prior, Sech, SquaredExponential
from hiddenphysics.spectral import Features
from hiddenphysics.together import together

KERNELS: dict[int, tuple[Kernel, ...]] = {
    1: (SquaredExponential(), Sech()),
    2: (SquaredExponential(),),
    3: (SquaredExponential(),),
}
"""Priors to choose from by evidence: analytic everywhere, or in a strip. The latter's spectrum needs more waves than a
plane can have."""

COARSE_REACH = {1: 6.0, 2: 4.5, 3: 3.5}
"""ωℓ of the shortest length that is enough to compare lengths, on a line, in a plane and in a volume."""

FINE_REACH, NEAR = {1: 8.0, 2: 6.0, 3: 4.5}, {1: 2.0, 2: 1.5, 3: 1.25}
"""The same for the lengths near the best one, down to half of it; in a plane, where waves count twice, nearer, and with
e^{−6²/2} ≈ 1e-8 of the variance left out: the rounds have as many as the noise asks for."""

FEW_STEPS = 12
"""Steps of tuning: kernel and envelope are told apart long before the last digit, which the rounds will find."""

SPACINGS, SHORTEST, LONGEST = 1.5, 0.1, 0.5
"""The ladder goes from so many mean distances between neighbours, but at most a tenth of the extent, to half of it.
From twice as many on, a clean front loses its shortest lengths, and 2.4 deviations (`benchmarks.constants`)."""

PER_OCTAVE = {1: 2, 2: 1, 3: 1}
"""Rungs of the ladder per factor of two; half as many move an answer by 0.05 deviations (`benchmarks.constants`)."""

FIRST_NOISES = (1e-8, 1e-5, 1e-2)
"""Noise variances that are tried first, in units of the field's."""

FIRST_STOPS = 2
"""Snapshots of a window that the envelope of its first state is read from."""

NOISY = 1e-6
"""Noise variance, in units of the field's, above which it matters how fine the prior is where; below, the data tell."""

SIZES = (0.4, 0.6, 0.8, 1.0)
"""Variances, in units of the one without an envelope, with which one is compared."""

ALIKE = 1.5
"""Fields whose sizes differ by less than this factor need no choice of a common noise."""


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
    doubt
        Standard deviation of the noise's log variance.
    """

    kernel: Kernel
    theta: np.ndarray
    evidence: float
    envelope: Envelope
    doubt: float


def smooth(
    windows: Windows, row: int, kernels: Sequence[Kernel], *, even: bool = False, say: Progress = silent
) -> Smoothed:
    """Fit the snapshots of one measured field: the best of a ladder of lengths and noises, then a local search.

    With `even` the field is taken to be as large and as fine everywhere: of many snapshots each is a different one.
    `say` is called before everything that may have to be compiled.
    """
    stage = f"smoothing {windows.names[row]}"
    extent = windows.region.extent
    dimensions, lengths = len(extent), ladder(extent, windows.per_side)
    reach = COARSE_REACH[dimensions]
    features = choose(windows.box_region, lengths[0], 0.1 * extent, reach, periods=windows.periods)
    priors = [_single(windows, row, kernel) for kernel in kernels]
    flat = Envelope.flat(len(windows.times), len(extent))
    rungs = np.stack([
        np.concatenate([[0.0], np.log(some), [np.log(noise)]])
        for some, noise in product(lengths, FIRST_NOISES)
    ])  # fmt: skip
    # As many as the next rung of points would ask for, the last one several times: the same compiled code.
    most = len(FIRST_NOISES) * len(ladder(extent, rung(windows.per_side)))
    padded = np.pad(rungs, ((0, most - len(rungs)), (0, 0)), mode="edge")
    say(stage)
    losses = np.asarray(_losses(_likelihood(windows, priors[0], row, features, flat), padded))[: len(rungs)]

    def contest(guess: np.ndarray) -> Smoothed:
        # The ladder needs all lengths at once; from here on only those near the best one.
        near, reach = NEAR[dimensions], FINE_REACH[dimensions]
        shortest = np.maximum(np.exp(guess[1:-1]) / near, lengths[0])
        longest = np.minimum(near * np.exp(guess[1:-1]), 0.3 * extent)
        features = choose(windows.box_region, shortest, longest, reach, periods=windows.periods)
        bounds = bounds_of(priors[0], shortest[None], extent[None])

        def fitted(prior: Prior, start: np.ndarray, envelope: Envelope) -> Smoothed:
            say(stage)
            likelihood = _likelihood(windows, prior, row, features, envelope)
            tuned = tune(likelihood, start, bounds, most=FEW_STEPS, averaged=dimensions > 1)
            theta = np.asarray(tuned.theta)
            doubt = _doubt(np.asarray(tuned.at.fisher), theta)
            return Smoothed(prior.latents[0][1], theta, -float(tuned.at.value), envelope, doubt)

        plain = fitted(priors[0], guess, flat)
        if even:
            tried = [plain, *(fitted(prior, plain.theta, flat) for prior in priors[1:])]
            return max(tried, key=_evidence)
        envelope = envelope_of(windows, row, plain, features)
        tried = [plain, fitted(priors[0], plain.theta, envelope)]
        if len(extent) == 1 and np.exp(tried[-1].theta[-1]) > NOISY:
            tried.append(fitted(priors[0], tried[-1].theta, replace(envelope, stretch=STRETCH)))
        tried += [fitted(prior, one.theta, one.envelope) for prior in priors[1:] for one in tuple(tried)]
        return max(tried, key=_evidence)

    return contest(rungs[np.argmin(np.where(np.isfinite(losses), losses, np.inf))])


def _doubt(fisher: np.ndarray, theta: np.ndarray) -> float:
    """Return the standard deviation of the log noise variance, from the information on logarithms and that variance."""
    scale = np.append(np.ones(theta.size - 1), np.exp(theta[-1]))
    information = fisher * np.outer(scale, scale)
    return float(np.sqrt(np.linalg.pinv(information)[-1, -1])) if np.all(np.isfinite(information)) else np.inf


def _evidence(smoothed: Smoothed) -> float:
    return smoothed.evidence if np.isfinite(smoothed.evidence) else -np.inf


def ladder(extent: np.ndarray, per_side: float) -> np.ndarray:
    """Return lengths to try, (rungs, D), shortest first: there is often one optimum per scale of the field.

    Parameters
    ----------
    extent
        (D,) of the data.
    per_side
        Points of a snapshot along one side, were they on a grid.
    """
    shortest = np.minimum(SPACINGS * extent / per_side, SHORTEST * extent)
    longest = LONGEST * extent
    rungs = 1 + int(np.ceil(PER_OCTAVE[len(extent)] * np.log2(float(np.max(longest / shortest)))))
    share = np.linspace(0.0, 1.0, rungs)[:, None]
    return np.asarray(np.exp(np.log(shortest) + share * np.log(longest / shortest)))


def envelope_of(windows: Windows, row: int, smoothed: Smoothed, features: Features) -> Envelope:
    """Read off where the field, or the complex field that it is a part of, is large in the first stops of a window."""
    lengths = np.exp(smoothed.theta[1:-1])
    stops = min(FIRST_STOPS, windows.times.shape[1])
    points = windows.dense.points[:, :stops]
    energy = np.zeros(points.shape[:3])
    for other in _partners(windows, row):
        z = states(windows, other, smoothed, features)[:, :stops]
        for w, t in np.ndindex(*points.shape[:2]):
            value, slopes = features.with_slopes(points[w, t])
            energy[w, t] += (value @ z[w, t]) ** 2
            energy[w, t] += sum(
                (ell * (slope @ z[w, t])) ** 2 for ell, slope in zip(lengths, slopes, strict=True)
            )
    count = len(points)
    flat_points = points.reshape(count, -1, points.shape[-1])
    return Envelope.of(flat_points, energy.reshape(count, -1), lengths, float(np.exp(smoothed.theta[-1])))


def common_envelope(windows: Windows, rows: Sequence[int], smoothed: Sequence[Smoothed]) -> Envelope:
    """Return where fields that are tied together, measured ones by their rows, are large; flat where that is no better.

    Tied fields are derivatives of one process, and as large and as fine where it is. Where eddies are is told by all of
    them together, each around its own mean: a stream is no eddy. Whether a prior that follows them is better single
    snapshots tell, field by field. In the wake of a cylinder, 251 + 249 points and 1 % of noise, it is by 50 in log
    evidence (18 November 2026).
    """
    lengths = np.mean([np.exp(smoothed[row].theta[1:-1]) for row in rows], axis=0)
    stops = min(FIRST_STOPS, windows.times.shape[1])
    points = windows.dense.points[:, :stops]
    energy = np.zeros(points.shape[:3])
    for row in rows:
        features = _fine_features(windows, np.exp(smoothed[row].theta[1:-1]))
        z = states(windows, row, smoothed[row], features)[:, :stops]
        for w, t in np.ndindex(*points.shape[:2]):
            value, slopes = features.with_slopes(points[w, t])
            own = value @ z[w, t]
            energy[w, t] += (own - own.mean()) ** 2
            energy[w, t] += sum((ell * (s @ z[w, t])) ** 2 for ell, s in zip(lengths, slopes, strict=True))
    count = len(points)
    noise = float(np.mean([np.exp(smoothed[row].theta[-1]) for row in rows]))
    made = Envelope.of(points.reshape(count, -1, points.shape[-1]), energy.reshape(count, -1), lengths, noise)
    flat = Envelope.flat(count, len(lengths))
    gain = sum(
        _best_size(windows, row, replace(smoothed[row], envelope=made))
        - _best_size(windows, row, replace(smoothed[row], envelope=flat))
        for row in rows
    )
    return made if gain > 0 else flat


def _best_size(windows: Windows, row: int, smoothed: Smoothed) -> float:
    """Log evidence of one field's snapshots, its mean as free as it is large, with the best of a few variances."""
    features = _fine_features(windows, np.exp(smoothed.theta[1:-1]))
    prior = _single(windows, row, smoothed.kernel)
    likelihood = _likelihood(windows, prior, row, features, smoothed.envelope, even_level=True)
    thetas = np.tile(smoothed.theta, (len(SIZES), 1))
    thetas[:, 0] += np.log(SIZES)
    return float(-np.nanmin(np.asarray(_losses(likelihood, thetas))))


def _fine_features(windows: Windows, lengths: np.ndarray) -> Features:
    """Return waves for lengths (D,) near these."""
    extent = windows.region.extent
    near, reach = NEAR[len(extent)], FINE_REACH[len(extent)]
    longest = np.minimum(near * lengths, 0.3 * extent)
    return choose(windows.box_region, lengths / near, longest, reach, periods=windows.periods)


def _partners(windows: Windows, row: int) -> list[int]:
    """Return the rows of the measured fields that are parts of the same complex field, this one among them."""
    name = windows.state[windows.measured[row]]
    for parts in windows.equation.complex_fields.values():
        if name in parts:
            return [r for r, f in enumerate(windows.measured) if windows.state[f] in parts]
    return [row]


def states(windows: Windows, row: int, smoothed: Smoothed, features: Features) -> np.ndarray:
    """Posterior mean of one measured field in every snapshot, as feature amplitudes (W, T, K), natural units."""
    prior = _single(windows, row, smoothed.kernel)
    likelihood = _likelihood(windows, prior, row, features, smoothed.envelope)
    mean, _ = posterior(likelihood.data, likelihood.spectrum(smoothed.theta), np.exp(smoothed.theta[-1]))
    size = windows.sizes[windows.measured[row]]
    return size * np.asarray(mean).reshape(*windows.times.shape, features.count)


def evidence_at(windows: Windows, row: int, smoothed: Smoothed) -> Callable[[float], float]:
    """Log evidence of one field's snapshots as a function of the log noise variance, all else as smoothed."""
    features = _fine_features(windows, np.exp(smoothed.theta[1:-1]))
    likelihood = _likelihood(
        windows, _single(windows, row, smoothed.kernel), row, features, smoothed.envelope
    )
    return lambda noise: -float(_losses(likelihood, np.append(smoothed.theta[:-1], noise)[None])[0])


def bounds_of(
    prior: Prior,
    shortest: np.ndarray,
    longest: np.ndarray,
    groups: Mapping[str, tuple[float, float]] | None = None,
) -> np.ndarray:
    """Bounds (H, 2) of the vector: lengths (F, D) as given, the rest generous, in units of the field's size.

    Those of sizes beside the latents' are given by name.
    """
    return prior.bounds(
        dict.fromkeys((latent for latent, _ in prior.latents), 1.0),
        lambda row, d: {"length": (float(shortest[row, d]), float(longest[row, d]))},
        (QUIETEST[len(prior.coordinates)], 10.0),
        groups,
    )


def _single(windows: Windows, row: int, kernel: Kernel) -> Prior:
    return Prior(((windows.state[windows.measured[row]], kernel),), windows.equation.coordinates)


def _likelihood(
    windows: Windows,
    prior: Prior,
    row: int,
    features: Features,
    envelope: Envelope,
    *,
    even_level: bool = False,
) -> RestrictedLikelihood:
    """Return the likelihood of the snapshots of one field; with `even_level` no envelope applies to a constant."""
    dense = windows.dense
    count, stops = windows.times.shape
    each = [envelope.window(w) for w in range(count)]
    A = np.stack([
        [one.basis(features, p)[0] for p in points] for one, points in zip(each, dense.points, strict=True)
    ])  # fmt: skip
    if even_level:
        A[..., 0] = 1.0
    seen = dense.weights[:, :, row].reshape(count * stops, -1) > 0
    A = A.reshape(count * stops, *A.shape[2:]) * seen[..., None]
    y = (dense.values * dense.weights)[:, :, row].reshape(count * stops, -1)
    valid = np.asarray(float(np.count_nonzero(seen)))
    known = None if dense.errors is None else dense.errors[:, :, row].reshape(y.shape)
    data = reduce(A, np.zeros((*y.shape, 0)), y, valid, known)
    return RestrictedLikelihood.of(prior, features, np.array([float(np.mean(y[seen])) ** 2]), data)


@together
@compiled(once=True)
def _losses(likelihood: RestrictedLikelihood, thetas: Float[jax.Array, "rungs H"]) -> jax.Array:
    """Negative log evidence at several vectors."""

    def loss(theta: jax.Array) -> jax.Array:
        return evidence(likelihood.data, likelihood.spectrum(theta), jnp.exp(theta[-1]))

    return jax.lax.map(loss, thetas)


# ---- one noise for several fields --------------------


def with_common_noise(windows: Windows, smoothed: Sequence[Smoothed]) -> tuple[Windows, list[Smoothed]]:
    """Return the data, and their smoothing, in the units in which all measured fields have the same noise.

    One instrument per field has errors in proportion to what it measures; the parts of a complex field, or the
    components of a velocity, rather have the same error, however small one of them happens to be. The units of the
    windows are the sizes of the fields in the first case, and the largest of them in the second.
    """
    sizes = windows.sizes[list(windows.measured)]
    largest = float(sizes.max())
    if largest < ALIKE * sizes.min():
        return windows, list(smoothed)
    shifts = 2 * np.log(sizes / largest)
    if _best(windows, smoothed, -shifts) <= _best(windows, smoothed, np.zeros(len(sizes))):
        return windows, list(smoothed)
    count = int(windows.counts.sum())
    moved = [
        replace(one, theta=_shifted(one.theta, shift), evidence=one.evidence - 0.5 * float(count * shift))
        for one, shift in zip(smoothed, shifts, strict=True)
    ]
    return windows.in_units(largest), moved


def _shifted(theta: np.ndarray, shift: float) -> np.ndarray:
    """Variance and noise in other units."""
    moved = theta.copy()
    moved[[0, -1]] += shift
    moved[-1] = max(moved[-1], np.log(QUIETEST[theta.size - 2]))
    return moved


def _best(windows: Windows, smoothed: Sequence[Smoothed], offsets: np.ndarray) -> float:
    """Largest log evidence of all fields by themselves when their log noises differ by the offsets."""
    from scipy.optimize import minimize_scalar  # a quarter of a second to import, which few fits need

    least = np.log(QUIETEST[len(windows.equation.coordinates)])
    alone = np.array([one.theta[-1] for one in smoothed]) - offsets
    terms = [evidence_at(windows, row, smoothed[row]) for row in range(len(smoothed))]

    def loss(noise: float) -> float:
        logs = np.clip(noise + offsets, least, None)
        return -float(sum(term(log) for term, log in zip(terms, logs, strict=True)))

    # A common optimum lies between those of the fields by themselves.
    return -float(minimize_scalar(loss, bounds=(alone.min() - 0.1, alone.max() + 0.1), method="bounded").fun)
