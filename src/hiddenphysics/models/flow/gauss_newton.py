"""Rounds of linearise, tune, solve: Gauss–Newton in state and parameters with the prior learned on the way.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`),
unless they say so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from hiddenphysics.gaussian import Reduced, RestrictedLikelihood, covariance_of, evidence, posterior, reduce
from hiddenphysics.learning import Progress, Tuned, rounds, tune
from hiddenphysics.models.flow.domain import QUIETEST, Domain
from hiddenphysics.models.flow.path import Latent, Path, Program, linearised, predictions
from hiddenphysics.models.flow.smoothed import bounds_of
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.priors import Prior

MOST_ROUNDS = 25
"""Two to seven were enough in 16 fits of `benchmarks.answers`; a search that needs more is finished only if it explains
most (`flow_fit`)."""

SETTLED = 0.01
"""Rounds end when the parameters move by less than this many standard deviations, in any combination."""

SHORTEST = 2.0**-7
"""Smallest part of a step that is tried."""

LEAST_PART = 0.1
"""Smallest part to which a step is relaxed."""

EXPLAINED = 2.0
"""A misfit of so many standard deviations of the noise leaves nothing to damp a step for."""

TIME_ERROR = 0.05
"""Error of the steps in time that is accepted, in standard deviations of the noise; twice of it moves an answer by
0.02 deviations."""

UNEXPLAINED = 0.1
"""Part of the misfit that counts as noise there, as long as that is more."""

LEAST_ERROR, MOST_ERROR, COLD_ERROR = 1e-8, 1e-4, 1e-3
"""Bounds of that error in units of the field's size, and what is enough for the first round."""

NEGLIGIBLE = 1e-5
"""Prior variance, in units of the field's, of a latent that is as good as zero."""

FIRST_STEPS = 4
"""Steps in time between first and last snapshot, to begin with."""

STENCIL = 0.5
"""Distance of the two sides of a difference quotient of log|K|, in standard deviations."""

MOST_WORK = 2e5
"""Steps times waves of all fields, beyond which no state is worth being followed more exactly."""


# ---- pure functions of arrays: they can be compiled, mapped and differentiated --------------------


class Measured(NamedTuple):
    """What was measured, as rows.

    Attributes
    ----------
    values
        (W, R), in units of their fields' sizes; R = T·G·N rows for G measured fields.
    weights
        (W, T, G, N) 1/size of the field, 0 for padding.
    fields
        (G,) rows of the measured fields in the state.
    known
        (W, R) known variances of the rows; None where none is known.
    count
        Number of rows that are no padding.
    """

    values: Any
    weights: Any
    fields: Any
    known: Any
    count: Any

    def rows(self, fields: jax.Array) -> jax.Array:
        """Take values of the state at the stops, (W, …, T, F, N), to weighted rows (W, R, …)."""
        seen = jnp.take(fields, self.fields, axis=-2)
        extra = seen.ndim - 4
        weights = self.weights.reshape(self.weights.shape[0], *(1,) * extra, *self.weights.shape[1:])
        return jnp.moveaxis((seen * weights).reshape(*seen.shape[: 1 + extra], -1), -1, 1)


class Point(NamedTuple):
    """Around which the flow is linearised: states (W, F·K), parameters (P,), the prior's vector (H,)."""

    z: Any
    parameters: Any
    theta: Any


@partial(jax.jit, static_argnums=0)
def predict_rows(
    program: Program, measured: Measured, latent: Latent, parameters: jax.Array, path: Path
) -> Float[jax.Array, "W R"]:
    """Weighted rows of the predictions φ."""
    return measured.rows(predictions(program, latent, parameters, path))


@partial(jax.jit, static_argnums=0)
def linearise(
    program: Program, measured: Measured, latent: Latent, parameters: jax.Array, path: Path
) -> Reduced:
    """Return the linear model around a state and parameters: y − φ + A z̄ = A z + B d + ε."""
    value, A, B = (measured.rows(part) for part in linearised(program, latent, parameters, path))
    y = measured.values - value + jnp.einsum("wnk,wk->wn", A, latent.z)
    return reduce(A, B, y, measured.count, measured.known)


