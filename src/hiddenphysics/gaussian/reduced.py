"""Rows of the linear model y = A z + B d + ε, rotated or folded until nothing is larger than it must be."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from hiddenphysics.compiled_code import compiled
from hiddenphysics.together import together

UNSEEN = 1e-13
"""Least square of a pivot, relative to its column: rounding of a Gram matrix."""


class Reduced(NamedTuple):
    """y = A z + B d + ε for W independent windows, rotated so that nothing is larger than it must be.

    With A = Q R, Qᵀy carries all that A can explain; of the rest only the Gram matrix of (B, y) is needed.

    Attributes
    ----------
    A, B, y
        (W, q, K), (W, q, P), (W, q) with q = min(N, K).
    rest
        (P + 1, P + 1) Gram matrix of the rows of (B, y) that A cannot reach, summed over windows.
    spare
        Number of valid rows less W·q; negative where rows are padding.
    known
        (W, q) variances of the rows that were measured with known errors, besides the noise's.
    """

    A: Float[Array, "W q K"]
    B: Float[Array, "W q P"]
    y: Float[Array, "W q"]
    rest: Float[Array, "P1 P1"]
    spare: Float[Array, ""]
    known: Float[Array, "W q"]


@together
@compiled(light=True)
def reduce(
    A: Float[Array, "W N K"],
    B: Float[Array, "W N P"],
    y: Float[Array, "W N"],
    valid: Float[Array, ""],
    known: Float[Array, "W N"] | None = None,
) -> Reduced:
    """Rotate; `valid` is the number of rows that are no padding (padding rows are zero).

    Rows with known variances of their own stay as they are: a rotation would mix them.
    """
    windows, rows, features = A.shape
    both = jnp.concatenate([B, y[..., None]], axis=-1)
    if rows <= features or known is not None:
        rest = jnp.zeros((both.shape[-1],) * 2)
        return Reduced(A, B, y, rest, valid - windows * rows, jnp.zeros_like(y) if known is None else known)
    Q, R = jnp.linalg.qr(A)
    rotated = jnp.swapaxes(Q, 1, 2) @ both
    left = both - Q @ rotated
    rest = jnp.einsum("wni,wnj->ij", left, left)
    spare = valid - windows * features
    return Reduced(R, rotated[..., :-1], rotated[..., -1], rest, spare, jnp.zeros((windows, features)))


@compiled(light=True)
def fold(triangle: Float[Array, "C C"], rows: Float[Array, "R C"]) -> Float[Array, "C C"]:
    """Take further rows of (A, B, y) into the triangle of those before: QR of both, of which only R is kept.

    Rows can come one stop after the other and be forgotten: memory does not grow with their number, and no square of
    the condition number is formed, as normal equations would (noise variances of 1e-12 do not survive that).
    """
    return jnp.linalg.qr(jnp.concatenate([triangle, rows]), mode="r")


def from_squares(squares: Float[Array, "C C"]) -> Float[Array, "C C"]:
    """Return the triangle whose square a Gram matrix of rows (A, B, y) is, the columns scaled to the same length.

    Columns that the rows do not see get a pivot of `UNSEEN`: far below what noise, where squares may be taken, hides.
    """
    scale = jnp.sqrt(jnp.diagonal(squares))
    scale = jnp.where(scale > 0, scale, 1.0)
    unit = squares / jnp.outer(scale, scale) + UNSEEN * jnp.eye(scale.size)
    return jnp.linalg.cholesky(unit, symmetrize_input=False).T * scale


def unfold(
    triangles: Float[Array, "W C C"], parameters: int, rest: Float[Array, ""], count: Float[Array, ""]
) -> Reduced:
    """Return the linear model of W windows whose rows (A, B, y) have been folded.

    `rest` is the sum of squares of y, and `count` the number of values, that the rows stand for.
    """
    features = triangles.shape[-1] - parameters - 1
    top, bottom = triangles[:, :features], triangles[:, features:, features:]
    gram = jnp.einsum("wij,wik->jk", bottom, bottom).at[-1, -1].add(rest)
    known = jnp.zeros(top.shape[:2])
    spare = count - known.size
    return Reduced(top[..., :features], top[..., features:-1], top[..., -1], gram, spare, known)
