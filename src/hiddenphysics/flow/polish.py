"""The last correction: log|K| depends on the parameters too, which generalised least squares leaves out."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from hiddenphysics.flow.linear import evidence, posterior
from hiddenphysics.flow.rounds import Point, Round, Search

STENCIL = 0.5
"""Distance of the two sides of a difference quotient, in standard deviations."""


@dataclass(frozen=True)
class Slopes:
    """First and second derivatives of ½ log|K(λ)| along each parameter, state following; (P,) each."""

    first: np.ndarray
    second: np.ndarray


def log_determinant_slopes(search: Search, last: Round) -> Slopes:
    """Differentiate ½ log|K| in λ with the state at its posterior mean for each λ.

    The marginal likelihood of λ, with the state integrated out in Laplace's approximation, is
    −½ rᵀK⁻¹r − ½ log|K|. Generalised least squares moves along the first part alone; its stationary point moves by
    −C ∇(½ log|K|) when the second is there, C the covariance of λ.
    """
    at, theta = last.point, last.tuned.theta
    spectrum = search.objective(last.data).spectrum(theta)
    noise = jnp.exp(theta[-1])
    _, slope = (np.asarray(v) for v in posterior(last.data, spectrum, noise))

    def half_log(parameters: np.ndarray) -> float:
        moved = Point(at.z - slope @ (parameters - at.parameters), parameters, theta)
        data = search.linear(moved)
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
    return Slopes(np.nan_to_num(first), np.nan_to_num(second))
