"""Where learning starts: scales from the smoothed data, parameters from regression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from hiddenphysics.engines import variance
from hiddenphysics.forward.scales import origin
from hiddenphysics.inference.likelihood import at_place
from hiddenphysics.inference.parameters import NOISE, Layout, shape_name, variance_name
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.regression import Regression
from hiddenphysics.inference.scales import Scales
from hiddenphysics.inference.smooth import SmoothedField

MUCH_NOISE = 1e-2
"""Noise variance at the start, relative to the power of the weakest field; as a standard deviation, a tenth."""


LONGER_SCALE = 5.0
"""Where a latent is a sum of processes, each starts with lengths that many times those of the one before."""


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
    problem: Problem,
    scales: Scales,
    smoothed: Mapping[str, SmoothedField],
    regression: Regression,
    parameter_bounds: Mapping[str, tuple[float, float]],
) -> Start:
    """Return the start: the regression's parameters, the smoothed fields' lengths and variances, and much noise.

    From much noise the optimiser comes down along the ridge of long lengths, where the model's own error counts as
    noise; from the noise of the smoothed data it often ends where short lengths bend to that error (on clean data in
    one fit of four, losing up to a thousand in log likelihood).
    """
    layout = problem.layout
    hyper = _hyper_values(problem, smoothed, regression) | regression.estimate
    variances = {latent: hyper[variance_name(latent)] for latent, _ in layout.kernels}
    limits = scales.hyper_bounds(layout, variances)
    natural = {n: parameter_bounds.get(n, (-np.inf, np.inf)) for n in layout.model.parameters}
    bounds = np.array([natural[n] if n in natural else np.log(limits[n]) for n in layout.names], float)
    hyper[NOISE] = MUCH_NOISE * min(scales.power.values())
    vector = np.clip(layout.vector(hyper), bounds[:, 0], bounds[:, 1])
    scale = np.array([regression.scale.get(n, 1.0) for n in layout.names])
    return Start(vector, scale, bounds)


def _hyper_values(
    problem: Problem, smoothed: Mapping[str, SmoothedField], regression: Regression
) -> dict[str, float]:
    """Return the kernels' numbers: a measured latent takes its smoothed field's, others the regression's or borrow."""
    layout = problem.layout
    values: dict[str, float] = {}
    for latent, kernel in layout.kernels:
        sources = [smoothed[latent]] if latent in smoothed else list(smoothed.values())
        hypers = [s.hyper(-1) for s in sources]
        longer = LONGER_SCALE ** (origin(latent)[1] - 1)
        for d, coordinate in enumerate(layout.model.coordinates):
            typical = np.exp(np.mean([np.log(shapes[d]["length"]) for _, shapes in hypers]))
            shape = kernel.start(longer * float(typical))
            if latent in smoothed:
                shape |= hypers[0][1][d]
            values |= {shape_name(latent, p, coordinate): v for p, v in shape.items()}
        values[variance_name(latent)] = hypers[0][0]
    for latent, kernel in layout.kernels:
        if latent in regression.hidden:
            prior = regression.hidden[latent]
            values[variance_name(latent)] = prior.variance
            for coordinate, length in zip(layout.model.coordinates, prior.lengths, strict=True):
                values |= {shape_name(latent, p, coordinate): v for p, v in kernel.start(length).items()}
        elif latent not in smoothed:
            values[variance_name(latent)] = _matching_variance(
                problem, latent, values | regression.estimate | {NOISE: 1.0}
            )
    return values


def _matching_variance(problem: Problem, latent: str, values: Mapping[str, float]) -> float:
    """Return the variance of an unmeasured latent that makes its share of the observed fields as large as they are."""
    layout: Layout = problem.layout
    traced = {name: jnp.asarray(value) for name, value in values.items()} | {
        variance_name(latent): jnp.ones(())
    }
    ratios = []
    for observation, seen in zip(layout.model.observations, problem.data.values, strict=True):
        here = problem.data.places[observation.snapshot]
        observed, _ = at_place(layout, observation.quantity, traced, here)
        share = type(observed)(observed.operator.only(latent), observed.points)
        if share.operator.terms:
            unit = float(jnp.mean(variance(share, layout.priors(traced))))
            if unit > 0:  # a velocity has no share in a snapshot at the latent's own time
                ratios.append(float(jnp.mean(seen**2)) / unit)
    return float(min(ratios))
