"""Translation-invariant operators, known by what they do to a plane wave."""

from __future__ import annotations

from dataclasses import dataclass

from hiddenphysics.errors import ModelError


@dataclass(frozen=True, order=True)
class Symbol:
    """The operator T with T e^{iω·x} = τ(ω) e^{iω·x}, τ(ω) = Π_d (iω_d)^{m_d}: a mixed partial derivative.

    Parameters
    ----------
    orders
        m_d, how often to differentiate along each of the D coordinates; ``(2, 1)`` is ∂_x² ∂_y.
    """

    orders: tuple[int, ...]

    def __post_init__(self) -> None:
        if any(order < 0 for order in self.orders):
            raise ModelError(f"Derivative orders {self.orders} were given; each must be 0 or larger.")

    @classmethod
    def identity(cls, dimensions: int) -> Symbol:
        """Return the operator that changes nothing, τ = 1."""
        return cls((0,) * dimensions)

    def __matmul__(self, other: Symbol) -> Symbol:
        """Compose: symbols multiply, so orders add and the composition commutes."""
        return Symbol(tuple(a + b for a, b in zip(self.orders, other.orders, strict=True)))

    @property
    def highest(self) -> int:
        """The largest order along any one coordinate: what a product kernel must be able to differentiate."""
        return max(self.orders)
