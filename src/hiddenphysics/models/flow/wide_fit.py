"""A fit of a state with thousands of features: the rounds of `gauss_newton` without their matrices.

State and parameters move by conjugate gradients along the flow (`products`). The prior's numbers, and what is believed
of the state, take the values to be seen where they are, and not where the motion carries them: one matrix for every
process, and none for all of them. The correction of the parameters for log|K| (`log_determinant`) is left out: it was
0.05 deviations where both ways could be computed (heat in a plane, 2 × 400 values, 18 November 2026).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import jax
import numpy as np
from scipy.linalg import block_diag, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri

from hiddenphysics.gaussian import Belief, covariance_of
from hiddenphysics.learning import (
    Progress,
    Status,
    Stopped,
    Verdict,
    at_bound,
    criticise,
    gravest,
    is_free,
    keep,
    undetermined,
    unfinished,
    when,
)
from hiddenphysics.models.flow.beginning import Beginning
from hiddenphysics.models.flow.compressed import SQUARED
from hiddenphysics.models.flow.densities import Densities
from hiddenphysics.models.flow.domain import Domain
from hiddenphysics.models.flow.findings import AT_AN_OPTIMUM, UNSETTLED, as_misfit, too_much_left
from hiddenphysics.models.flow.flow_task import STEP_ERROR
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.left_over import left_over, scores
from hiddenphysics.models.flow.one_round import Point
from hiddenphysics.models.flow.processes import levels_of
from hiddenphysics.models.flow.products import (
    Course,
    Left,
    Stepped,
    Weights,
    left_at,
    stepped,
)
from hiddenphysics.models.flow.smoothed import bounds_of
from hiddenphysics.models.flow.unfinished import natural_numbers
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.models.model import Fit
from hiddenphysics.priors import Prior

WIDE = 2500
"""Features from which on a round is solved without matrices. At 3586, Burgers' equation in a plane, a dense round takes
45 s for its matrix and minutes for its prior, one of these 5 s (18 November 2026)."""

MOST_ROUNDS, SHORTEST, LEAST_GAIN = 20, 2.0**-6, 0.1
"""Rounds, the smallest part of a step that is tried, and by how much the objective may rise in one: rounding."""

LONGEST = 0.7
"""Largest change of a logarithm of the prior's numbers in a round."""

SETTLED, GAINED = 0.1, 20.0
"""Rounds end when the parameters move by less than so many deviations, and the prior's numbers promise no more log
evidence than that. Burgers' equation, 2 × 2 × 5000 values: all further rounds moved them by 0.1 (18 November 2026)."""

FEWEST_STEPS, MOST_STEPS = 4, 64
"""Steps in time in every gap."""

ROUGHER = 4
"""How many times fewer steps derivatives take, two in a gap at least: they only turn the direction in which a round
looks, and what is left over is that of the fine way."""

LEAST_SEEN = 1e-12
"""Part of the mean square of a feature, over all points, that is rounding."""


def is_wide(start: Beginning) -> bool:
    """Whether a state in a plane has so many features that matrices of them are too large, and all is plainly seen."""
    windows, domain, program = start.windows, start.domain, start.domain.program
    plain = not (
        program.tied
        or program.outside
        or windows.known_errors
        or windows.sensors
        or windows.equation.functions
    )
    seen = len(windows.measured) == len(windows.state) == program.processes
    alone = len(windows.windows) == 1 and windows.walls is None and windows.inputs is None
    noisy = windows.quiet == 0.0 and np.exp(start.theta[-1]) > SQUARED
    return bool(
        len(program.shape) == 2 and program.features > WIDE and plain and seen and alone and noisy
        and not windows.equation.system.accelerations and domain.gauge.places is None
    )  # fmt: skip