# ---- rounds --------------------


class Round(NamedTuple):
    """What one round found at the point where it linearised.

    Attributes
    ----------
    point
        Where the round ended.
    tuned, linear
        The prior's vector, and the linear model that it was tuned for.
    step
        (P,) the generalised least squares step, before damping.
    information
        (P, P).
    part
        Which part of the step was taken.
    misfit
        Root mean square of the residuals at the end, in units of the fields' sizes.
    held
        Whether the prior was held, and only the noise tuned.
    """

    point: Point
    tuned: Tuned
    linear: RestrictedLikelihood
    step: Any
    information: Any
    part: float
    misfit: float
    held: bool

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviations of the parameters."""
        return np.sqrt(np.diagonal(covariance_of(self.information)))

    @property
    def settled(self) -> bool:
        """Whether the step was next to nothing, as the data see it: weak directions may hide a strong one."""
        return bool(self.step @ self.information @ self.step < SETTLED**2)


@dataclass(frozen=True)
class FlowTask:
    """All that stays the same during the rounds in one box.

    Attributes
    ----------
    windows, prior, domain
        The data, the prior, the box.
    scale, bounds
        Natural sizes of steps (P,) and bounds (P, 2) of the parameters.
    dt
        Length of a step in time.
    slope
        (P,) ∇(½ log|K|) in the parameters: what the marginal likelihood adds to generalised least squares.
    """

    windows: Windows
    prior: Prior
    domain: Domain
    scale: np.ndarray
    bounds: np.ndarray
    dt: float
    slope: np.ndarray

    @cached_property
    def level(self) -> np.ndarray:
        """(F,) square of every measured field's mean: the variance of an unknown constant; 0 for the others."""
        level = np.zeros(len(self.windows.state))
        level[list(self.windows.measured)] = np.mean(self.windows.values, axis=(0, 1, 3)) ** 2
        return level

    @cached_property
    def path(self) -> Path:
        """The way through all stops."""
        return self.windows.path(self.dt)

    @cached_property
    def measured(self) -> Measured:
        """The data as rows."""
        windows = self.windows
        known = None if windows.known is None else jnp.asarray(windows.known)
        return Measured(
            jnp.asarray(windows.scaled),
            jnp.asarray(windows.weights),
            jnp.asarray(windows.measured),
            known,
            jnp.asarray(float(windows.count)),
        )

    def predict(self, z: np.ndarray, parameters: np.ndarray, path: Path | None = None) -> np.ndarray:
        """Weighted rows (W, R) of the predictions."""
        latent = self.domain.latent(z)
        return np.asarray(
            predict_rows(
                self.domain.program, self.measured, latent, jnp.asarray(parameters), path or self.path
            )
        )

    def linearise(self, at: Point) -> RestrictedLikelihood:
        """Return the linear model around a point, as a function of the prior's vector."""
        latent, parameters = self.domain.latent(at.z), jnp.asarray(at.parameters)
        data = linearise(self.domain.program, self.measured, latent, parameters, self.path)
        return RestrictedLikelihood(self.prior, self.domain.features, self.level, data)

    def prior_bounds(self) -> np.ndarray:
        """Bounds of the prior's vector in this box."""
        count = len(self.prior.latents)
        shortest, longest = (np.tile(v, (count, 1)) for v in (self.domain.shortest, self.domain.longest))
        bounds = bounds_of(self.prior, shortest, np.minimum(longest, self.windows.region.extent))
        least = QUIETEST[len(self.prior.coordinates)]
        bounds[-1, 0] = np.log(max(self.domain.quietest - self.windows.quiet, least))
        bounds[self.prior.is_variance] += 2 * np.log(self.windows.sizes)[:, None]
        return bounds

    def carried(self, at: Point) -> bool:
        """Whether the box still carries the prior that the point has reached."""
        return self.domain.carries(self.lengths(at), self.windows.region.extent, self.noise(at))

    def noise(self, at: Point) -> float:
        """Smallest variance that a value has at a point, in units of the field's."""
        return self.windows.quiet + float(np.exp(at.theta[-1]))

    def lengths(self, at: Point) -> np.ndarray:
        """Lengths (F, D) of the latents; one whose variance has gone to nothing has no say, and takes the shortest."""
        lengths = self.prior.lengths(at.theta)
        relative = np.exp(at.theta[self.prior.is_variance]) / self.windows.sizes**2
        says = relative > NEGLIGIBLE
        return np.where(says[:, None], lengths, lengths[says].min(axis=0) if says.any() else lengths)

    def round(self, at: Point, before: Round | None = None, *, hold: bool = False) -> Round:
        """Linearise, tune, solve, and take as much of the step as lowers the true objective.

        With `hold` only the noise is tuned: far from the truth it has to take what wrong parameters cannot explain,
        or a prior that is free to be anything would.

        Steps that overshoot and come back, as they do where the noise lets the state bend, are relaxed by what the
        round before has shown: Aitken's rule for vectors (Irons & Tuck, 1969).
        """
        linear = self.linearise(at)
        bounds = self.prior_bounds()
        if hold:
            bounds[:-1] = np.clip(at.theta[:-1, None], bounds[:-1, :1], bounds[:-1, 1:])
        tuned = tune(linear, at.theta, bounds)
        spectrum, noise = linear.spectrum(tuned.theta), np.exp(tuned.theta[-1])
        information = np.asarray(tuned.at.information)
        # A proximal term: directions that the data do not see stay where they are.
        towards = information @ np.asarray(tuned.at.estimate) - self.slope
        step = np.linalg.solve(information + np.diag(1.0 / self.scale**2), towards)
        mean, slope = (np.asarray(v) for v in posterior(linear.data, spectrum, jnp.asarray(noise)))
        whole = 1.0 if before is None else _relaxed(before, step, information)
        parameters = np.clip(at.parameters + whole * step, self.bounds[:, 0], self.bounds[:, 1])
        goal = Point(mean - slope @ (parameters - at.parameters), parameters, tuned.theta)
        share, point, misfit = self.towards(at, goal, np.asarray(spectrum))
        return Round(point, tuned, linear, step, information, share * whole, misfit, hold)

    def towards(self, at: Point, goal: Point, spectrum: np.ndarray) -> tuple[float, Point, float]:
        """Go from a point towards another as far as that lowers the objective; return the share, the place, its misfit.

        The objective is ‖y − φ(z; λ)‖² in units of the noise + zᵀS⁻¹z. State and parameters go together: far from the
        truth the state that goes with the old parameters may be bent so far that it overflows.
        """
        noise = float(np.exp(goal.theta[-1]))
        variance = noise if self.windows.known is None else noise + self.windows.known
        held = np.maximum(spectrum, 1e-300)

        def tried(share: float) -> tuple[Point, float, float]:
            z = at.z + share * (goal.z - at.z)
            parameters = at.parameters + share * (goal.parameters - at.parameters)
            residual = self.windows.scaled - self.predict(z, parameters)
            with np.errstate(over="ignore", invalid="ignore"):  # a state that overflows is not taken
                merit = float(np.sum(residual**2 / variance)) + float(np.sum(z**2 / held))
                misfit = float(np.sqrt(np.sum(residual**2) / self.windows.count))
            return Point(z, parameters, goal.theta), merit, misfit

        _, here, _ = tried(0.0)
        explained = EXPLAINED * float(np.sqrt(self.windows.quiet + noise))
        share = 1.0
        point, merit, misfit = tried(share)
        while share > SHORTEST and not (merit <= here + 1e-3 * abs(here) + 1.0 or misfit <= explained):
            share /= 2
            point, merit, misfit = tried(share)
        return share, point, misfit

    def fine_enough(self, at: Point, tolerance: float) -> float:
        """Return the longest step in time, among halvings, whose error at the stops is below the tolerance.

        Or the shortest that is affordable.
        """
        total = self.windows.span
        # A state on the way may have asked for shorter steps than the one that it has led to.
        dt = min(2 * self.dt, total / FIRST_STEPS)
        coarse = self.predict(at.z, at.parameters, self.windows.path(dt))
        most = MOST_WORK / at.z.shape[-1]
        while 2 * total / dt <= most:
            fine = self.predict(at.z, at.parameters, self.windows.path(dt / 2))
            error = float(np.max(np.abs(fine - coarse)))
            if error < 15 * tolerance:
                return dt / 2 if error > tolerance else dt
            coarse, dt = fine, dt / 2
        return dt


