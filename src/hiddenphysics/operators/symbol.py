"""Translation-invariant operators, known by what they do to a plane wave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hiddenphysics.errors import ModelError


@dataclass(frozen=True, order=True)
class Order:
    """A fractional order α, known by its name: two orders of one name are the same number.

    Parameters
    ----------
    name
        What stands in the equation: ``alpha``, ``2*s``, ``1.5``.
    value
        A float when the number is known; an expression of parameters until `evaluate`; then a (traced) number.
    limit
        The largest number that it can be. Beyond it, and below 0, the order is not a number to an engine.
    """

    name: str
    value: Any = field(compare=False)
    limit: float = field(compare=False)

    @classmethod
    def known(cls, value: float) -> Order:
        """Return an order that is a number."""
        return cls(repr(value), value, value)

    def evaluate(self, number: Callable[[Any], Any]) -> Order:
        """Replace an expression by its number; a known number stays the float that it is."""
        return self if isinstance(self.value, float) else replace(self, value=number(self.value))


@dataclass(frozen=True, order=True)
class Factor:
    """One fractional factor of a symbol: |ω|^α over some coordinates, or (iω_d)^α along one.

    Parameters
    ----------
    order
        α.
    along
        Which coordinates take part: |ω|² = Σ ω_d² over these d.
    one_sided
        True for the left Riemann–Liouville derivative from −∞ (Weyl's), (iω)^α = |ω|^α e^{iαπ/2 sign ω}; False for the
        fractional Laplacian (Riesz'), |ω|^α.
    """

    order: Order
    along: tuple[int, ...]
    one_sided: bool

    def __post_init__(self) -> None:
        if self.one_sided and len(self.along) != 1:
            raise ModelError(
                f"A one-sided derivative of order {self.order.name} along {len(self.along)} coordinates was given; "
                "it acts along exactly one."
            )

    def at(self, wavenumbers: Sequence[Any], xp: Any) -> Any:
        """Return |k|^α or (ik)^α = |k|^α e^{iαπ/2 sign k} at wave vectors; see `Symbol.at`."""
        order = self.order.value
        if not self.one_sided:
            return _power(xp.sqrt(sum(xp.square(wavenumbers[d]) for d in self.along)), order, xp)
        k = wavenumbers[self.along[0]]
        return _power(xp.abs(k), order, xp) * xp.exp(0.5j * xp.pi * order * xp.sign(k))


@dataclass(frozen=True, order=True)
class Symbol:
    """The operator T with T e^{iω·x} = τ(ω) e^{iω·x}: τ(ω) = Π_d (iω_d)^{m_d}, times fractional factors.

    Parameters
    ----------
    orders
        m_d, how often to differentiate along each of the D coordinates; ``(2, 1)`` is ∂_x² ∂_y.
    fractional
        The factors of fractional order, sorted; none for a mixed partial derivative.
    """

    orders: tuple[int, ...]
    fractional: tuple[Factor, ...] = ()

    def __post_init__(self) -> None:
        if any(order < 0 for order in self.orders):
            raise ModelError(f"Derivative orders {self.orders} were given; each must be 0 or larger.")

    @classmethod
    def identity(cls, dimensions: int) -> Symbol:
        """Return the operator that changes nothing, τ = 1."""
        return cls((0,) * dimensions)

    def __matmul__(self, other: Symbol) -> Symbol:
        """Compose: symbols multiply, so orders add, fractional factors gather, and the composition commutes."""
        orders = tuple(a + b for a, b in zip(self.orders, other.orders, strict=True))
        return Symbol(orders, tuple(sorted(self.fractional + other.fractional)))

    def evaluate(self, number: Callable[[Any], Any]) -> Symbol:
        """Give every fractional order that is an expression its number."""
        factors = (replace(f, order=f.order.evaluate(number)) for f in self.fractional)
        return replace(self, fractional=tuple(factors))

    @property
    def highest(self) -> int:
        """The largest whole order along any one coordinate: what a product kernel must be able to differentiate."""
        return max(self.orders)

    def at(self, wavenumbers: Sequence[Any], xp: Any) -> Any:
        """Return τ(k) at wave vectors.

        Parameters
        ----------
        wavenumbers
            k_d along each of the D coordinates, of shapes that broadcast together; they may be traced.
        xp
            Array namespace, `numpy` or `jax.numpy`.

        Fractional orders must be numbers by now, see `evaluate`; these may be traced, too.
        """
        value: Any = 1.0
        for k, order in zip(wavenumbers, self.orders, strict=True):
            if order:
                value = value * (1j * k) ** order
        for factor in self.fractional:
            value = value * factor.at(wavenumbers, xp)
        return value


def _power(k: Any, order: Any, xp: Any) -> Any:
    """k^α for k ≥ 0 and α ≥ 0, with the derivative in α that it has for α > 0: at k = 0 none, not 0·log 0."""
    origin = xp.where(xp.asarray(order) == 0, 1.0, 0.0)
    return xp.where(k > 0, xp.power(xp.where(k > 0, k, 1.0), order), origin)
