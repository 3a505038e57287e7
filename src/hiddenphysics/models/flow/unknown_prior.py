"""What it adds to the parameters' uncertainty that the prior's numbers are not known, either.

Given lengths, variances and noise θ, parameters of the linear model are normal, N(λ(θ), C(θ)), by generalised least
squares. θ itself is known as well as the restricted likelihood tells. So the parameters are a mixture,

    cov λ = Σ_k w_k [ C(θ_k) + (λ(θ_k) − λ)(λ(θ_k) − λ)ᵀ ],

over draws θ_k around the optimum with importance weights w_k. Of many values θ is known so well that nothing is added;
of a few sensors the length alone may decide. Rue, Martino & Chopin (2009), J. R. Stat. Soc. B 71, 319.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import jax
import numpy as np
from scipy.special import ndtri

from hiddenphysics.gaussian import Reduced, covariance_of, effective
from hiddenphysics.learning import RELIABLE, importance_weights
from hiddenphysics.models.flow.gauss_newton import FlowTask
from hiddenphysics.models.flow.one_round import Round

DRAWS = 128
"""Milliseconds each."""

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

    def sentence(self) -> str:
        """Say it in words."""
        doubt = (
            ""
            if self.pareto_k < RELIABLE
            else f", and weights of draws do not tell how well (Pareto k = {self.pareto_k:.2g})"
        )
        return f"So few values hardly tell lengths and noise: that is in the deviations{doubt}."


class _Answer(NamedTuple):
    log_likelihood: float
    estimate: np.ndarray
    covariance: np.ndarray


def prior_mixture(task: FlowTask, last: Round) -> Mixture | None:
    """Return what draws of θ add to the covariance of the parameters around their estimate.

    None where that is not worth it, or was not asked: there are many values, or columns with a prior of their own.
    """
    covariance, most = covariance_of(last.information), MOST_VALUES[len(task.domain.shortest)]
    many = task.windows.count > most or not np.all(task.border.is_flat)
    if many or not _is_sound(covariance):
        return None
    bounds = task.prior_bounds + BEYOND * np.array([-1.0, 1.0])
    made = _mixture(last, bounds, 1.0 / (NATURAL * task.scale) ** 2)
    part = np.trace(np.linalg.solve(covariance, made.covariance)) / len(covariance)
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
    centre = _answer(last, data, flat, theta)
    nothing = Mixture(np.zeros_like(centre.covariance), -np.inf)
    if not (free.any() and _is_sound(centre.covariance)):
        return nothing
    curvature = _curvature(
        lambda at: _answer(last, data, flat, at).log_likelihood, theta, np.flatnonzero(free)
    )
    if not np.all(np.isfinite(curvature)):
        return nothing
    sizes, axes = np.linalg.eigh(curvature)
    spread = np.minimum(WIDER / np.sqrt(np.maximum(sizes, 1e-12)), LOOSEST)
    points = ndtri(_even_points(DRAWS, int(free.sum())))
    draws = np.tile(theta, (DRAWS, 1))
    draws[:, free] += (points * spread) @ axes.T
    inside = np.all((draws >= low) & (draws <= high), axis=1)
    answers = [_answer(last, data, flat, one) for one in draws[inside]]
    ratio = np.array([one.log_likelihood for one in answers]) + 0.5 * np.sum(points[inside] ** 2, axis=1)
    if not np.any(np.isfinite(ratio)):
        return nothing
    weights, pareto_k = importance_weights(ratio)
    total = np.zeros_like(centre.covariance)
    for weight, one in zip(weights, answers, strict=True):
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


def _answer(last: Round, data: Reduced, flat: np.ndarray, theta: np.ndarray) -> _Answer:
    """Generalised least squares and the restricted likelihood at a prior's vector, its constants left out.

    The parameters' own prior has the precisions `flat` (P,).
    """
    spectrum = np.asarray(last.linear.spectrum(theta))
    noise = float(effective(spectrum, np.exp(theta[-1]), data.A))
    count, windows = data.B.shape[-1], zip(data.A, data.B, data.y, data.known, strict=True)
    gram = data.rest / noise
    logs = float(data.spare) * np.log(noise)
    try:
        for A, B, y, known in windows:
            L = np.linalg.cholesky((A * spectrum) @ A.T + np.diag(noise + known))
            both = np.linalg.solve(L, np.column_stack([B, y]))
            gram = gram + both.T @ both
            logs += 2 * np.sum(np.log(np.diagonal(L)))
        information = gram[:count, :count] + np.diag(flat)
        estimate = np.linalg.solve(information, gram[:count, -1])
        logs += np.linalg.slogdet(information)[1]
    except np.linalg.LinAlgError:
        return _Answer(-np.inf, np.zeros(count), np.zeros((count, count)))
    left = gram[-1, -1] - estimate @ gram[:count, -1]
    return _Answer(-0.5 * (left + logs), estimate, covariance_of(np.asarray(information)))


def _curvature(value: Callable[[np.ndarray], float], at: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Second differences of −value in some of its numbers, over a step in which a logarithm is far from exact."""
    steps = STEP * np.eye(at.size)[free]
    middle, count = value(at), len(free)
    along = np.array([[value(at + sign * step) for sign in (1, -1)] for step in steps])
    if not (np.isfinite(middle) and np.all(np.isfinite(along))):
        return np.full((count, count), np.nan)
    hessian = np.diag(2 * middle - along.sum(axis=1))
    for i, j in combinations(range(count), 2):
        across = value(at + steps[i] + steps[j]) + value(at - steps[i] - steps[j])
        hessian[i, j] = hessian[j, i] = -0.5 * (across + 2 * middle - along[i].sum() - along[j].sum())
    return hessian / STEP**2


def positive_part(change: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return the part of a change of a covariance that widens it, in any direction."""
    root = np.linalg.cholesky(covariance)
    sizes, axes = np.linalg.eigh(np.linalg.solve(root, np.linalg.solve(root, change).T))
    half = root @ axes
    return np.asarray((half * np.maximum(sizes, 0.0)) @ half.T)
