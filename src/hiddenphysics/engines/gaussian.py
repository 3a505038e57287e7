"""The Gaussian log density with its derivatives in closed form, and a factorisation that says what it had to add."""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Float

FIRST_JITTER, LARGEST_JITTER = 1e-15, 1e-7


def stable_cholesky(K: Float[Array, "N N"]) -> tuple[Float[Array, "N N"], Float[Array, ""]]:
    """Factor K + jitter·I = L Lᵀ with the smallest jitter of a growing sequence that works.

    The sequence is 0, then 1e-15, 1e-14, … 1e-7 times the mean of K's diagonal.

    Returns
    -------
    factor
        L, lower triangular; NaN when even the largest jitter did not help, or K is not finite.
    jitter
        What was added to the diagonal, in the units of K: 0 in the normal case.
    """
    scale = jnp.mean(jnp.diagonal(K))

    def failed(state: tuple[Array, Array]) -> Array:
        factor, relative = state
        return ~jnp.all(jnp.isfinite(jnp.diagonal(factor))) & (relative < LARGEST_JITTER)

    def add_more(state: tuple[Array, Array]) -> tuple[Array, Array]:
        relative = jnp.maximum(10.0 * state[1], FIRST_JITTER)
        return jnp.linalg.cholesky(
            K + relative * scale * jnp.eye(K.shape[0]), symmetrize_input=False
        ), relative

    first = (jnp.linalg.cholesky(K, symmetrize_input=False), jnp.zeros(()))
    factor, relative = jax.lax.while_loop(failed, add_more, first)
    return factor, relative * scale


@jax.custom_vjp
def negative_log_density(K: Float[Array, "N N"], y: Float[Array, " N"]) -> Float[Array, ""]:
    """Return −log N(y; 0, K) = ½ yᵀK⁻¹y + ½ log|K| + ½ N log 2π.

    Its reverse rule is closed: with α = K⁻¹y the derivative in K is ½(K⁻¹ − ααᵀ) and in y it is α, so one
    inverse replaces differentiation through the factorisation, and that derivative has closed derivatives
    again (`_solved`).
    """
    factor, _ = stable_cholesky(K)
    half = solve_triangular(factor, y, lower=True)
    return _value(half @ half, jnp.log(jnp.diagonal(factor)).sum(), y.shape[0])


def _value(quadratic: Array, half_log_determinant: Array, n: int) -> Array:
    return 0.5 * quadratic + half_log_determinant + 0.5 * n * math.log(2.0 * math.pi)


@jax.custom_jvp
def _solved(K: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return (K⁻¹, K⁻¹y, ½ log|K|)."""
    factor, _ = stable_cholesky(K)
    half = solve_triangular(factor, jnp.eye(K.shape[0]), lower=True)
    return half.T @ half, cho_solve((factor, True), y), jnp.log(jnp.diagonal(factor)).sum()


@_solved.defjvp
def _solved_jvp(
    primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    """Return dK⁻¹ = −K⁻¹ dK K⁻¹, dα = K⁻¹(dy − dK α), d½log|K| = ½ tr K⁻¹dK."""
    (K, y), (dK, dy) = primals, tangents
    inverse, alpha, half_log = _solved(K, y)
    return (inverse, alpha, half_log), (
        -inverse @ dK @ inverse,
        inverse @ (dy - dK @ alpha),
        0.5 * jnp.vdot(inverse, dK),
    )


def _density_forward(K: Array, y: Array) -> tuple[Array, tuple[Array, Array]]:
    inverse, alpha, half_log = _solved(K, y)
    return _value(y @ alpha, half_log, y.shape[0]), (inverse, alpha)


def _density_reverse(saved: tuple[Array, Array], g: Array) -> tuple[Array, Array]:
    inverse, alpha = saved
    return 0.5 * g * (inverse - jnp.outer(alpha, alpha)), g * alpha


negative_log_density.defvjp(_density_forward, _density_reverse)


@partial(jax.jit, static_argnames="diagonal")
def condition(
    K: Float[Array, "N N"],
    y: Float[Array, " N"],
    cross: Float[Array, "M N"],
    prior: Array,
    diagonal: bool,
) -> tuple[Float[Array, " M"], Array]:
    """Return mean and (co)variance of quantities with prior (co)variance `prior` and cross covariance `cross` given y.

    mean = C K⁻¹ y, covariance = P − C K⁻¹ Cᵀ; with ``diagonal`` both `prior` and the answer are vectors of
    variances.
    """
    factor, _ = stable_cholesky(K)
    half = solve_triangular(factor, cross.T, lower=True)
    mean = half.T @ solve_triangular(factor, y, lower=True)
    return mean, prior - (jnp.sum(half * half, axis=0) if diagonal else half.T @ half)
