"""What is believed of the state and the parameters after the fit: a Gaussian, kept in the form that made it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

LEAST_KNOWN, NOTHING = 1e-11, 1e-22
"""Eigenvalues of an information matrix with unit diagonal below the first are rounding, and count as the second."""


def covariance_of(information: np.ndarray) -> np.ndarray:
    """Invert an information matrix (P, P); directions that carry none get a huge variance, never none."""
    if not np.all(np.isfinite(information)):
        return np.full_like(information, np.nan)
    scale = np.sqrt(np.maximum(np.diagonal(information), 1e-200))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    return np.asarray(
        (vectors / np.where(values > LEAST_KNOWN, values, NOTHING)) @ vectors.T / np.outer(scale, scale)
    )


@dataclass(frozen=True)
class Belief:
    """z | λ ~ N(z̄ − slope (λ − λ̄), S − S Aᵀ K⁻¹ A S) and λ ~ N(λ̄, C), for each window.

    Attributes
    ----------
    A, B
        (W, q, K), (W, q, P): derivatives of the data in state and parameters, rotated.
    rest
        (P, P) Gram matrix of the derivatives in the parameters that no state can imitate.
    spectrum, noise, known
        S (K,), the noise variance of the weighted data, and (W, q) what single rows have besides.
    covariance
        C, (P, P).
    precision
        (P,) of the prior that columns of B carry, 0 for flat ones; None where all are flat.
    """

    A: np.ndarray
    B: np.ndarray
    rest: np.ndarray
    spectrum: np.ndarray
    noise: float
    known: np.ndarray
    covariance: np.ndarray
    precision: np.ndarray | None = None

    @cached_property
    def _factors(self) -> list[np.ndarray]:
        return [self._factor(window, self.noise) for window in range(len(self.A))]

    def _factor(self, window: int, noise: float | np.ndarray) -> np.ndarray:
        A = self.A[window]
        return cholesky((A * self.spectrum) @ A.T + np.diag(noise + self.known[window]), lower=True)

    def bound(self, noise: float | np.ndarray) -> np.ndarray:
        """Cramér–Rao bound of the parameters' covariance, (P, P), were the noise variance of the weighted data this.

        One number, or one for each row (q,) where the rows were not rotated.
        """
        information = self.rest / np.mean(noise)
        if self.precision is not None:
            information = information + np.diag(self.precision)
        for window, B in enumerate(self.B):
            white = solve_triangular(self._factor(window, noise), B, lower=True)
            information = information + white.T @ white
        return covariance_of(information)

    def slope(self, window: int) -> np.ndarray:
        """How the state's mean falls with the parameters, (K, P)."""
        weights = cho_solve((self._factors[window], True), self.B[window])
        return np.asarray(self.spectrum[:, None] * (self.A[window].T @ weights))

    def variance(self, window: int, in_z: np.ndarray, in_p: np.ndarray) -> np.ndarray:
        """Variances (N,) of quantities with derivatives in_z (N, K) in the state and in_p (N, P) in the parameters."""
        prior = in_z**2 @ self.spectrum
        known = solve_triangular(
            self._factors[window], self.A[window] @ (self.spectrum[:, None] * in_z.T), lower=True
        )
        total = in_p - in_z @ self.slope(window)
        shared = np.einsum("np,pq,nq->n", total, self.covariance, total)
        return np.maximum(prior - np.sum(known**2, axis=0), 0.0) + shared

    def draws(
        self, window: int, z: np.ndarray, parameters: np.ndarray, count: int, generator: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw states (count, K) around z and parameters (count, P), jointly.

        A draw from the prior is corrected by what the data say about it: Matheron's rule.
        """
        A = self.A[window]
        prior = np.sqrt(self.spectrum) * generator.standard_normal((count, len(self.spectrum)))
        noise = np.sqrt(self.noise + self.known[window]) * generator.standard_normal((count, len(A)))
        surprise = cho_solve((self._factors[window], True), (prior @ A.T + noise).T)
        around = prior - (self.spectrum[:, None] * (A.T @ surprise)).T
        values, vectors = np.linalg.eigh(self.covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        moved = generator.standard_normal((count, len(parameters))) @ root.T
        return z + around - moved @ self.slope(window).T, parameters + moved
