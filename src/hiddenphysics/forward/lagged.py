"""The paper's linearisation: in every product one factor stays, the others are frozen at the earlier data."""

from __future__ import annotations

from collections.abc import Collection

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation import Fractional, field_name
from hiddenphysics.errors import ModelError
from hiddenphysics.forward.atoms import derivative_symbol, frozen_atoms
from hiddenphysics.operators import Operator, Symbol


def lagged(
    expression: sympy.Expr, coordinates: tuple[str, ...], unknown: Collection[str], own: str
) -> tuple[Operator[sympy.Expr], sympy.Expr]:
    """Split N(h) into a linear operator on the fields and a remainder in which every field is frozen.

    Each monomial keeps, of its factors that are unknown fields or derivatives of them, the fractional one, or
    else the one with the highest derivative; among equals the one in the lowest power, then the equation's own
    field, then the first by name. u u_x keeps u_x and freezes u; (u² + v²) v keeps v and freezes u² + v². A
    monomial without such a factor, like sin(u) or a source f(x), joins the remainder.

    Parameters
    ----------
    expression
        N, with fields as SymPy functions of t and the coordinates.
    coordinates
        Names of the D spatial coordinates, which order the symbols.
    unknown
        Fields that may be kept: those that carry a prior. Others are coefficients.
    own
        The field that this equation evolves.
    """
    kept: list[tuple[str, Symbol, sympy.Expr]] = []
    remainder = sympy.Integer(0)
    for term in sympy.Add.make_args(_expand_products(expression)):
        factor = _factor_to_keep(term, unknown, own)
        if factor is None:
            remainder += term
        else:
            kept.append((field_name(factor), derivative_symbol(factor, coordinates), term / factor))
    _check_frozen(*(coefficient for _, _, coefficient in kept), remainder)
    return Operator.collect(kept), remainder


def _check_frozen(*expressions: sympy.Expr) -> None:
    """Refuse to freeze a fractional operator: it sees the whole line, of which the data know a part."""
    frozen = sorted((a for a in frozen_atoms(*expressions) if isinstance(a, Fractional)), key=str)
    if frozen:
        raise ModelError(
            f"The equation needs {frozen[0]} as a number: it stands in a product with another fractional operator, in "
            "a power, in a function, or acts on a field without an equation. The model 'paper' keeps one fractional "
            "factor of a product and freezes the others at the data, which do not tell a non-local operator. Write "
            "each as a term, or a factor before ordinary derivatives, as in u_t + a*u*frac_lap(u, alpha) = 0."
        )


def _expand_products(expression: sympy.Expr) -> sympy.Expr:
    """Multiply out sums, and nothing else: functions of sums and powers of products stay as typed."""
    return expression.expand(power_base=False, power_exp=False, log=False, basic=False)


def _factor_to_keep(term: sympy.Expr, unknown: Collection[str], own: str) -> sympy.Expr | None:
    candidates = []
    for factor in sympy.Mul.make_args(term):
        base, power = factor.as_base_exp()
        is_field = (
            isinstance(base, sympy.Derivative | AppliedUndef | Fractional) and field_name(base) in unknown
        )
        if is_field and power.is_Integer and power > 0:
            order = sum(c for _, c in base.variable_count) if isinstance(base, sympy.Derivative) else 0
            local = not isinstance(base, Fractional)
            candidates.append((local, -order, int(power), field_name(base) != own, str(base), base))
    return min(candidates, key=lambda c: c[:5])[5] if candidates else None
