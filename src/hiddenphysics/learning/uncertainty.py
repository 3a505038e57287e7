"""Uncertainty of all unknowns from the curvature of the likelihood at its optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WEAKEST = 1e-6
"""Scaled curvatures below this carry no information: the unknown directions behind them are reported, not inverted."""

FAINTEST = 0.1
"""The least scaled curvature that an optimiser should believe: it makes a first step of three natural steps."""


@dataclass(frozen=True)
class Laplace:
    """The Gaussian approximation exp(−½ δᵀHδ) of the likelihood around its optimum, in the unconstrained vector.

    Attributes
    ----------
    covariance
        H⁻¹ over the unknowns that are free; rows and columns of unknowns held at a bound are 0.
    curvatures
        Eigenvalues of the Hessian in the optimiser's scaled coordinates, smallest first.
    weakest
        The unit direction of the smallest of them, in scaled coordinates.
    newton
        H⁻¹g, the step that would end at the optimum if the likelihood were exactly Gaussian.
    decrement
        ½ gᵀH⁻¹g, what that step would gain: how far from an optimum this is, in units of log likelihood.
    """

    covariance: np.ndarray
    curvatures: np.ndarray
    weakest: np.ndarray
    newton: np.ndarray
    decrement: float

    @property
    def is_minimum(self) -> bool:
        """Whether the likelihood falls off in every direction."""
        return bool(np.all(self.curvatures > WEAKEST))


def laplace(hessian: np.ndarray, scale: np.ndarray, free: np.ndarray, gradient: np.ndarray) -> Laplace:
    """Invert the exact Hessian (P, P) over the free unknowns; directions without curvature get infinite variance."""
    size = hessian.shape[0]
    scaled = (hessian * scale[:, None] * scale[None, :])[np.ix_(free, free)]
    curvatures, directions = np.linalg.eigh(scaled)
    with np.errstate(divide="ignore"):
        spread = np.where(curvatures > WEAKEST, 1.0 / np.maximum(curvatures, WEAKEST), np.inf)
    covariance, weakest, newton = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    covariance[np.ix_(free, free)] = _weighted_outer(directions, spread) * np.outer(scale[free], scale[free])
    weakest[free] = directions[:, :1].sum(axis=1)
    slope = directions.T @ (gradient * scale)[free]
    along = np.where(np.isfinite(spread), spread, 0.0) * slope
    newton[free] = scale[free] * (directions @ along)
    return Laplace(covariance, curvatures, weakest, newton, float(0.5 * slope @ along))


def positive_inverse(hessian: np.ndarray, scale: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return a positive definite matrix (P, P) near H⁻¹, for an optimiser to walk by.

    Curvatures count by their size, and as `FAINTEST` where they are smaller; an unknown that is held keeps its natural
    step.
    """
    inner = np.ix_(free, free)
    sizes, directions = np.linalg.eigh((hessian * np.outer(scale, scale))[inner])
    inverse = np.eye(scale.size)
    inverse[inner] = (directions / np.maximum(np.abs(sizes), FAINTEST)) @ directions.T
    return inverse * np.outer(scale, scale)


def _weighted_outer(directions: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Σ_k spread_k d_k d_kᵀ where an infinite spread makes infinite what its direction touches, not NaN."""
    finite = np.isfinite(spread)
    total = (directions[:, finite] * spread[finite]) @ directions[:, finite].T
    for lost in directions[:, ~finite].T:
        touched = np.abs(lost) > 1e-6
        total[np.ix_(touched, touched)] = np.inf
    return total
