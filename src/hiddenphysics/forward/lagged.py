"""The paper's linearisation: in every product one factor stays, the others are frozen at the earlier data."""

from __future__ import annotations

from collections.abc import Collection

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation.linearity import field_name
from hiddenphysics.forward.atoms import derivative_symbol
from hiddenphysics.operators import Operator, Symbol


def lagged(
    expression: sympy.Expr, coordinates: tuple[str, ...], unknown: Collection[str], own: str
) -> tuple[Operator[sympy.Expr], sympy.Expr]:
    """Split N(h) into a linear operator on the fields and a remainder in which every field is frozen.

    Each monomial keeps, of its factors that are unknown fields or derivatives of them, the one with the
    highest derivative; among equals the one in the lowest power, then the equation's own field, then the
    first by name. u u_x keeps u_x and freezes u; (u² + v²) v keeps v and freezes u² + v². A monomial without
    such a factor, like sin(u) or a source f(x), joins the remainder.

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
    return Operator.collect(kept), remainder


def _expand_products(expression: sympy.Expr) -> sympy.Expr:
    """Multiply out sums, and nothing else: functions of sums and powers of products stay as typed."""
    return expression.expand(power_base=False, power_exp=False, log=False, basic=False)


def _factor_to_keep(term: sympy.Expr, unknown: Collection[str], own: str) -> sympy.Expr | None:
    candidates = []
    for factor in sympy.Mul.make_args(term):
        base, power = factor.as_base_exp()
        is_field = isinstance(base, sympy.Derivative | AppliedUndef) and field_name(base) in unknown
        if is_field and power.is_Integer and power > 0:
            order = sum(c for _, c in base.variable_count) if isinstance(base, sympy.Derivative) else 0
            candidates.append((-order, int(power), field_name(base) != own, str(base), base))
    return min(candidates, key=lambda c: c[:4])[4] if candidates else None
