"""The φ functions of exponential integrators, for numbers and for small matrices alike."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import NamedTuple

import jax
import jax.numpy as jnp

TAYLOR_TERMS = 14
"""Enough for |z| ≤ 1/2: the first term left out, z¹⁴/17!, is below 2e-19."""

MAX_DOUBLINGS = 64
"""Symbols up to 2⁶⁴ in size: a fourth derivative with a wavenumber of 60 000 and a step of one."""


class Phis(NamedTuple):
    """φ₀ = e^z, φ_j(z) = Σ_n z^n / (n + j)!, for one step; same shape as z."""

    zero: jax.Array
    one: jax.Array
    two: jax.Array
    three: jax.Array


Product = Callable[[jax.Array, jax.Array], jax.Array]


def elementwise(a: jax.Array, b: jax.Array) -> jax.Array:
    """Multiply numbers: z of shape (F, *modes)."""
    return a * b


def matrices(a: jax.Array, b: jax.Array) -> jax.Array:
    """Multiply matrices: z of shape (F, F, *modes)."""
    return jnp.sum(a[:, :, None] * b[None], axis=1)


def half_and_full(z: jax.Array, product: Product) -> tuple[Phis, Phis]:
    """Return φ(z/2) and φ(z), accurate for every z: tiny, stiff, oscillating, singular.

    φ(z / 2^s) with |z| / 2^s ≤ 1/2 comes from the Taylor series, without the cancellation of
    (e^z − 1 − z − …)/z^j, and goes to z/2 by s − 1 doublings, which lose no digits for decaying modes; s
    differs from mode to mode. Differentiable in z. Scaling and doubling of φ functions: Hochbruck &
    Ostermann (2010), Acta Numerica 19, 209, section 4.
    """
    one = _identity(z, product)
    size = jax.lax.stop_gradient(_norm(z, product))
    doublings = jnp.clip(jnp.ceil(jnp.log2(jnp.maximum(size, 0.5))) + 1, 1, MAX_DOUBLINGS)
    start = _taylor(z * jnp.exp2(-doublings), one, product)

    def body(phis: Phis, index: jax.Array) -> tuple[Phis, None]:
        active = index < doublings - 1
        doubled = _double(phis, product)
        return jax.tree.map(lambda new, old: jnp.where(active, new, old), doubled, phis), None

    half, _ = jax.lax.scan(body, start, jnp.arange(MAX_DOUBLINGS))
    return half, _double(half, product)


def _identity(z: jax.Array, product: Product) -> jax.Array:
    if product is elementwise:
        return jnp.ones_like(z)
    eye = jnp.eye(z.shape[0], dtype=z.dtype)
    return jnp.broadcast_to(eye.reshape(eye.shape + (1,) * (z.ndim - 2)), z.shape)


def _norm(z: jax.Array, product: Product) -> jax.Array:
    """|z|, or of a matrix its largest row sum, shaped to broadcast over z."""
    return jnp.abs(z) if product is elementwise else jnp.max(jnp.sum(jnp.abs(z), axis=1), axis=0)


def _taylor(z: jax.Array, one: jax.Array, product: Product) -> Phis:
    """Horner's scheme for φ₃, then φ_j = 1/j! + z φ_{j+1}: additions of decreasing terms only."""

    def horner(three: jax.Array, coefficient: jax.Array) -> tuple[jax.Array, None]:
        return coefficient * one + product(z, three), None

    coefficients = jnp.array([1 / factorial(n + 3) for n in reversed(range(TAYLOR_TERMS))])
    three, _ = jax.lax.scan(horner, jnp.zeros_like(z), coefficients)
    two = one / 2 + product(z, three)
    phi_one = one + product(z, two)
    return Phis(one + product(z, phi_one), phi_one, two, three)


def _double(phis: Phis, product: Product) -> Phis:
    """φ(2z) from φ(z): φ_j(2z) = 2^{−j} (φ₀ φ_j + Σ_{i=1}^{j} φ_i / (j − i)!)."""
    zero, one, two, three = phis
    return Phis(
        product(zero, zero),
        (product(zero, one) + one) / 2,
        (product(zero, two) + one + two) / 4,
        (product(zero, three) + one / 2 + two + three) / 8,
    )
