"""The likelihood of a small Burgers problem written out by hand: SymPy differentiates the kernel, SciPy the rest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import sympy
from scipy.stats import multivariate_normal

Terms = Sequence[tuple[int, np.ndarray]]
"""[(m, c)]: Σ c(x_i) ∂_x^m z at the points of a block."""


@cache
def _kernel_derivative(m: int, n: int):
    """∂_x^m ∂_x'^n γ² exp(−(x − x')²/2ℓ²) as a NumPy function of (x, x', γ², ℓ)."""
    x, other, variance, length = sympy.symbols("x other variance length", real=True)
    kernel = variance * sympy.exp(-((x - other) ** 2) / (2 * length**2))
    derivative = sympy.diff(kernel, x, m) if m else kernel
    derivative = sympy.diff(derivative, other, n) if n else derivative
    return sympy.lambdify((x, other, variance, length), derivative, "numpy")


def block(
    left: Terms, x: np.ndarray, right: Terms, other: np.ndarray, variance: float, length: float
) -> np.ndarray:
    """The covariance of Σ c ∂^m z at x with Σ c' ∂^n z at x'."""
    total = np.zeros((x.size, other.size))
    for m, c in left:
        for n, d in right:
            k = _kernel_derivative(m, n)(x[:, None], other[None, :], variance, length)
            total += c[:, None] * d[None, :] * k
    return total


def euler_terms(lag: float, a: float, b: float, frozen: np.ndarray) -> Terms:
    """z + Δt (a u⁰ z_x − b z_xx): Burgers' equation one step earlier."""
    one = np.ones_like(frozen)
    return [(0, one), (1, lag * a * frozen), (2, -lag * b * one)]


def burgers_covariance(
    values: dict[str, float], x1: np.ndarray, x0: np.ndarray, u0: np.ndarray, lag: float
) -> np.ndarray:
    """K of (u¹ at x1, u⁰ at x0), with noise on the diagonal."""
    hyper = values["u.variance"], values["u.length_x"]
    after: Terms = [(0, np.ones_like(x1))]
    before = euler_terms(lag, values["a"], values["b"], u0)
    cross = block(after, x1, before, x0, *hyper)
    corner = block(before, x0, before, x0, *hyper)
    K = np.block([[block(after, x1, after, x1, *hyper), cross], [cross.T, corner]])
    return K + values["noise.variance"] * np.eye(len(K))


def negative_log_likelihood(K: np.ndarray, residual: np.ndarray) -> float:
    return -float(multivariate_normal.logpdf(residual, np.zeros(len(residual)), K))
