"""Derivatives of fractional order, as SymPy objects that only stand for themselves.

They are defined by what they do to a plane wave e^{ik·x}: the one definition that a whole line and a periodic
box share.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy
from sympy.ntheory.multinomial import multinomial_coefficients

MAX_UNKNOWN_ORDER = 4
"""Of an operator whose order is sought: the search begins from orders up to 3, see `learning.first_guess`."""


def laplacian_power(field: sympy.Expr, axes: Sequence[sympy.Symbol], times: int) -> sympy.Expr:
    """Δ^m u = Σ m!/(m_x! m_y! …) ∂_x^{2m_x} ∂_y^{2m_y} … u, over all m_x + m_y + … = m, for a bare field u."""
    terms = []
    axes = sorted(axes, key=str)  # SymPy's own order, which it takes its time to find
    for powers, count in multinomial_coefficients(len(axes), times).items():
        along = [(axis, 2 * power) for axis, power in zip(axes, powers, strict=True) if power]
        terms.append(count * (sympy.Derivative(field, *along, evaluate=False) if along else field))
    return sympy.Add(*terms)


class Fractional(sympy.Function):  # type: ignore[misc]  # SymPy has no annotations
    """An operator of fractional order on a field: real, linear in the field, never evaluated.

    The first argument is the field `u(t, x)`, the last the order α, an expression of numbers and parameters.
    """

    is_real = True

    @property
    def field(self) -> sympy.Expr:
        """The field `u(t, x)` that the operator acts on."""
        return self.args[0]

    @property
    def order(self) -> sympy.Expr:
        """The order α."""
        return self.args[-1]

    def _eval_derivative(self, s: sympy.Symbol) -> sympy.Expr:
        # SymPy's chain rule would take the field for a number.
        return sympy.Derivative(self, s, evaluate=False)


class FractionalLaplacian(Fractional):
    """`frac_lap(u, alpha)`, the operator (−Δ)^{α/2} over all spatial coordinates, with the symbol |k|^α.

    Lischke et al. (2020), J. Comput. Phys. 404, 109009.
    """

    nargs = 2


class FractionalDerivative(Fractional):
    """`D(u, x, alpha)`, the left Riemann–Liouville derivative from −∞ (Weyl's), with the symbol (ik)^α.

    The branch is (ik)^α = |k|^α e^{iαπ/2 sign k}. Samko, Kilbas & Marichev (1993), chapter 2.
    """

    nargs = 3

    @property
    def along(self) -> sympy.Symbol:
        """The coordinate."""
        return self.args[1]
