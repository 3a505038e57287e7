"""Covariances of operators with very many terms: one loop over pairs of terms instead of one expression for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from hiddenphysics.engines.observed import Observed
from hiddenphysics.engines.prior import Prior
from hiddenphysics.operators import Symbol


def count_pairs(observed: Sequence[Observed]) -> int:
    """Return how many products of two terms a joint covariance adds up."""
    counts = [{latent: len(o.operator.only(latent).terms) for latent in o.operator.latents} for o in observed]
    return sum(
        n * counts[b].get(latent, 0)
        for a in range(len(counts))
        for b in range(a, len(counts))
        for latent, n in counts[a].items()
    )


def is_local(observed: Sequence[Observed]) -> bool:
    """Whether only ordinary derivatives are observed."""
    return not any(symbol.fractional for o in observed for _, symbol, _ in o.operator)


def stacked_covariance(observed: Sequence[Observed], priors: Mapping[str, Prior]) -> Float[Array, "N N"]:
    """Return the joint covariance Σ_f Σ_ab c_a(x_i) c_b(x_j) (−1)^{|n_b|} k_f^{(m_a + n_b)}(x_i − x_j).

    All observations are one vector with the union of their terms, coefficients 0 where one lacks a term, and a
    compiled loop runs over the pairs a ≤ b; the others follow by symmetry. A flow in three dimensions with a vector
    potential has thousands of pairs: written out, the compiler takes many minutes over them. The loop compiles in
    seconds, and runs several times slower.
    """
    points = jnp.concatenate([o.points for o in observed])
    distances = [points[:, None, d] - points[None, :, d] for d in range(points.shape[1])]
    half = jnp.zeros((points.shape[0], points.shape[0]))
    for latent in sorted({latent for o in observed for latent in o.operator.latents}):
        symbols, coefficients = _union(observed, latent)
        half = half + _half(symbols, coefficients, distances, priors[latent])
    return half + half.T


def _union(observed: Sequence[Observed], latent: str) -> tuple[list[Symbol], Float[Array, "S N"]]:
    """Return the symbols that any observation takes of a latent, and their coefficients at all points."""
    own = [{symbol: c for _, symbol, c in o.operator.only(latent)} for o in observed]
    symbols = sorted(set().union(*own))
    rows = [
        jnp.concatenate([
            jnp.broadcast_to(jnp.asarray(terms.get(symbol, 0.0), float), (o.points.shape[0],))
            for o, terms in zip(observed, own, strict=True)
        ])
        for symbol in symbols
    ]  # fmt: skip
    return symbols, jnp.stack(rows)


def _half(
    symbols: Sequence[Symbol], coefficients: Array, distances: Sequence[Array], prior: Prior
) -> Float[Array, "N N"]:
    """Sum the pairs a < b, and half of the pairs a = b."""
    first, second = (indices.tolist() for indices in np.triu_indices(len(symbols)))
    orders = np.array([(symbols[a] @ symbols[b]).orders for a, b in zip(first, second, strict=True)])
    signs = np.array([-1.0 if sum(symbols[b].orders) % 2 else 1.0 for b in second])
    factors = prior.variance * jnp.asarray(np.where(np.equal(first, second), 0.5, 1.0) * signs)
    tables = [
        jnp.stack(prior.kernel.derivatives(r, int(highest), shape))
        for r, highest, shape in zip(distances, orders.max(axis=0), prior.shapes, strict=True)
    ]

    @jax.checkpoint
    def add(total: Array, pair: tuple[Array, Array, Array, Array]) -> tuple[Array, None]:
        a, b, order, factor = pair
        kernel = reduce(jnp.multiply, [table[order[d]] for d, table in enumerate(tables)])
        return total + (factor * coefficients[a])[:, None] * coefficients[b][None, :] * kernel, None

    pairs = (jnp.asarray(first), jnp.asarray(second), jnp.asarray(orders), factors)
    return jax.lax.scan(add, jnp.zeros_like(distances[0]), pairs)[0]
