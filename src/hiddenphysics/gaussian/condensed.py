"""A linear model in fewer rows: those that the prior can move by more than the noise hides, and the rest as noise."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from hiddenphysics.compiled_code import compiled
from hiddenphysics.gaussian.reduced import Reduced
from hiddenphysics.together import together


class Condensed(NamedTuple):
    """A linear model with its rows turned so that A moves only the first r of every window.

    Attributes
    ----------
    data
        The model in r rows; of the others only the Gram matrix of (B, y) is kept.
    left
        (K,) squares of every column of A in the rows that were given up.
    """

    data: Reduced
    left: Float[Array, " K"]


@together
@compiled(static_argnames="rows")
def condensed(data: Reduced, spectrum: Float[Array, " K"], rows: int) -> Condensed:
    """Turn rows without known errors of their own so that A S^½ lies in the first of them, nearly.

    Its range is found by a random projection (Halko, Martinsson & Tropp, 2011, SIAM Review 53, 217): with S falling as
    fast as a smooth prior's does, what is left over is hardly more than the best rotation would leave. A rotation
    leaves the noise white, so the model is the same but for Σ left S, which whoever uses it compares with the noise.
    """
    draws = jax.random.normal(jax.random.key(0), (spectrum.size, rows))
    Q = jnp.linalg.qr((data.A * jnp.sqrt(spectrum)) @ draws)[0]
    turned = jnp.swapaxes(Q, 1, 2) @ jnp.concatenate([data.A, data.B, data.y[..., None]], axis=-1)
    features = data.A.shape[2]
    both = jnp.concatenate([data.B, data.y[..., None]], axis=-1)
    beside = both - Q @ turned[..., features:]
    rest = data.rest + jnp.einsum("wni,wnj->ij", beside, beside)
    spare = data.spare + data.y.size - turned.shape[0] * rows
    A, B, y = turned[..., :features], turned[..., features:-1], turned[..., -1]
    left = jnp.sum(data.A**2, axis=(0, 1)) - jnp.sum(A**2, axis=(0, 1))
    return Condensed(Reduced(A, B, y, rest, spare, jnp.zeros(y.shape)), jnp.maximum(left, 0.0))
