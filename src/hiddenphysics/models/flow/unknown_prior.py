"""What it adds to the parameters' uncertainty that the prior's numbers are not known, either.

Given lengths, variances and noise θ, parameters of the linear model are normal, N(λ(θ), C(θ)), by generalised least
squares. θ itself is known as well as the restricted likelihood tells. So the parameters are a mixture,

    cov λ = Σ_k w_k [ C(θ_k) + (λ(θ_k) − λ)(λ(θ_k) − λ)ᵀ ],

over draws θ_k around the optimum with importance weights w_k. Of many values θ is known so well that nothing is added;
of a few sensors the length alone may decide. Rue, Martino & Chopin (2009), J. R. Stat. Soc. B 71, 319.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import solve_triangular

from hiddenphysics.compiled_code import compiled
from hiddenphysics.gaussian import Reduced, RestrictedLikelihood, covariance_of, effective
from hiddenphysics.learning import RELIABLE, importance_weights
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.one_round import Round
from hiddenphysics.together import together

DRAWS = 128
"""Half a millisecond each."""

WIDER = 1.5
"""The draws' deviations, in those that the information on θ promises: tails that are missed cannot be weighted."""

MOST_VALUES = {1: 1000, 2: 300, 3: 300}
"""Values up to which it is asked: of more the prior is known, and the sums take long; in a plane 27 s for 1000."""

STEP = 0.1
"""Change of a logarithm over which the likelihood's curvature is taken."""

BEYOND = 1.1
"""Logarithm by which a draw may leave what the box carries, a factor of three: the box was made for the optimum, and of
few values lengths around it are as likely. Three points, two times: from a fifth of its length to twice of it the
likelihood hardly changes, and D goes from 0.01 to 0.14; within the box's own bounds it would be 0.07 to 0.1."""

WORTH = 0.1
"""Part of the variance, in the mean over the parameters, below which nothing is added: a twentieth of a deviation."""

NATURAL = 3.0
"""Deviation of the parameters' own prior, in their natural sizes: without one a θ for which the data say nothing of the
parameters would have an infinite weight."""

FLATTEST = 1e-9
"""Least eigenvalue of the parameters' correlations with which sums over draws keep some digits."""

LOOSEST = 3.0
"""Largest deviation of a logarithm that is drawn: a factor of twenty either way; bounds hold the rest."""


class Mixture(NamedTuple):
    """What the draws say: the part (P, P) that they add to the covariance, and Pareto's k of their weights."""

    covariance: np.ndarray
    pareto_k: float

    @property
    def is_reliable(self) -> bool:
        """Whether means over the draws can be believed; where not, the posterior is to be sampled."""
        return self.pareto_k < RELIABLE

    def sentence(self) -> str:
        """Say it in words."""
        doubt = (
            ""
            if self.is_reliable
            else f", and weights of draws do not tell how well (Pareto k = {self.pareto_k:.2g})"
        )
        return f"So few values hardly tell lengths and noise: that is in the deviations{doubt}."


class _Answer(NamedTuple):
    log_likelihood: float
    estimate: np.ndarray
    covariance: np.ndarray


def prior_mixture(task: FlowTask, last: Round) -> Mixture | None:
    """Return what draws of θ add to the covariance of the parameters around their estimate.

    None where that is not worth it, or was not asked: there are many values, or unknown functions.
    """
    covariance, most = covariance_of(last.information), MOST_VALUES[len(task.domain.shortest)]
    many = task.windows.count > most or bool(task.windows.equation.functions)
    if many or not _is_sound(covariance):
        return None
    bounds = task.prior_bounds + BEYOND * np.array([-1.0, 1.0])
    made = _mixture(last, bounds, 1.0 / (NATURAL * task.scale) ** 2)
    own = np.ix_(task.border.is_flat, task.border.is_flat)
    part = np.trace(np.linalg.solve(covariance[own], made.covariance[own])) / len(covariance[own])
    return made if part > WORTH else None


def _is_sound(covariance: np.ndarray) -> bool:
    """Whether every direction is determined: of one that is not there is nothing to be widened."""
    size = np.sqrt(np.diagonal(covariance))
    if not (np.all(np.isfinite(covariance)) and np.all(size > 0)):
        return False
    return bool(np.linalg.eigvalsh(covariance / np.outer(size, size))[0] > FLATTEST)


def _mixture(last: Round, bounds: np.ndarray, flat: np.ndarray) -> Mixture:
    """Draw θ within bounds (H, 2); the parameters' own prior has the precisions `flat` (P,)."""
    theta = np.asarray(last.tuned.theta)
    data: Reduced = jax.tree.map(np.asarray, last.linear.data)
    low, high = bounds.T
    free = (theta > low + 1e-6) & (theta < high - 1e-6)

    def answers(thetas: np.ndarray) -> list[_Answer]:
        return [_answer(data, *one) for one in _priors(last, flat, thetas)]

    (centre,) = answers(theta[None])
    nothing = Mixture(np.zeros_like(centre.covariance), -np.inf)
    if not (free.any() and _is_sound(centre.covariance)):
        return nothing
    curvature = _curvature(
        lambda at: np.array([one.log_likelihood for one in answers(at)]), theta, np.flatnonzero(free)
    )
    if not np.all(np.isfinite(curvature)):
        return nothing
    sizes, axes = np.linalg.eigh(curvature)
    spread = np.minimum(WIDER / np.sqrt(np.maximum(sizes, 1e-12)), LOOSEST)
    points = np.vectorize(NormalDist().inv_cdf)(_even_points(DRAWS, int(free.sum())))
    draws = np.tile(theta, (DRAWS, 1))
    draws[:, free] += (points * spread) @ axes.T
    inside = np.all((draws >= low) & (draws <= high), axis=1)
    drawn = answers(draws[inside])
    ratio = np.array([one.log_likelihood for one in drawn]) + 0.5 * np.sum(points[inside] ** 2, axis=1)
    if not np.any(np.isfinite(ratio)):
        return nothing
    weights, pareto_k = importance_weights(ratio)
    total = np.zeros_like(centre.covariance)
    for weight, one in zip(weights, drawn, strict=True):
        if weight > 0 and np.all(np.isfinite(one.covariance)):
            away = one.estimate - centre.estimate
            total += weight * (one.covariance - centre.covariance + np.outer(away, away))
    return Mixture(positive_part(total, centre.covariance), pareto_k)


