"""Covariances of operators on latent processes, as dense matrices: what every faster form is tested against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from hiddenphysics.gaussian.fractional import Known, Pairing, fractional_covariance
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.priors import Process

# Above this many entries a block is built a strip of rows at a time and its derivative tables are made anew for the
# gradient, so that memory stays near that of the matrix itself. On a processor the tables of one strip also fit into
# its cache, which halves the time of a flow's gradient; a GPU wants longer strips.
STRIP_ENTRIES = {"cpu": 1 << 14, "gpu": 1 << 19}
# Above this many pairs of terms they are added in a loop: written out, compiling takes minutes.
MANY_PAIRS = 2000


@dataclass(frozen=True)
class Observed:
    """A quantity o = Σ c_j T_j z_f at N points: its operator, coefficients already numbers or (N,) arrays."""

    operator: Operator[Any]
    points: Float[Array, "N D"]

    def rows(self) -> tuple[Float[Array, "N D"], list[Float[Array, " N"]]]:
        """Points and coefficients as arrays whose first axis is the point, so that both can be cut into strips."""
        n = self.points.shape[0]
        return self.points, [jnp.broadcast_to(jnp.asarray(c, float), (n,)) for _, _, c in self.operator]


def covariance(left: Observed, right: Observed, priors: Mapping[str, Process]) -> Float[Array, "N M"]:
    """Return cov(o(x_i), o'(x'_j)) = Σ_f Σ_ab c_a(x_i) c'_b(x'_j) (−1)^{|n_b|} k_f^{(m_a + n_b)}(x_i − x'_j)."""
    n, m = left.points.shape[0], right.points.shape[0]
    entries = STRIP_ENTRIES.get(jax.default_backend(), STRIP_ENTRIES["gpu"])
    if n * m <= entries:
        return _block(left, right, priors)
    strip = max(1, entries // m)
    count = -(-n // strip)
    padded = jax.tree.map(lambda rows: _cut_into_strips(rows, count, strip), left.rows())

    @jax.checkpoint
    def one_strip(rows: tuple[Array, list[Array]]) -> Array:
        points, coefficients = rows
        symbols = ((latent, symbol) for latent, symbol, _ in left.operator)
        terms = ((*key, c) for key, c in zip(symbols, coefficients, strict=True))
        return _block(Observed(Operator(tuple(terms)), points), right, priors)

    return jax.lax.map(one_strip, padded).reshape(count * strip, m)[:n]


def joint_covariance(observed: Sequence[Observed], priors: Mapping[str, Process]) -> Float[Array, "N N"]:
    """Return the covariance of all observed quantities, stacked in order; the lower half mirrors the upper."""
    if count_pairs(observed) > MANY_PAIRS and is_local(observed):
        return stacked_covariance(observed, priors)
    size = len(observed)
    blocks = {
        (a, b): covariance(observed[a], observed[b], priors) for a in range(size) for b in range(a, size)
    }
    return jnp.block([[blocks[a, b] if a <= b else blocks[b, a].T for b in range(size)] for a in range(size)])


def variance(observed: Observed, priors: Mapping[str, Process]) -> Float[Array, " N"]:
    """Return the prior variance at every point, the diagonal of `covariance`, without building the matrix."""

    def at_one_point(point: Array, coefficients: list[Array]) -> Array:
        keys = ((latent, symbol) for latent, symbol, _ in observed.operator)
        terms = ((*key, c[None]) for key, c in zip(keys, coefficients, strict=True))
        here = Observed(Operator(tuple(terms)), point[None])
        return _block(here, here, priors)[0, 0]

    return jax.vmap(at_one_point)(*observed.rows())


def _cut_into_strips(rows: Array, count: int, strip: int) -> Array:
    """Pad the first axis by repeating its last row (harmless: cut off again) and fold it into (count, strip)."""
    padding = [(0, count * strip - rows.shape[0])] + [(0, 0)] * (rows.ndim - 1)
    return jnp.pad(rows, padding, mode="edge").reshape(count, strip, *rows.shape[1:])


def _block(left: Observed, right: Observed, priors: Mapping[str, Process]) -> Float[Array, "N M"]:
    total = jnp.zeros((left.points.shape[0], right.points.shape[0]))
    for latents in _alike(left.operator, right.operator):
        weights = _weights_by_pairing(left.operator, right.operator, latents[0])
        local = [pairing.orders for pairing in weights if pairing.is_local]
        parts = [_Part.of(left, right, priors[latent], local) for latent in latents]
        for pairing, weight in weights.items():
            total = total + weight * sum(part.derivative(pairing) for part in parts)
    return total


@dataclass(frozen=True)
class _Part:
    """One latent's kernel at all pairs of points, with its whole derivatives at hand."""

    prior: Process
    distances: list[Float[Array, "N M"]]
    tables: list[list[Float[Array, "N M"]]]
    known: Known

    @classmethod
    def of(cls, left: Observed, right: Observed, prior: Process, needed: Sequence[tuple[int, ...]]) -> _Part:
        distances = [left.points[:, None, d] - right.points[None, :, d] for d in range(len(prior.shapes))]
        return cls(prior, distances, _derivative_tables(distances, prior, needed), {})

    def derivative(self, pairing: Pairing) -> Float[Array, "N M"]:
        if not pairing.is_local:
            return fractional_covariance(self.distances, self.prior, pairing, self.known)
        return reduce(jnp.multiply, [t[p] for t, p in zip(self.tables, pairing.orders, strict=True)])


def _alike(left: Operator[Any], right: Operator[Any]) -> list[list[str]]:
    """Group the latents that both operators treat alike: scales of one field share their weights."""
    groups: defaultdict[Any, list[str]] = defaultdict(list)
    for latent in sorted(set(left.latents) & set(right.latents)):
        terms = (tuple((symbol, id(c)) for _, symbol, c in side.only(latent)) for side in (left, right))
        groups[tuple(terms)].append(latent)
    return list(groups.values())


def _weights_by_pairing(
    left: Operator[Any], right: Operator[Any], latent: str
) -> dict[Pairing, Float[Array, ...]]:
    """Gather the pairs of terms that need the same derivative of the kernel: {m + n: Σ (−1)^{|n|} c_m(x) c'_n(x')}.

    Each weight has shape (N, M), or one that broadcasts to it where the coefficients are constant.
    """
    pairs: defaultdict[Pairing, list[tuple[Array, Array]]] = defaultdict(list)
    for _, symbol, c in left.only(latent):
        for _, other_symbol, d in right.only(latent):
            sign = -1.0 if sum(other_symbol.orders) % 2 else 1.0
            column, row = jnp.asarray(c, float)[..., None], sign * jnp.asarray(d, float)[None, ...]
            pairs[Pairing.of(symbol, other_symbol)].append((column, row))
    return {pairing: _sum_of_products(each) for pairing, each in pairs.items()}


def _sum_of_products(pairs: Sequence[tuple[Array, Array]]) -> Float[Array, ...]:
    """Return Σ c(x_i) c'(x'_j), of several arrays as a product of matrices: its derivatives are such products again.

    Written out, the gradient of a flow with a hidden pressure took 33 s to compile, and 57 ms at 160 values; so it
    takes 11 s, and 36 ms (18 November 2026).
    """
    columns, rows = zip(*pairs, strict=True)
    if len(pairs) > 1 and max(c.ndim for c in columns) == max(d.ndim for d in rows) == 2:
        n, m = max(c.shape[0] for c in columns), max(d.shape[-1] for d in rows)
        left = jnp.concatenate([jnp.broadcast_to(c, (n, 1)) for c in columns], axis=1)
        return left @ jnp.concatenate([jnp.broadcast_to(d, (1, m)) for d in rows])
    total: Any = 0.0
    for column, row in pairs:
        total += column * row
    return total


def _derivative_tables(
    distances: Sequence[Float[Array, "N M"]], prior: Process, needed: Sequence[tuple[int, ...]]
) -> list[list[Float[Array, "N M"]]]:
    """For every dimension the kernel's derivatives up to the highest needed; γ² rides on the first dimension."""
    tables = []
    for d, (r, shape) in enumerate(zip(distances, prior.shapes, strict=True)):
        highest = max((orders[d] for orders in needed), default=0)
        tables.append(prior.kernel.derivatives(r, highest, shape))
    tables[0] = [prior.variance * table for table in tables[0]]
    return tables


# ---- operators with very many terms --------------------


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


def stacked_covariance(observed: Sequence[Observed], priors: Mapping[str, Process]) -> Float[Array, "N N"]:
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
    symbols: Sequence[Symbol], coefficients: Array, distances: Sequence[Array], prior: Process
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
