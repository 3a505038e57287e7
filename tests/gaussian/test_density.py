"""The Gaussian log density, its derivatives, the factorisation and conditioning, against SciPy and autodiff."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from jax.scipy.linalg import solve_triangular
from scipy import linalg
from scipy.stats import multivariate_normal

from hiddenphysics.gaussian import (
    condition,
    curvature,
    density_slopes,
    negative_log_density,
    stable_cholesky,
    whiten,
)

N = 6

# Compiled once for all tests: every matrix here is (N, N).
factored = jax.jit(stable_cholesky)
density = jax.jit(negative_log_density)
density_and_slopes = jax.jit(jax.value_and_grad(negative_log_density, argnums=(0, 1)))


def positive(seed: int, size: int = N) -> np.ndarray:
    root = np.random.default_rng(seed).standard_normal((size, size))
    return root @ root.T + 0.3 * np.eye(size)


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def with_eigenvalues(values: np.ndarray, seed: int = 0) -> np.ndarray:
    directions, _ = np.linalg.qr(normal(seed, len(values), len(values)))
    matrix = (directions * values) @ directions.T
    return 0.5 * (matrix + matrix.T)


# ---- density --------------------


@pytest.mark.parametrize("seed", range(5))
def test_density_equals_scipy(seed: int) -> None:
    K, y = positive(seed), normal(seed + 100, N)
    expected = -multivariate_normal.logpdf(y, np.zeros(N), K)
    np.testing.assert_allclose(density(K, y), expected, rtol=1e-13)
    value, _ = density_and_slopes(K, y)
    np.testing.assert_allclose(value, expected, rtol=1e-13)


def through_cholesky(K: Array, y: Array) -> Array:
    """The same density, differentiated by JAX's own rule for the factorisation."""
    factor = jnp.linalg.cholesky(K)
    half = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
    return 0.5 * half @ half + jnp.log(jnp.diagonal(factor)).sum() + 0.5 * N * jnp.log(2 * jnp.pi)


def test_gradient_equals_differentiation_through_cholesky() -> None:
    K, y = jnp.asarray(positive(1)), jnp.asarray(normal(2, N))
    _, ours = density_and_slopes(K, y)
    theirs = jax.jit(jax.grad(through_cholesky, argnums=(0, 1)))(K, y)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_gradient_equals_finite_differences_of_scipy() -> None:
    K, y, step = positive(3), normal(4, N), 1e-5
    slope = np.asarray(density_and_slopes(K, y)[1][0])
    for i, j in [(0, 0), (2, 1), (5, 3)]:
        change = np.zeros((N, N))
        change[i, j] = change[j, i] = step
        up, down = (-multivariate_normal.logpdf(y, cov=K + s * change) for s in (1, -1))
        expected = slope[i, j] + slope[j, i] if i != j else slope[i, j]
        np.testing.assert_allclose((up - down) / (2 * step), expected, rtol=1e-6)


def family(of):
    """A density along four parameters that enter K and y in a nonlinear way."""
    A, B, y0, y1 = positive(5), positive(6), normal(7, N), normal(8, N)

    def at(theta: Array) -> Array:
        K = jnp.exp(theta[0]) * A + theta[1] ** 2 * B + jnp.exp(theta[2]) * jnp.eye(N)
        return of(K, y0 + jnp.sin(theta[3]) * y1)

    return at


THETA = jnp.array([0.2, 0.7, -1.0, 0.4])


@pytest.fixture(scope="module")
def theirs() -> Array:
    """The Hessian by JAX's own rules, through the factorisation."""
    return jax.jit(jax.hessian(family(through_cholesky)))(THETA)


def test_hessian_equals_differentiation_through_cholesky(theirs: Array) -> None:
    ours = jax.jit(jax.hessian(family(negative_log_density)))(THETA)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(ours, ours.T, rtol=1e-12, atol=1e-12)


def closed_hessian(assembled, theta: Array) -> Array:
    """The Hessian as the likelihood builds it: `curvature`, and the second derivatives of K and y."""
    K, y = assembled(theta)
    factor, _ = stable_cholesky(K)
    weights, alpha = density_slopes(factor, solve_triangular(factor, y, lower=True))
    slopes, moves = (jnp.moveaxis(j, -1, 0) for j in jax.jacfwd(assembled)(theta))

    def linear(t: Array) -> Array:
        K_t, y_t = assembled(t)
        return jnp.vdot(weights, K_t) + alpha @ y_t

    whitened = jnp.stack([whiten(factor, slope) for slope in slopes])
    half, moved = (solve_triangular(factor, v, lower=True) for v in (y, moves.T))
    return curvature(whitened, whitened @ half, moved.T) + jax.hessian(linear)(theta)


def test_closed_hessian_equals_differentiation_through_cholesky(theirs: Array) -> None:
    assembled = family(lambda K, y: (K, y))
    ours = jax.jit(lambda t: closed_hessian(assembled, t))(THETA)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-11)