def _even_points(count: int, dimensions: int) -> np.ndarray:
    """Points (count, dimensions) that fill the unit cube evenly: multiples of powers of the generalised golden ratio.

    The ratio g solves g^(d+1) = g + 1; for d = 1 it is the golden one. SciPy has Sobol's points, in a module that takes
    half a second to import.
    """
    golden = 2.0
    for _ in range(64):
        golden = (1.0 + golden) ** (1.0 / (dimensions + 1))
    steps = golden ** -np.arange(1.0, dimensions + 1)
    return np.asarray((0.5 + np.outer(np.arange(1, count + 1), steps)) % 1.0)


def _priors(
    last: Round, flat: np.ndarray, thetas: np.ndarray
) -> Iterator[tuple[np.ndarray, float, np.ndarray, np.ndarray]]:
    """Yield variances of features and noise at vectors (N, H), and precisions (P,) and means (P,) of the parameters.

    The parameters' own prior has the precisions `flat` (P,); errors of sensors have that of θ. As many vectors are
    asked at once as there are draws.
    """
    for first in range(0, len(thetas), DRAWS):
        some = thetas[first : first + DRAWS]
        filled = np.pad(some, ((0, DRAWS - len(some)), (0, 0)), mode="edge")
        spectra, noises, precisions, means = map(np.asarray, _at_all(last.linear, filled, flat))
        yield from zip(spectra[: len(some)], noises.tolist(), precisions, means, strict=False)


@together
@compiled(once=True)
def _at_all(linear: RestrictedLikelihood, thetas: jax.Array, flat: jax.Array) -> tuple[jax.Array, ...]:
    """Variances (N, K) of the features and (N,) of the noise, precisions and means (N, P), at vectors (N, H)."""

    def one(theta: jax.Array) -> tuple[jax.Array, ...]:
        spectrum, held = linear.spectrum(theta), linear.held(theta)
        noise = effective(spectrum, jnp.exp(theta[-1]), linear.data.A)
        if held is None:
            return spectrum, noise, flat, jnp.zeros_like(flat)
        return spectrum, noise, flat + held.precision, held.mean

    return jax.lax.map(one, thetas)


def _answer(
    data: Reduced, spectrum: np.ndarray, noise: float, precision: np.ndarray, mean: np.ndarray
) -> _Answer:
    """Generalised least squares and the restricted likelihood at a prior, its constants left out.

    The features' variances are `spectrum`; the parameters' own prior has a precision and a mean, (P,) each.
    """
    count, windows = data.B.shape[-1], zip(data.A, data.B, data.y, data.known, strict=True)
    gram = data.rest / noise
    logs = float(data.spare) * np.log(noise)
    try:
        for A, B, y, known in windows:
            L = np.linalg.cholesky((A * spectrum) @ A.T + np.diag(noise + known))
            both = solve_triangular(L, np.column_stack([B, y]), lower=True, check_finite=False)
            gram = gram + both.T @ both
            logs += 2 * np.sum(np.log(np.diagonal(L)))
        information, towards = gram[:count, :count] + np.diag(precision), gram[:count, -1] + precision * mean
        estimate = np.linalg.solve(information, towards)
        logs += np.linalg.slogdet(information)[1] - np.sum(np.log(precision))
    except np.linalg.LinAlgError:
        return _Answer(-np.inf, np.zeros(count), np.zeros((count, count)))
    left = gram[-1, -1] + precision @ mean**2 - estimate @ towards
    return _Answer(-0.5 * (left + logs), estimate, covariance_of(np.asarray(information)))


def _curvature(value: Callable[[np.ndarray], np.ndarray], at: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Second differences of −value in some of its numbers, over a step in which a logarithm is far from exact."""
    steps, count = STEP * np.eye(at.size)[free], len(free)
    pairs = list(combinations(range(count), 2))
    both = [steps[i] + steps[j] for i, j in pairs]
    values = value(at + np.array([np.zeros(at.size), *steps, *-steps, *both, *(-each for each in both)]))
    middle, along, across = np.split(values, [1, 1 + 2 * count])
    if not np.all(np.isfinite(values[: 1 + 2 * count])):
        return np.full((count, count), np.nan)
    along, across = along.reshape(2, count).sum(axis=0), across.reshape(2, len(pairs)).sum(axis=0)
    hessian = np.diag(2 * middle[0] - along)
    for (i, j), total in zip(pairs, across, strict=True):
        hessian[i, j] = hessian[j, i] = -0.5 * (total + 2 * middle[0] - along[i] - along[j])
    return hessian / STEP**2


def positive_part(change: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return the part of a change of a covariance that widens it, in any direction."""
    root = np.linalg.cholesky(covariance)
    sizes, axes = np.linalg.eigh(np.linalg.solve(root, np.linalg.solve(root, change).T))
    half = root @ axes
    return np.asarray((half * np.maximum(sizes, 0.0)) @ half.T)
