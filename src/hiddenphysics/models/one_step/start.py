"""Where learning starts: kernels, scales from the smoothed data, parameters from the first guess."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

import jax.numpy as jnp
import numpy as np

from hiddenphysics.errors import ModelError
from hiddenphysics.gaussian import variance
from hiddenphysics.learning import LEAST_NOISE, Guess, Progress, SmoothedField, Smoother, smooth
from hiddenphysics.models.one_step.likelihood import at_place
from hiddenphysics.models.one_step.problem import Problem
from hiddenphysics.models.one_step.step import OneStep, component, origin, with_scales
from hiddenphysics.models.question import Kernels, Question, Scales
from hiddenphysics.priors import NOISE, Kernel, SquaredExponential, shape_name, variance_name
from hiddenphysics.registry import did_you_mean
from hiddenphysics.snapshots import Snapshots

MUCH_NOISE = 1e-2
"""Noise variance at the start, relative to the power of the weakest field; as a standard deviation, a tenth."""


LONGER_SCALE = 5.0
"""Where a latent is a sum of processes, each starts with lengths that many times those of the one before."""

SHORT_AND_LONG: tuple[Kernel, ...] = (SquaredExponential(), SquaredExponential())


@dataclass(frozen=True)
class Start:
    """A place to begin, the size of natural steps, and the limits, all for the unconstrained vector.

    Attributes
    ----------
    vector
        (P,) the starting point.
    scale
        (P,) natural step sizes.
    bounds
        (P, 2) limits.
    """

    vector: np.ndarray
    scale: np.ndarray
    bounds: np.ndarray


def start_of(
    problem: Problem, question: Question, smoothed: Mapping[str, SmoothedField], guess: Guess
) -> Start:
    """Return the start: the guessed parameters, the smoothed fields' lengths and variances, and much noise.

    From much noise the optimiser comes down along the ridge of long lengths, where the model's own error counts as
    noise; from the noise of the smoothed data it often ends where short lengths bend to that error (on clean data in
    one fit of four, losing up to a thousand in log likelihood).
    """
    unknowns, sizes = problem.unknowns, Sizes.of(question.snapshots)
    values = _hyper_values(problem, smoothed, guess) | guess.estimate
    values[NOISE] = MUCH_NOISE * min(sizes.power.values())
    variances = {latent: values[variance_name(latent)] for latent, _ in unknowns.prior.latents}
    limits = [question.equation.bounds[p] for p in unknowns.parameters]
    bounds = np.concatenate([np.reshape(limits, (-1, 2)), sizes.bounds(problem, variances)])
    vector = np.clip(unknowns.vector(values), bounds[:, 0], bounds[:, 1])
    scale = np.array([guess.scale.get(n, 1.0) for n in unknowns.names])
    return Start(vector, scale, bounds)


@dataclass(frozen=True)
class Sizes:
    """Natural sizes of a set of snapshots.

    Attributes
    ----------
    extent, spacing
        (D,) width of the region that holds all points along each coordinate, and the mean distance of
        neighbours there.
    power
        Mean square of every field over all its values.
    """

    extent: np.ndarray
    spacing: np.ndarray
    power: Mapping[str, float]

    @classmethod
    def of(cls, snapshots: Snapshots) -> Sizes:
        """Measure the given snapshots."""
        points = np.concatenate([s.points for s in snapshots])
        extent = np.ptp(points, axis=0)
        per_side = min(len(s) for s in snapshots) ** (1.0 / points.shape[1])
        power = {f: float(np.mean(np.concatenate([s[f] for s in snapshots]) ** 2)) for f in snapshots.fields}
        return cls(extent, extent / per_side, power)

    def bounds(self, problem: Problem, variances: Mapping[str, float]) -> np.ndarray:
        """Return generous bounds of the prior's numbers, (H, 2), variances around those expected of the latents."""
        prior, powers = problem.unknowns.prior, self.power.values()

        def shapes(row: int, d: int) -> dict[str, tuple[float, float]]:
            return prior.latents[row][1].limits(float(self.spacing[d]), float(self.extent[d]))

        return prior.bounds(variances, shapes, (LEAST_NOISE * min(powers), 10.0 * max(powers)))


