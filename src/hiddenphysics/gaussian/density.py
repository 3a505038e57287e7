"""The Gaussian log density with its derivatives in closed form, and a factorisation that says what it had to add."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.linalg import solve_triangular
from jaxtyping import Float

from hiddenphysics.compiled_code import compiled

FIRST_JITTER, LARGEST_JITTER = 1e-15, 1e-7

SMALL_SOLVE = 80
"""Size up to which a triangular matrix is inverted by one solve."""


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

    Its reverse rule is closed: with α = K⁻¹y the derivative in K is ½(K⁻¹ − ααᵀ) and in y it is α, so that one inverse
    replaces differentiation through the factorisation. Second derivatives: `curvature`.
    """
    return density_with_factor(K, y)[0]


def density_with_factor(
    K: Float[Array, "N N"], y: Float[Array, " N"]
) -> tuple[Float[Array, ""], tuple[Float[Array, "N N"], Float[Array, " N"]]]:
    """Return the negative log density, and L and L⁻¹y, from which `density_slopes` makes its derivatives."""
    factor, _ = stable_cholesky(K)
    half = solve_triangular(factor, y, lower=True)
    constant = 0.5 * y.shape[0] * math.log(2.0 * math.pi)
    return 0.5 * half @ half + jnp.log(jnp.diagonal(factor)).sum() + constant, (factor, half)


def _density_reverse(saved: tuple[Array, Array], g: Array) -> tuple[Array, Array]:
    weights, alpha = density_slopes(*saved)
    return g * weights, g * alpha


def density_slopes(
    factor: Float[Array, "N N"], half: Float[Array, " N"]
) -> tuple[Float[Array, "N N"], Float[Array, " N"]]:
    """Return the derivatives of the negative log density in K and in y: ½(K⁻¹ − ααᵀ) and α = K⁻¹y, from L and L⁻¹y."""
    alpha = solve_triangular(factor, half, lower=True, trans=1)
    root = inverse_transpose(factor)
    return 0.5 * (root @ root.T - jnp.outer(alpha, alpha)), alpha


def inverse_transpose(factor: Float[Array, "N N"]) -> Float[Array, "N N"]:
    """Return L⁻ᵀ of a lower triangular matrix by halving it until triangular solves are small.

    With L = [[A, 0], [B, C]] it is [[A⁻ᵀ, −A⁻ᵀBᵀC⁻ᵀ], [0, C⁻ᵀ]]. Most of the work is then in matrix products, which run
    several times as fast as a triangular solve: half the time for K⁻¹ at N = 600.
    """
    n = factor.shape[0]
    if n <= SMALL_SOLVE:
        return solve_triangular(factor, jnp.eye(n), lower=True, trans=1)
    m = n // 2
    upper, lower = inverse_transpose(factor[:m, :m]), inverse_transpose(factor[m:, m:])
    corner = -(upper @ factor[m:, :m].T) @ lower
    return jnp.block([[upper, corner], [jnp.zeros((n - m, m)), lower]])


negative_log_density.defvjp(density_with_factor, _density_reverse)


def whiten(factor: Float[Array, "N N"], slope: Float[Array, "N N"]) -> Float[Array, "N N"]:
    """Return W = L⁻¹ S L⁻ᵀ of a symmetric S by triangular solves."""
    left = solve_triangular(factor, slope, lower=True)
    return solve_triangular(factor, left.T, lower=True)


def curvature(
    whitened: Float[Array, "P N N"], applied: Float[Array, "P N"], moves: Float[Array, "P N"]
) -> Float[Array, "P P"]:
    """Return the part of the density's Hessian in P unknowns that comes from first derivatives of K and y.

    With W_i = L⁻¹ ∂_iK L⁻ᵀ (`whitened`), β = L⁻¹y, W_iβ (`applied`) and ρ_i = L⁻¹ ∂_iy (`moves`) it is
    βᵀW_iW_jβ − ½ tr W_iW_j − ρ_iᵀW_jβ − ρ_jᵀW_iβ + ρ_iᵀρ_j. The rest,
    ½⟨K⁻¹ − ααᵀ, ∂_i∂_jK⟩ + αᵀ∂_i∂_jy, is the Hessian of a linear function of K and y. Triangular solves, not the
    inverse: K⁻¹ ∂K K⁻¹ has no correct digit left where clean data make K nearly singular.
    """
    # A sum of products, not a matrix product: that would first copy all of the matrices into another layout.
    traces = jnp.sum(whitened[:, None] * whitened[None, :], axis=(2, 3))
    mixed = moves @ applied.T
    return applied @ applied.T - 0.5 * traces - mixed - mixed.T + moves @ moves.T


@compiled(once=True, static_argnames="diagonal")
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