def test_closed_hessian_keeps_its_digits_where_the_covariance_is_nearly_singular() -> None:
    """K = e^s A + e^n I is diagonal with A: ∂²(−log p) = Σ ∂² (½ w²/d + ½ log d), d = e^s a + e^n, w = Qᵀy."""
    a = 10.0 ** np.array([0.0, -2.0, -4.0, -6.0, -9.0, -12.0])
    A, theta = with_eigenvalues(a, seed=3), np.array([0.1, np.log(1e-11)])
    sizes, directions = np.linalg.eigh(A)
    y = directions @ (np.sqrt(np.exp(0.1) * np.maximum(sizes, 0.0) + 1e-11) * normal(4, N))
    found = np.asarray(
        jax.jit(
            lambda t: closed_hessian(
                lambda u: (jnp.exp(u[0]) * A + jnp.exp(u[1]) * jnp.eye(N), jnp.asarray(y)), t
            )
        )(theta)
    )
    parts = np.stack([np.exp(theta[0]) * sizes, np.full(N, np.exp(theta[1]))])
    d, w2 = parts.sum(axis=0), (directions.T @ y) ** 2
    slope, bend = 0.5 / d - 0.5 * w2 / d**2, w2 / d**3 - 0.5 / d**2
    expected = np.diag(parts @ slope) + (parts * bend) @ parts.T
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_density_maps_over_a_batch() -> None:
    K = jnp.stack([jnp.asarray(positive(seed)) for seed in range(3)])
    y = jnp.asarray(normal(9, 3, N))
    batched = jax.jit(jax.vmap(negative_log_density))(K, y)
    np.testing.assert_allclose(batched, [density(*pair) for pair in zip(K, y, strict=True)])


# ---- factorisation --------------------


def test_a_good_matrix_needs_no_jitter() -> None:
    K = positive(10)
    factor, jitter = factored(jnp.asarray(K))
    assert jitter == 0.0
    np.testing.assert_allclose(factor, linalg.cholesky(K, lower=True), rtol=1e-12)


def test_a_singular_matrix_says_how_much_was_added() -> None:
    y = np.arange(1.0, N + 1)
    K = 1e4 * np.outer(y, y)  # rank one
    factor, jitter = factored(jnp.asarray(K))
    scale = np.mean(np.diagonal(K))
    assert 0 < jitter <= 1e-12 * scale
    np.testing.assert_allclose(factor @ factor.T, K + jitter * np.eye(N), rtol=1e-13)


def test_jitter_follows_the_units_of_the_matrix() -> None:
    y = jnp.arange(1.0, N + 1)
    jitters = [factored(s * jnp.outer(y, y))[1] for s in (1.0, 2.0**40)]
    np.testing.assert_allclose(jitters[1], 2.0**40 * jitters[0], rtol=1e-14)


def test_jitter_stays_below_its_documented_limit() -> None:
    """An eigenvalue of −3e-8 of the mean can be lifted by the largest jitter, 1e-7; one of −3e-7 can not."""
    lifted = with_eigenvalues(np.array([1.0] * 5 + [-3e-8]))
    factor, jitter = factored(jnp.asarray(lifted))
    assert np.all(np.isfinite(factor))
    np.testing.assert_allclose(jitter, 1e-7 * np.mean(np.diagonal(lifted)), rtol=1e-9)
    beyond = with_eigenvalues(np.array([1.0] * 5 + [-3e-7]))
    assert np.all(np.isnan(np.diagonal(factored(jnp.asarray(beyond))[0])))


@pytest.mark.parametrize(
    "K",
    [with_eigenvalues(np.array([3.0, 2.0, 1.0, 1.0, 1.0, -0.5])), np.full((N, N), np.nan), -np.eye(N)],
    ids=["indefinite", "not a number", "negative"],
)
def test_no_factor_is_not_a_number_and_so_is_the_density(K: np.ndarray) -> None:
    factor, _ = factored(jnp.asarray(K))
    assert np.any(np.isnan(np.diagonal(factor)))
    assert np.isnan(density(jnp.asarray(K), jnp.ones(N)))


# ---- conditioning --------------------


@pytest.fixture(scope="module")
def joint() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """K, cross, prior of a joint Gaussian of N observed and three wanted quantities, and data."""
    whole = positive(11, N + 3)
    return whole[:N, :N], whole[N:, :N], whole[N:, N:], normal(12, N)


def test_conditioning_equals_the_formula(joint: tuple) -> None:
    K, cross, prior, y = joint
    mean, spread = condition(K, y, cross, prior, False)
    np.testing.assert_allclose(mean, cross @ np.linalg.solve(K, y), rtol=1e-11)
    np.testing.assert_allclose(spread, prior - cross @ np.linalg.solve(K, cross.T), rtol=1e-11)
    _, variances = condition(K, y, cross, np.diagonal(prior), True)
    np.testing.assert_allclose(variances, np.diagonal(spread), rtol=1e-11)


def test_conditioning_is_the_ratio_of_densities(joint: tuple) -> None:
    """p(wanted | y) = p(y, wanted)/p(y), with SciPy's densities on both sides."""
    K, cross, prior, y = joint
    mean, spread = condition(K, y, cross, prior, False)
    wanted = normal(13, 3)
    whole = np.block([[K, cross.T], [cross, prior]])
    expected = multivariate_normal.logpdf(np.concatenate([y, wanted]), cov=whole)
    expected -= multivariate_normal.logpdf(y, cov=K)
    found = multivariate_normal.logpdf(wanted, np.asarray(mean), np.asarray(spread))
    np.testing.assert_allclose(found, expected, rtol=1e-11)