def _relaxed(before: Round, step: np.ndarray, information: np.ndarray) -> float:
    """Return the part of a step that two steps in a row suggest; the whole of it unless they disagree."""
    change = step - before.step
    size = change @ information @ change
    if not size > 0 or before.step @ information @ step >= 0:
        return 1.0
    return float(np.clip(-before.part * (before.step @ information @ change) / size, LEAST_PART, 1.0))


def run(
    task: FlowTask, at: Point, say: Progress, most: int = MOST_ROUNDS, *, cold: bool = False
) -> tuple[FlowTask, list[Round]]:
    """Repeat rounds until the parameters settle, or the lengths leave what the box carries.

    From a cold start the prior is held in the first round.
    """
    steps = task.dt

    def advance(before: Round | None) -> Round:
        nonlocal steps
        point = at if before is None else before.point
        first = cold and before is None
        tolerance = COLD_ERROR if first else _tolerance(task.noise(point), before)
        steps = replace(task, dt=steps).fine_enough(point, tolerance)
        return replace(task, dt=steps).round(point, before, hold=first)

    def ended(last: Round) -> bool:
        lost = not np.all(np.isfinite(last.point.parameters)) or not np.isfinite(last.misfit)
        return lost or (not last.held and (last.settled or not task.carried(last.point)))

    made = rounds(advance, ended, most, say)
    return replace(task, dt=steps), made


