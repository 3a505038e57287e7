"""What the symbols of two observations ask of a kernel together."""

from __future__ import annotations

from dataclasses import dataclass

from hiddenphysics.operators import Factor, Symbol


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
