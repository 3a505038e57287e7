"""The reference engine: every covariance as a dense matrix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from hiddenphysics.engines.fractional import Known, fractional_covariance
from hiddenphysics.engines.observed import Observed
from hiddenphysics.engines.pairing import Pairing
from hiddenphysics.engines.prior import Prior
from hiddenphysics.engines.stacked import count_pairs, is_local, stacked_covariance
from hiddenphysics.operators import Operator

# Above this many entries a block is built a strip of rows at a time and its derivative tables are made anew for the
# gradient, so that memory stays near that of the matrix itself. On a processor the tables of one strip also fit into
# its cache, which halves the time of a flow's gradient; a GPU wants longer strips.
STRIP_ENTRIES = {"cpu": 1 << 14, "gpu": 1 << 19}
# Above this many pairs of terms they are added in a loop: written out, compiling takes minutes.
MANY_PAIRS = 2000


def covariance(left: Observed, right: Observed, priors: Mapping[str, Prior]) -> Float[Array, "N M"]:
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


def joint_covariance(observed: Sequence[Observed], priors: Mapping[str, Prior]) -> Float[Array, "N N"]:
    """Return the covariance of all observed quantities, stacked in order; the lower half mirrors the upper."""
    if count_pairs(observed) > MANY_PAIRS and is_local(observed):
        return stacked_covariance(observed, priors)
    size = len(observed)
    blocks = {
        (a, b): covariance(observed[a], observed[b], priors) for a in range(size) for b in range(a, size)
    }
    return jnp.block([[blocks[a, b] if a <= b else blocks[b, a].T for b in range(size)] for a in range(size)])


def variance(observed: Observed, priors: Mapping[str, Prior]) -> Float[Array, " N"]:
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


def _block(left: Observed, right: Observed, priors: Mapping[str, Prior]) -> Float[Array, "N M"]:
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

    prior: Prior
    distances: list[Float[Array, "N M"]]
    tables: list[list[Float[Array, "N M"]]]
    known: Known

    @classmethod
    def of(cls, left: Observed, right: Observed, prior: Prior, needed: Sequence[tuple[int, ...]]) -> _Part:
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
    weights: defaultdict[Pairing, Any] = defaultdict(float)
    for _, symbol, c in left.only(latent):
        for _, other_symbol, d in right.only(latent):
            sign = -1.0 if sum(other_symbol.orders) % 2 else 1.0
            column, row = jnp.asarray(c, float)[..., None], sign * jnp.asarray(d, float)[None, ...]
            weights[Pairing.of(symbol, other_symbol)] += column * row
    return dict(weights)


def _derivative_tables(
    distances: Sequence[Float[Array, "N M"]], prior: Prior, needed: Sequence[tuple[int, ...]]
) -> list[list[Float[Array, "N M"]]]:
    """For every dimension the kernel's derivatives up to the highest needed; γ² rides on the first dimension."""
    tables = []
    for d, (r, shape) in enumerate(zip(distances, prior.shapes, strict=True)):
        highest = max((orders[d] for orders in needed), default=0)
        tables.append(prior.kernel.derivatives(r, highest, shape))
    tables[0] = [prior.variance * table for table in tables[0]]
    return tables