def _tolerance(noise: float, before: Round | None) -> float:
    """Error of the steps in time that is accepted; they need not be finer than what is still wrong otherwise."""
    unexplained = UNEXPLAINED * before.misfit if before else 0.0
    return float(np.clip(TIME_ERROR * max(np.sqrt(noise), unexplained), LEAST_ERROR, MOST_ERROR))


# ---- what generalised least squares leaves out: log|K| depends on the parameters too --------------------


def log_determinant_slopes(task: FlowTask, last: Round) -> tuple[np.ndarray, np.ndarray]:
    """Return first and second derivatives (P,) of ½ log|K| in λ, with the state at its posterior mean for each λ.

    The marginal likelihood of λ, with the state integrated out in Laplace's approximation, is
    −½ rᵀK⁻¹r − ½ log|K|. Generalised least squares moves along the first part alone; its stationary point moves by
    −C ∇(½ log|K|) when the second is there, C the covariance of λ.
    """
    at, theta = last.point, last.tuned.theta
    spectrum = last.linear.spectrum(theta)
    noise = jnp.exp(theta[-1])
    _, slope = (np.asarray(v) for v in posterior(last.linear.data, spectrum, noise))

    def half_log(parameters: np.ndarray) -> float:
        moved = Point(at.z - slope @ (parameters - at.parameters), parameters, theta)
        data = task.linearise(moved).data
        # With y = 0 and no fixed effects the evidence is the determinant alone, up to a constant.
        empty = data._replace(B=data.B[..., :0], y=jnp.zeros_like(data.y), rest=jnp.zeros((1, 1)))
        return float(evidence(empty, spectrum, noise))

    middle = half_log(at.parameters)
    first, second = np.zeros(at.parameters.size), np.zeros(at.parameters.size)
    for p, deviation in enumerate(last.deviations):
        h = STENCIL * deviation
        aside = np.eye(at.parameters.size)[p] * h
        above, below = half_log(at.parameters + aside), half_log(at.parameters - aside)
        first[p], second[p] = (above - below) / (2 * h), (above - 2 * middle + below) / h**2
    return np.nan_to_num(first), np.nan_to_num(second)
