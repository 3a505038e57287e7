"""The density that a flow's parameters and prior are sampled from: the linear model at the optimum."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.compiled_code import compiled
from hiddenphysics.gaussian import RestrictedLikelihood, evidence
from hiddenphysics.learning import Posterior
from hiddenphysics.models.flow.one_round import Round


@compiled(static_argnames="count")
def _value_and_slope(
    linear: RestrictedLikelihood, half_log_slope: jax.Array, vector: jax.Array, count: int
) -> tuple[jax.Array, jax.Array]:
    """Log density of the data at (d, θ), and its gradient: the state is integrated out, log|K| bends with d."""

    def density(vector: jax.Array) -> jax.Array:
        d, theta = vector[:count], vector[count:]
        data = linear.data
        left = jnp.append(-d, 1.0)
        rest = (left @ data.rest @ left)[None, None]
        moved = data._replace(y=data.y - data.B @ d, B=data.B[..., :0], rest=rest)
        return -evidence(moved, linear.spectrum(theta), jnp.exp(theta[-1])) - half_log_slope @ d

    return jax.value_and_grad(density)(vector)


def sampling_density(last: Round, half_log_slope: np.ndarray, covariance: np.ndarray) -> Posterior:
    """Return the posterior of (λ, θ), flat in λ, in the linear model where the rounds have ended.

    Around that point λ is d away from its estimate. Given θ it is normal; that θ is not known makes it wider, and
    heavier in its tails.
    """
    origin, estimate = np.asarray(last.at.parameters), np.asarray(last.point.parameters)
    theta = np.asarray(last.tuned.theta)
    count, linear = estimate.size, last.linear

    def density(vector: np.ndarray) -> tuple[float, np.ndarray]:
        at = np.concatenate([vector[:count] - origin, vector[count:]])
        value, slope = _value_and_slope(linear, half_log_slope, at, count)
        return float(value), np.asarray(slope)

    return Posterior(density, np.concatenate([estimate, theta]), covariance)
