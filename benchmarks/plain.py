"""The likelihood and gradient as one would write them by hand in NumPy: the yardstick of `benchmarks.likelihood`.

Every block of the covariance and every parameter's derivative of every block is assembled, then one Cholesky factor
and one inverse: the shape of the authors' own code, for u_t + λ₁ u u_x + Σ λ_j ∂_x^{m_j} u = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve


@dataclass(frozen=True)
class PlainProblem:
    """Two snapshots and the signed derivative orders of the linear terms, such as ((−1, 2),) for Burgers' equation."""

    before: np.ndarray
    after: np.ndarray
    u_before: np.ndarray
    u_after: np.ndarray
    dt: float
    linear: tuple[tuple[float, int], ...]

    def value_and_gradient(
        self, lam: np.ndarray, variance: float, length: float, noise: float
    ) -> tuple[float, np.ndarray]:
        """Return −log p and its gradient in (λ, log γ², log ℓ, log σ²)."""
        K = self._covariance(lam, lam, variance, length)
        y = np.concatenate([self.u_after, self.u_before])
        factor = cho_factor(K + noise * np.eye(y.size), lower=True)
        alpha = cho_solve(factor, y)
        value = 0.5 * y @ alpha + np.log(np.diag(factor[0])).sum() + 0.5 * y.size * np.log(2 * np.pi)
        weights = 0.5 * (cho_solve(factor, np.eye(y.size)) - np.outer(alpha, alpha))
        slopes = [np.vdot(weights, dK) for dK in self._derivatives(lam, variance, length)]
        return value, np.array(
            [*slopes, np.vdot(weights, K), *self._last(weights, lam, variance, length, noise)]
        )

    def _last(
        self, weights: np.ndarray, lam: np.ndarray, variance: float, length: float, noise: float
    ) -> list[float]:
        along_length = np.vdot(weights, self._covariance(lam, lam, variance, length, slope_in_length=True))
        return [float(along_length), float(noise * np.trace(weights))]

    def _derivatives(self, lam: np.ndarray, variance: float, length: float) -> list[np.ndarray]:
        """Return dK/dλ_j: the operator is linear in λ, so one side's operator is replaced by its slope."""
        slopes = []
        for j in range(lam.size):
            unit = np.zeros_like(lam)
            unit[j] = 1.0
            half = self._covariance(unit, lam, variance, length, left_is_slope=True)
            slopes.append(half + half.T)
        return slopes

    def _covariance(
        self,
        left: np.ndarray,
        right: np.ndarray,
        variance: float,
        length: float,
        *,
        left_is_slope: bool = False,
        slope_in_length: bool = False,
    ) -> np.ndarray:
        rows = [(self.after, [(0, 0.0 if left_is_slope else 1.0)])]
        rows.append((self.before, self._operator(left, left_is_slope)))
        columns = [(self.after, [(0, 1.0)]), (self.before, self._operator(right, False))]
        return np.block(
            [[_block(xa, a, xb, b, variance, length, slope_in_length) for xb, b in columns] for xa, a in rows]
        )

    def _operator(self, lam: np.ndarray, is_slope: bool) -> list[tuple[int, np.ndarray | float]]:
        """Return (order, coefficient) pairs of 1 + Δt (λ₁ u ∂_x + Σ λ_j ∂_x^m), or of its slope in λ."""
        terms: list[tuple[int, np.ndarray | float]] = [] if is_slope else [(0, 1.0)]
        terms.append((1, self.dt * lam[0] * self.u_before))
        return terms + [
            (m, self.dt * sign * value) for value, (sign, m) in zip(lam[1:], self.linear, strict=True)
        ]


def _block(
    xa: np.ndarray,
    a: list[tuple[int, np.ndarray | float]],
    xb: np.ndarray,
    b: list[tuple[int, np.ndarray | float]],
    variance: float,
    length: float,
    slope_in_length: bool,
) -> np.ndarray:
    r = xa[:, None] - xb[None, :]
    highest = max(m for m, _ in a) + max(n for n, _ in b) + 2 * slope_in_length
    table = _hermite(r, highest, variance, length)
    total = np.zeros_like(r)
    for m, left in a:
        for n, right in b:
            weight = np.multiply.outer(
                np.broadcast_to(left, xa.shape), np.broadcast_to((-1.0) ** n * right, xb.shape)
            )
            total += weight * table[m + n]
            if slope_in_length:  # ℓ ∂k/∂ℓ = (r/ℓ)² k = k + ℓ² k''
                total += weight * length**2 * table[m + n + 2]
    return total


def _hermite(r: np.ndarray, order: int, variance: float, length: float) -> list[np.ndarray]:
    table = [variance * np.exp(-0.5 * (r / length) ** 2)]
    for n in range(order):
        previous = n * table[n - 1] if n else 0.0
        table.append(-(r * table[n] + previous) / length**2)
    return table
