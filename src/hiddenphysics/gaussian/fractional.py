"""Covariances under operators of fractional order: |ω|^α and (iω)^α in the spectral integral."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

from hiddenphysics.errors import ModelError
from hiddenphysics.operators import Factor, Order, Symbol
from hiddenphysics.priors import Process

NODES = 112
"""Nodes of the mixture over heat times: exact to 1e-10 of the variance where lengths differ tenfold at most."""
SMALLEST = math.log(1e-11)
"""Where the mixture is cut, relative to its largest part."""


Known = dict[tuple[int, int, tuple[str, ...]], tuple[Array, Array]]
"""Both spectral integrals of a power along one coordinate, by what fixes them (see `_Axis.key`)."""


@dataclass(frozen=True)
class Pairing:
    """What two symbols ask of a kernel: τ conj τ' = (−1)^{|n|} Π_d (iω_d)^{m_d + n_d} × fractional factors.

    Attributes
    ----------
    orders
        m + n, whole orders along each coordinate.
    left, right
        Fractional factors; those at the right are conjugated. Real ones, |ω|^α, all stand at the left.
    """

    orders: tuple[int, ...]
    left: tuple[Factor, ...]
    right: tuple[Factor, ...]

    @classmethod
    def of(cls, symbol: Symbol, other: Symbol) -> Pairing:
        """Pair the symbol of one observation with that of another; the sign (−1)^{|n|} is left to the caller.

        What stands at both sides is real together, (iω)^α conj (iω)^α = |ω|^{2α}, and is kept as that.
        """
        right = [f for f in other.fractional if f.one_sided]
        left = list(symbol.fractional) + [f for f in other.fractional if not f.one_sided]
        for factor in tuple(right):
            if factor in left:
                left.remove(factor)
                right.remove(factor)
                left += 2 * [Factor(factor.order, factor.along, one_sided=False)]
        return cls((symbol @ other).orders, tuple(sorted(left)), tuple(sorted(right)))

    @property
    def is_local(self) -> bool:
        """Whether ordinary derivatives of the kernel are all that is needed."""
        return not (self.left or self.right)


def fractional_covariance(
    distances: Sequence[Float[Array, "N M"]], prior: Process, pairing: Pairing, known: Known
) -> Float[Array, "N M"]:
    """Return γ² ∫ τ conj τ' S(ω) e^{iω·r} dω for signed distances r_d, without the sign (−1)^{|n|}.

    Factors along one coordinate only change the power and phase there: ∫ |ω_d|^p cos(ω_d r_d + qπ/2) S_d dω_d.
    |ω|^A over several coordinates is a mixture of heat kernels (the definition of Γ), with k > A/2 whole:

        |ω|^A = |ω|^{2k} / Γ(b) ∫ t^{b−1} e^{−t|ω|²} dt,    b = k − A/2,

    e^{−t ω_d²} S_d being again a spectral density of the same kind, and |ω|^{2k} a sum of ordinary derivatives. The
    trapezoidal rule in log t converges exponentially and does not care how far apart the points are.

    Parameters
    ----------
    known
        Integrals that other pairings of the same latent and points have needed; this one's are added.
    """
    joint = [f for f in pairing.left if len(f.along) > 1]
    axes = [_Axis.of(d, pairing) for d in range(len(prior.shapes))]
    if not joint:
        columns = [
            axis.derivative(r, prior, shape, known)
            for axis, r, shape in zip(axes, distances, prior.shapes, strict=True)
        ]
        return prior.variance * reduce(jnp.multiply, columns)
    _check_whole_space(joint, len(axes))
    power = _sum(joint)
    k = math.floor(0.5 * sum(f.order.limit for f in joint)) + 2
    b = k - 0.5 * power
    logs, step = _log_times(prior, b, 0.5 * power + 0.5 * len(axes))

    @jax.checkpoint
    def add(total: Array, log_time: Array) -> tuple[Array, None]:
        time = jnp.exp(log_time)
        series = []
        amplitude = jnp.exp(b * log_time)
        for axis, r, shape in zip(axes, distances, prior.shapes, strict=True):
            faded, wider = prior.kernel.heated(time, shape)
            amplitude = amplitude * faded
            moments = axis.derivatives(r, prior, wider, k)
            series.append([m / math.factorial(j) for j, m in enumerate(moments)])
        return total + amplitude * math.factorial(k) * _coefficient(series, k), None

    total, _ = jax.lax.scan(add, jnp.zeros_like(distances[0]), logs)
    return prior.variance * step * jnp.exp(-jax.scipy.special.gammaln(b)) * total


@dataclass(frozen=True)
class _Axis:
    """What acts along one coordinate: |ω|^p e^{i(qπ/2) sign ω}, with p = q = n where it is ∂^n alone.

    Attributes
    ----------
    key
        Dimension, n and the names of all fractional orders here: what fixes p.
    order, power, phase
        n, p and q; q is an `int` where it is known to be whole.
    """

    key: tuple[int, int, tuple[str, ...]]
    order: int
    power: ArrayLike
    phase: ArrayLike

    @classmethod
    def of(cls, dimension: int, pairing: Pairing) -> _Axis:
        n = pairing.orders[dimension]
        left = [f for f in pairing.left if f.along == (dimension,)]
        right = [f for f in pairing.right if f.along == (dimension,)]
        turning = [f for f in left if f.one_sided]
        return cls(
            key=(dimension, n, tuple(sorted(f.order.name for f in (*left, *right)))),
            order=n,
            power=n + _sum(left) + _sum(right),
            phase=n + _sum(turning) - _sum(right) if turning or right else n,
        )

    @property
    def is_local(self) -> bool:
        return not self.key[2]

    def derivative(self, r: Array, prior: Process, shape: Mapping[str, Array], known: Known) -> Array:
        """Return the integral along this coordinate."""
        if self.is_local:
            return prior.kernel.derivatives(r, self.order, shape)[self.order]
        if self.key not in known:
            known[self.key] = prior.kernel.fractional(r, self.power, shape)
        return self._turned(*known[self.key])

    def derivatives(
        self, r: Array, prior: Process, shape: Mapping[str, Array], count: int
    ) -> Sequence[Array]:
        """Return the integrals with the further factors 1, ω², …, ω^{2 count} along this coordinate."""
        if self.is_local:
            table = prior.kernel.derivatives(r, self.order + 2 * count, shape)
            return [(-1.0) ** j * table[self.order + 2 * j] for j in range(count + 1)]
        powers = self.power + 2.0 * jnp.arange(count + 1)
        return list(self._turned(*jax.vmap(lambda power: prior.kernel.fractional(r, power, shape))(powers)))

    def _turned(self, even: Array, odd: Array) -> Array:
        """Return cos(qπ/2) even − sin(qπ/2) odd; of a whole q only one of them is needed."""
        if isinstance(self.phase, int):
            return (even, -odd, -even, odd)[self.phase % 4]
        turn = 0.5 * jnp.pi * self.phase
        return jnp.cos(turn) * even - jnp.sin(turn) * odd


def _log_times(prior: Process, rise: Array, fall: Array) -> tuple[Float[Array, " J"], Float[Array, ""]]:
    """Return nodes in log t, and their distance: e^{rise·log t} below the shortest length, e^{−fall·log t} above."""
    squares = jnp.stack([1.0 / -prior.kernel.derivatives(jnp.zeros(()), 2, s)[2] for s in prior.shapes])
    low = jnp.log(0.5 * jnp.min(squares)) + SMALLEST / rise
    high = jnp.log(0.5 * jnp.max(squares)) - SMALLEST / fall
    low, high = jax.lax.stop_gradient((low, high))
    return jnp.linspace(low, high, NODES), (high - low) / (NODES - 1)


def _coefficient(series: Sequence[Sequence[Array]], degree: int) -> Array:
    """Return one coefficient of a product of power series: Σ Π_d a_d[k_d] over k_1 + k_2 + … = degree."""
    *first, last = series
    if not first:
        return last[degree]
    return sum(
        (last[j] * _coefficient(first, degree - j) for j in range(degree + 1)), start=jnp.zeros_like(last[0])
    )


def _sum(factors: Iterable[Factor]) -> Array:
    return sum((_number(f.order) for f in factors), start=jnp.zeros(()))


def _number(order: Order) -> Array:
    """Return an order as a number; NaN outside of 0 to its limit, where the covariance would be nonsense."""
    if not isinstance(order.value, float | np.ndarray | Array):
        raise ModelError(
            f"The value of an operator of the unknown order {order.name} was asked for: a product such as "
            f"u*frac_lap(u, {order.name}) is expanded around the state, and the state's derivative of an order that is "
            "not known cannot be computed. Use model='paper', which keeps the fractional factor, or give the order as "
            "a constant."
        )
    value = jnp.asarray(order.value, float)
    return jnp.where((value >= 0.0) & (value <= order.limit), value, jnp.nan)


def _check_whole_space(factors: Iterable[Factor], dimensions: int) -> None:
    for factor in factors:
        if factor.along != tuple(range(dimensions)):
            raise ModelError(
                f"A fractional Laplacian of order {factor.order.name} over the coordinates {factor.along} of "
                f"{dimensions} was given; it acts along one of them or over all."
            )
