"""Hyper-parameters by restricted likelihood: Fisher scoring within bounds, as one compiled loop.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from hiddenphysics.compiled_code import compiled
from hiddenphysics.gaussian import Evaluated, RestrictedLikelihood
from hiddenphysics.together import together

MOST_STEPS = 60
"""Evaluations after which a tuning ends where it is."""
LONGEST_STEP = 2.0
"""Largest change of a logarithm in one step."""
GAIN = 1e-4
"""Gains in log likelihood that are worth no further step."""
FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-6, 1e6
"""Damping of a step, relative to the information; beyond the last no step is worth trying."""


class Tuned(NamedTuple):
    """Where the tuning ended: the vector (H,), and the evaluation there."""

    theta: Any
    at: Evaluated


class _Scored(NamedTuple):
    theta: jax.Array
    at: Evaluated
    gradient: jax.Array
    fisher: jax.Array


class _Search(NamedTuple):
    best: _Scored
    tried: jax.Array
    damping: jax.Array
    spent: jax.Array
    going: jax.Array


@together
@compiled(light=True, static_argnames=("most", "enough", "averaged"))
def tune(
    objective: RestrictedLikelihood,
    start: Any,
    bounds: Any,
    most: int = MOST_STEPS,
    enough: float = GAIN,
    *,
    averaged: bool = False,
) -> Tuned:
    """Minimise from a start (H,) within bounds (H, 2): damped Fisher scoring, held at bounds that a step would cross.

    It ends after `most` evaluations, or where a step promises less than `enough` of log likelihood. With `averaged`
    the average information takes the place of the expected one: noisier, and a third of the work where features are
    thousands.

    A pure function: it can be mapped over many likelihoods, each of which ends by itself.
    """
    low, high = jnp.asarray(bounds).T
    first = jnp.clip(jnp.asarray(start), low, high)

    def scored(theta: jax.Array) -> _Scored:
        return _Scored(theta, *objective.scored(theta, averaged=averaged))

    def advance(now: _Search) -> _Search:
        there = scored(now.tried)
        begins = now.spent == 0
        # The start is taken whatever it is worth: not finite, it promises no gain, and the search ends.
        better = begins | (jnp.isfinite(there.at.value) & (there.at.value < now.best.at.value))
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), there, now.best)
        damping = jnp.where(better, jnp.maximum(now.damping / 10, LEAST_DAMPING), 10 * now.damping)
        damping = jnp.where(begins, now.damping, damping)
        step, gain = _step(best, low, high, damping)
        going = (gain >= enough) & (damping <= MOST_DAMPING)
        return _Search(best, jnp.clip(best.theta + step, low, high), damping, now.spent + 1, going)

    nothing = jax.tree.map(lambda part: jnp.zeros(part.shape, part.dtype), jax.eval_shape(scored, first))
    begin = _Search(nothing, first, jnp.asarray(FIRST_DAMPING), jnp.asarray(0), jnp.asarray(True))
    best = jax.lax.while_loop(lambda now: now.going & (now.spent < most), advance, begin).best
    return Tuned(best.theta, best.at)


def _step(best: _Scored, low: jax.Array, high: jax.Array, damping: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the damped step over the free numbers, and the gain that it promises; 0 where there is no slope."""
    theta, gradient = best.theta, best.gradient
    held = ((theta <= low + 1e-9) & (gradient > 0)) | ((theta >= high - 1e-9) & (gradient < 0))
    sound = jnp.all(jnp.isfinite(gradient))
    free = ~held & sound
    slope = jnp.where(free, gradient, 0.0)
    block = jnp.where(free[:, None] & free[None, :], best.fisher, 0.0)
    diagonal = jnp.where(free, damping * jnp.diagonal(block) + 1e-9, 1.0)
    step = -jnp.linalg.solve(block + jnp.diag(diagonal), slope)
    step = step * jnp.minimum(1.0, LONGEST_STEP / jnp.maximum(jnp.max(jnp.abs(step)), 1e-300))
    return step, -slope @ step