@dataclass(frozen=True)
class Wide:
    """A state of thousands of features in one box, and where its search is.

    Attributes
    ----------
    start
        The data and the prior.
    domain, at
        The box, and the point.
    steps
        In time, in every gap.
    """

    start: Beginning
    domain: Domain
    at: Point
    steps: int

    @property
    def windows(self) -> Windows:
        """The data."""
        return self.start.windows

    @property
    def prior(self) -> Prior:
        """The processes."""
        return self.start.prior

    @property
    def noise(self) -> float:
        """Variance, in units of the fields'."""
        return float(np.exp(self.at.theta[-1]))

    @property
    def count(self) -> int:
        """Number of values."""
        return int(self.windows.counts.sum()) * len(self.windows.measured)

    @cached_property
    def spectrum(self) -> np.ndarray:
        """(K,) prior variances of the features."""
        features = self.domain.features
        return np.asarray(self.prior.spectrum(self.at.theta, features.omega, features.measure, self._level))

    @cached_property
    def _level(self) -> np.ndarray:
        return levels_of(self.prior, self.windows)

    def weights(self, grams: np.ndarray) -> Weights:
        """Return the prior, the noise and the local inverses, of Gram matrices (R, K/R, K/R) of the features."""
        roots = np.sqrt(self.spectrum).reshape(len(grams), -1)
        local = [
            _inverse(root[:, None] * gram * root / self.noise)
            for root, gram in zip(roots, grams, strict=True)
        ]
        return Weights(roots.ravel(), self.noise, np.stack(local))

    def retuned(self, weights: Weights, squares: float) -> tuple[np.ndarray, float]:
        """Return the prior's vector after a step of Fisher scoring, and the log evidence that the step promises.

        With the posterior's second moments m of the features the evidence rises by ½ Σ ∂log S (m/S − 1), and its
        expected information is ½ ∂log Sᵀ (1 − C)∘(1 − C) ∂log S, where C is the local posterior covariance in units
        of the prior's. The noise is what is left over, for every value that the state does not take.
        """
        features, S = self.domain.features, self.spectrum
        every = np.asarray(self.prior.slopes(self.at.theta, features.omega, features.measure, self._level))
        logs = (every / S[:, None]).reshape(len(weights.local), -1, every.shape[1])
        z = np.asarray(self.at.z)[0]
        moments = z**2 / S + np.concatenate([np.diagonal(block) for block in weights.local])
        gradient = 0.5 * np.einsum("rkh,rk->h", logs, moments.reshape(len(logs), -1) - 1)
        known = [(np.eye(len(block)) - block) ** 2 for block in weights.local]
        information = 0.5 * sum(one.T @ block @ one for one, block in zip(logs, known, strict=True))
        taken = sum(len(block) - np.trace(block) for block in weights.local)
        theta = np.array(self.at.theta)
        step = np.linalg.solve(information + 1e-9 * np.eye(len(gradient)), gradient)
        step *= min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-300))
        noise = np.log(max(squares, 1e-300) / (self.count - taken - len(self.at.parameters)))
        # Where the state has not followed yet, what is left over is not noise.
        change = np.append(step, np.clip(noise - theta[-1], -2 * LONGEST, 2 * LONGEST))
        moved = np.clip(theta + change, *self._bounds.T)
        gain = gradient @ step + 0.25 * (self.count - taken) * change[-1] ** 2
        return moved, float(gain)

    @cached_property
    def _bounds(self) -> np.ndarray:
        shape = (len(self.prior.latents), 1)
        extent = self.windows.region.extent
        bounds = bounds_of(self.prior, np.tile(extent / 100, shape), np.tile(extent, shape))
        bounds[self.prior.is_variance] += 2 * np.log(self.windows.sizes)[:, None]
        bounds[-1, 0] = np.log(SQUARED)
        return bounds

    @property
    def rough(self) -> int:
        """Steps of derivatives in every gap."""
        return max(self.steps // ROUGHER, 2)

    @cached_property
    def course(self) -> Course:
        """What the motion needs to know."""
        latent = jax.tree.map(lambda part: np.asarray(part)[0], self.domain.latent(np.asarray(self.at.z)))
        windows = self.windows
        return Course(latent, windows.times[0], windows.units, np.array(windows.measured))

    def left(self, data: Densities) -> Left:
        """Return what is left over at the point."""
        return left_at(
            self.domain.program, self.steps, self.course, data, self.at.z[0], np.asarray(self.at.parameters)
        )

    def stepped(self, data: Densities, weights: Weights, left: Left) -> Stepped:
        """Solve the linear model around the point."""
        z, parameters = np.asarray(self.at.z)[0], np.asarray(self.at.parameters)
        made = stepped(self.domain.program, self.rough, self.course, data, weights, z, parameters, left.slope)
        return Stepped(*map(np.asarray, made))

    def step_error(self, left: Left) -> float:
        """Error of the steps in time, as a norm over all values."""
        return float(np.sqrt(max(float(left.apart), 0.0))) / 15

    def objective(self, left: Left) -> float:
        """‖y − φ‖² in units of the noise + zᵀS⁻¹z: what a step has to lower."""
        prior = float(np.sum(np.asarray(self.at.z)[0] ** 2 / self.spectrum))
        return float(left.squares) / self.noise + prior

    def moved(self, made: Stepped, step: np.ndarray, part: float) -> Wide:
        """Go a part of the way that the linear model suggests, with a step (P,) of the parameters."""
        z = self.at.z + part * (np.asarray(made.state) - np.asarray(made.slope) @ step)[None]
        return replace(self, at=Point(z, self.at.parameters + part * step, self.at.theta))


@dataclass(frozen=True)
class Ended:
    """Where the rounds are: the point, what they work with, and the last step.

    Attributes
    ----------
    wide, data, grams, weights
        The point; its data, and Gram matrices (R, K/R, K/R) of its features; prior and noise there.
    made, left, settled
        The last step, what was left over, and whether there is nothing to gain.
    count
        Rounds so far.
    """

    wide: Wide
    data: Densities
    grams: np.ndarray
    weights: Weights
    made: Stepped
    left: Left
    settled: bool
    count: int = 0

    @property
    def information(self) -> np.ndarray:
        """(P, P)."""
        return np.asarray(self.made.information)

    def belief(self) -> Belief:
        """Return what is believed: of the parameters as they are known, of the state as its values are where they are.

        The Gram matrix that is left for the parameters alone is what makes their information what it is.
        """
        wide, noise = self.wide, self.wide.noise
        lower = [_root(gram) for gram in self.grams]
        imitated = noise * np.asarray(self.made.imitated) / self.weights.root[:, None]
        parts = np.split(imitated, len(lower))
        B = np.concatenate(
            [solve_triangular(one, part, lower=True) for one, part in zip(lower, parts, strict=True)]
        )
        taken = np.asarray(self.made.imitated)
        local = np.concatenate(
            [
                block @ part
                for block, part in zip(self.weights.local, np.split(taken, len(lower)), strict=True)
            ]
        )
        rest = noise * self.information - B.T @ B + noise * taken.T @ local
        A = block_diag(*(one.T for one in lower))
        return Belief(
            A[None],
            B[None],
            rest,
            wide.spectrum,
            noise,
            np.zeros((1, len(A))),
            covariance_of(self.information),
        )


def fit_wide(start: Beginning, parameters: np.ndarray, say: Progress) -> Fit:
    """Run rounds from parameters (P,), and say how it went."""
    wide = Wide(start, start.domain, Point(start.z, parameters, start.theta), FEWEST_STEPS)
    made: list[Ended] = []
    try:
        for now in rounds(wide, say):
            made = [now]
            keep(say, partial(_itself, now), wide.count, float(now.count))
    except Stopped as stop:
        if not made:
            raise
        return stopped_wide(made[0], stop.reason)
    return _answered(made[0], say)


def _itself(ended: Ended) -> Ended:
    return ended


def rounds(wide: Wide, say: Progress) -> Iterator[Ended]:
    """Yield rounds until nothing is to be gained."""
    domain = wide.domain
    data = Densities.of(wide.windows, domain.features.grid)
    envelopes = np.asarray(domain.gauge.envelope)[0]
    own = zip(envelopes, wide.windows.units, strict=True)
    grams = np.stack([data.gram(domain.features, envelope) / unit**2 for envelope, unit in own])
    left = wide.left(data)
    for number in range(1, 1 + MOST_ROUNDS):
        say(f"round {number}")
        while wide.step_error(left) > STEP_ERROR * np.sqrt(wide.noise) and wide.steps < MOST_STEPS:
            wide = replace(wide, steps=2 * wide.steps)
            left = wide.left(data)
        weights = wide.weights(grams)
        made = wide.stepped(data, weights, left)
        step = np.linalg.solve(made.information, made.towards)
        step = np.clip(wide.at.parameters + step, *wide.windows.limits.T) - wide.at.parameters
        before, part, after = wide.objective(left), 1.0, wide.moved(made, step, 1.0)
        there = after.left(data)
        while not after.objective(there) < before + LEAST_GAIN and part > SHORTEST:
            part /= 2
            after = wide.moved(made, step, part)
            there = after.left(data)
        theta, gain = after.retuned(weights, float(there.squares))
        settled = bool(step @ made.information @ step < SETTLED**2 and gain < GAINED and part == 1.0)
        wide, left = replace(after, at=after.at._replace(theta=theta)), there
        yield Ended(wide, data, grams, weights, made, left, settled, number)
        if settled or not np.isfinite(float(left.squares)):
            break


def _inverse(gram: np.ndarray) -> np.ndarray:
    """(1 + gram)⁻¹ by Cholesky's factor."""
    lower, _ = dpotrf(gram + np.eye(len(gram)), lower=1)
    half, _ = dpotri(lower, lower=1)
    return np.tril(half) + np.tril(half, -1).T


def _root(gram: np.ndarray) -> np.ndarray:
    """L with L Lᵀ = gram, up to the smallest multiple of its size that makes it positive: points see few features."""
    size, share = np.trace(gram) / len(gram), LEAST_SEEN
    while True:
        lower, failed = dpotrf(gram + share * size * np.eye(len(gram)), lower=1)
        if not failed:
            return np.tril(lower)
        share *= 10


def _evidence(ended: Ended) -> float:
    """Log restricted likelihood, with the local log|P|; free of units."""
    wide = ended.wide
    local = -sum(float(np.linalg.slogdet(block)[1]) for block in ended.weights.local)
    P = len(wide.at.parameters)
    logs = (wide.count - P) * np.log(2 * np.pi) + wide.count * np.log(wide.noise) + local
    _, known = np.linalg.slogdet(ended.information)
    value = wide.objective(ended.left) + logs + known
    return -0.5 * float(value) - float(np.sum(np.log(wide.start.scale)))


def _fit(ended: Ended, verdict: Verdict, covariance: np.ndarray) -> Fit:
    wide = ended.wide
    span = float(np.max(np.diff(wide.windows.times[0])))
    learned = LearnedFlow.at(wide.windows, wide.domain, wide.at, span / wide.steps, ended.belief())
    return Fit(
        values=natural_numbers(wide.windows, wide.prior, wide.at.parameters, wide.at.theta),
        covariance=np.pad(covariance, (0, len(wide.prior.names))),
        evidence=_evidence(ended),
        verdict=verdict,
        jitter=0.0,
        evaluations=ended.count,
        learned=learned,
    )


def stopped_wide(ended: Ended, reason: str) -> Fit:
    """Return how far the rounds had come; no number that is not to be trusted looks certain."""
    made = _fit(ended, unfinished(reason), np.full_like(ended.information, np.inf))
    return replace(made, stopped=True)


def _answered(ended: Ended, say: Progress) -> Fit:
    """Say how it went, and criticise."""
    wide, start = ended.wide, ended.wide.start
    names = wide.windows.equation.parameters
    parameters, covariance = np.asarray(wide.at.parameters), covariance_of(ended.information)
    scale = start.scale_at(parameters)
    first = start.windows.quiet + float(np.exp(start.theta[-1]))
    misfit = float(np.sqrt(max(float(ended.left.squares), 0.0) / wide.count))
    verdict = gravest(
        too_much_left(misfit, first, max(one.doubt for one in start.smoothed)),
        undetermined(list(names), parameters, covariance, scale),
        at_bound(list(names), is_free(parameters, scale, wide.windows.limits)),
        when(not ended.settled, Status.NOT_CONVERGED, UNSETTLED),
        otherwise=AT_AN_OPTIMUM,
    )
    made = _fit(ended, verdict, covariance)
    say("criticising the equation")
    stops = left_over(made.learned, wide.windows)
    criticism = criticise(stops, scores(made.learned, wide.windows, stops, say))
    criticism = criticism.beside(parameters, np.sqrt(np.diagonal(covariance)), scale)
    if not ended.settled or verdict.status is Status.AT_BOUND:
        return replace(made, criticism=criticism)
    if criticism.speaks_against:
        verdict = as_misfit(criticism.sentence(), verdict)
    wider = np.pad(covariance * criticism.wider**2, (0, len(wide.prior.names)))
    return replace(made, verdict=verdict, covariance=wider, criticism=criticism)