def _hyper_values(problem: Problem, smoothed: Mapping[str, SmoothedField], guess: Guess) -> dict[str, float]:
    """Return the kernels' numbers: a measured latent takes its smoothed field's, others the guess's or borrow."""
    prior = problem.unknowns.prior
    values: dict[str, float] = {}
    for latent, kernel in prior.latents:
        sources = [smoothed[latent]] if latent in smoothed else list(smoothed.values())
        hypers = [s.hyper(-1) for s in sources]
        longer = LONGER_SCALE ** (origin(latent)[1] - 1)
        for d, coordinate in enumerate(prior.coordinates):
            typical = np.exp(np.mean([np.log(shapes[d]["length"]) for _, shapes in hypers]))
            shape = kernel.start(longer * float(typical))
            if latent in smoothed:
                shape |= hypers[0][1][d]
            values |= {shape_name(latent, p, coordinate): v for p, v in shape.items()}
        values[variance_name(latent)] = hypers[0][0]
    for latent, kernel in prior.latents:
        if latent in guess.hidden:
            hidden = guess.hidden[latent]
            values[variance_name(latent)] = hidden.variance
            for coordinate, length in zip(prior.coordinates, hidden.lengths, strict=True):
                values |= {shape_name(latent, p, coordinate): v for p, v in kernel.start(length).items()}
        elif latent not in smoothed:
            values[variance_name(latent)] = _matching_variance(
                problem, latent, values | guess.estimate | {NOISE: 1.0}
            )
    return values


def _matching_variance(problem: Problem, latent: str, values: Mapping[str, float]) -> float:
    """Return the variance of an unmeasured latent that makes its share of the observed fields as large as they are."""
    traced = {name: jnp.asarray(value) for name, value in values.items()} | {
        variance_name(latent): jnp.ones(())
    }
    ratios = []
    for observation, seen in zip(problem.step.observations, problem.data.values, strict=True):
        here = problem.data.places[observation.snapshot]
        observed, _ = at_place(problem.step, observation.quantity, traced, here)
        share = type(observed)(observed.operator.only(latent), observed.points)
        if share.operator.terms:
            unit = float(jnp.mean(variance(share, problem.unknowns.prior.processes(traced))))
            if unit > 0:  # a velocity has no share in a snapshot at the latent's own time
                ratios.append(float(jnp.mean(seen**2)) / unit)
    if not ratios:
        measured = dict.fromkeys(o.field for o in problem.step.observations)
        hint = did_you_mean(latent.lower(), measured).replace("; d", " D")
        raise ModelError(
            f"The equation holds the field {latent}, which has no data, and nothing that was measured shows it: its "
            f"terms stand behind unknown numbers, or cancel.{hint} Give data for {latent}, or an equation that moves "
            "it."
        )
    return float(min(ratios))


# ---- which kernel belongs to what --------------------


def with_kernels(
    step: OneStep, measured: Collection[str], kernel: Kernels | None
) -> tuple[OneStep, dict[str, Kernel]]:
    """Give every latent its prior from what a user gave: nothing, one for all, or some by name.

    By default squared exponential; in two and three dimensions the midpoint model adds a second one on a longer scale
    to the latents that measured fields are made of (in a wake, 250 + 250 points: error of the viscosity 30 % with
    one, 5 % with two).

    Returns
    -------
    step, kernels
        The step, with latents on several scales written as sums, and one kernel for each of its latents.
    """
    chosen = _by_latent(step, measured, kernel)
    counts = {latent: len(several) for latent, several in chosen.items()}
    kernels = {
        component(latent, number): one
        for latent, several in chosen.items()
        for number, one in enumerate(several, start=1)
    }
    return with_scales(step, counts), kernels


def _by_latent(
    step: OneStep, measured: Collection[str], kernel: Kernels | None
) -> dict[str, tuple[Kernel, ...]]:
    default: dict[str, tuple[Kernel, ...]] = dict.fromkeys(step.latents, (SquaredExponential(),))
    if step.frozen_snapshot is None and len(step.coordinates) > 1:
        seen = {z for f in measured for z in step.quantity(f).without_lag().operator.latents}
        default |= dict.fromkeys(sorted(seen), SHORT_AND_LONG)
    if kernel is None:
        return default
    if not isinstance(kernel, Mapping):
        return dict.fromkeys(step.latents, _several(kernel))
    unknown = sorted(set(kernel) - set(step.latents))
    if unknown:
        raise ModelError(
            f"A kernel was given for {unknown[0]!r}; the latent fields are {', '.join(step.latents)}."
        )
    return default | {latent: _several(some) for latent, some in kernel.items()}


def _several(kernels: Scales) -> tuple[Kernel, ...]:
    return (kernels,) if isinstance(kernels, Kernel) else tuple(kernels)


def smoother_of(snapshots: Snapshots, kernels: Mapping[str, Kernel], say: Progress) -> Smoother:
    """Return a function that smooths a field when it is first asked for, and only then."""

    @cache
    def smoother(field: str) -> SmoothedField:
        return smooth(snapshots, field, kernels.get(field, SquaredExponential()), say)

    return smoother
