"""One round: a linear model around a point is solved; pure functions of arrays, and what came of it.

They can be compiled, mapped and differentiated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.compiled_code import compiled
from hiddenphysics.gaussian import (
    Belief,
    Reduced,
    RestrictedLikelihood,
    covariance_of,
    effective,
    posterior,
)
from hiddenphysics.learning import Tuned, tune
from hiddenphysics.together import together

PLANE_STEPS, PLANE_GAIN = 8, 1e-2
"""Evaluations in a round that tune the prior of a plane, and a gain of log evidence that is worth another: with
thousands of features each takes half a second, and the next round goes on."""

SETTLED, PLANE_SETTLED = 0.01, 0.03
"""Rounds end when the parameters move by less than this many standard deviations, in any combination; in a plane, where
each takes a second or more, a little earlier."""

GAINED = 0.1
"""A state for given parameters is found when the objective, a sum of squares in units of the noise, can only fall by
less: a twentieth of a unit of log evidence."""


class Point(NamedTuple):
    """Around which the flow is linearised: states (W, F·K), parameters (P,), the prior's vector (H,).

    The parameters are the equation's, and behind them the errors of the sensors.
    """

    z: Any
    parameters: Any
    theta: Any


class Solved(NamedTuple):
    """What a linear model says.

    Attributes
    ----------
    tuned
        The prior's vector, and the evaluation there.
    step
        (P,) the generalised least squares step, before damping.
    mean, slope
        (W, K) posterior mean of the state for the parameters as they are, (W, K, P) how it falls with them.
    merit_before, merit
        ‖y − φ‖² in units of the noise + zᵀS⁻¹z, and the same for columns with a prior, at the point itself, with the
        vector as it was and as tuned.
    promised
        By how much the posterior mean, for the parameters as they are, would lower it were the flow linear.
    """

    tuned: Tuned
    step: Any
    mean: Any
    slope: Any
    merit_before: Any
    merit: Any
    promised: Any


@together
@compiled(light=True)
def solve(linear: RestrictedLikelihood, at: Point, bounds: Any, scale: Any, half_log_slope: Any) -> Solved:
    """Tune the prior for a linear model, and solve for parameters and state.

    Directions that the data do not see stay where they are: a proximal term of the parameters' natural sizes.
    """
    in_a_plane = len(linear.prior.coordinates) > 1
    tuned = (
        tune(linear, at.theta, bounds, PLANE_STEPS, PLANE_GAIN, averaged=True)
        if in_a_plane
        else tune(linear, at.theta, bounds)
    )
    information = tuned.at.information
    towards = information @ tuned.at.estimate - half_log_slope
    certain = information + jnp.diag(1.0 / scale**2)
    seen = jnp.diagonal(certain) > 0
    step = jnp.linalg.solve(certain + jnp.diag(jnp.where(seen, 0.0, 1.0)), jnp.where(seen, towards, 0.0))
    spectrum, noise = linear.spectrum(tuned.theta), jnp.exp(tuned.theta[-1])
    mean, slope = posterior(linear.data, spectrum, noise)

    def merit(z: jax.Array, theta: jax.Array) -> jax.Array:
        held = linear.held(theta)
        beside = 0.0 if held is None else jnp.sum(held.precision * held.mean**2)
        return beside + _merit(linear.data, z, linear.spectrum(theta), jnp.exp(theta[-1]))

    here = merit(at.z, tuned.theta)
    return Solved(tuned, step, mean, slope, merit(at.z, at.theta), here, here - merit(mean, tuned.theta))


def _merit(data: Reduced, z: jax.Array, spectrum: jax.Array, noise: jax.Array) -> jax.Array:
    """‖y − φ‖² in units of the noise + zᵀS⁻¹z: the linear model knows both at the point where it was made."""
    left = data.y - jnp.einsum("wqk,wk->wq", data.A, z)
    explained = jnp.sum(left**2 / (noise + data.known)) + data.rest[-1, -1] / noise
    return explained + jnp.sum(z**2 / jnp.maximum(spectrum, 1e-300))


class Round(NamedTuple):
    """What one round found at the point where it linearised.

    Attributes
    ----------
    at, point
        Where the round linearised, and where it wants to go.
    linear, solved
        The linear model there, and what it says.
    part
        Which part of the step is taken.
    misfit
        Root mean square of the residuals at `at`, in units of the fields' sizes.
    held
        Whether the prior was held, and only the noise tuned.
    dt, rough
        Lengths of the steps in time, and of those of the derivatives.
    fine
        Whether they were fine enough.
    tail, growth
        What stands in the grid's shortest waves, and (W, T) how the state's derivatives grow; see `Sweep`.
    own
        How many of the parameters are the equation's.
    sums
        Rows that were folded, summed up over time; see `Sweep`.
    """

    at: Point
    point: Point
    linear: RestrictedLikelihood
    solved: Solved
    part: float
    misfit: float
    held: bool
    dt: float
    rough: float
    fine: bool
    tail: float
    growth: np.ndarray
    own: int
    sums: Any = None

    @property
    def tuned(self) -> Tuned:
        """The prior's vector, and the evaluation there."""
        return self.solved.tuned

    @property
    def step(self) -> np.ndarray:
        """(P,) before damping."""
        return np.asarray(self.solved.step)

    @property
    def information(self) -> np.ndarray:
        """(P, P)."""
        return np.asarray(self.tuned.at.information)

    def belief(self, covariance: np.ndarray) -> Belief:
        """Return what is believed of the state, given the covariance (P, P) of the parameters."""
        theta = self.tuned.theta
        data, spectrum = jax.tree.map(np.asarray, (self.linear.data, self.linear.spectrum(theta)))
        noise = float(effective(spectrum, np.exp(theta[-1]), data.A))
        held = self.linear.held(theta)
        precision = None if held is None else np.asarray(held.precision)
        return Belief(data.A, data.B, data.rest[:-1, :-1], spectrum, noise, data.known, covariance, precision)

    @property
    def deviations(self) -> np.ndarray:
        """Standard deviations of the parameters."""
        return np.sqrt(np.diagonal(covariance_of(self.information)))

    @property
    def settled(self) -> bool:
        """Whether the step was next to nothing, as the data see it: weak directions may hide a strong one.

        What counts are the equation's numbers; errors of sensors may still move by what does not move these.
        """
        step, information = self.step[: self.own], self.information
        if self.own < len(information):
            information = np.linalg.inv(covariance_of(information)[: self.own, : self.own])
        enough = PLANE_SETTLED if len(self.linear.prior.coordinates) > 1 else SETTLED
        return bool(self.fine and not self.held and step @ information @ step < enough**2)

    @property
    def found(self) -> bool:
        """Whether, for the parameters as they are, the state is next to its optimum."""
        return bool(self.fine and float(self.solved.promised) < GAINED)

    @property
    def lost(self) -> bool:
        """Whether the motion has left the numbers."""
        return not (np.isfinite(self.misfit) and np.all(np.isfinite(self.point.parameters)))
