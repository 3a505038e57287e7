"""The multiplied-out form in which expressions are kept and compared."""

from __future__ import annotations

from functools import partial

import sympy

from hiddenphysics.equation.numbers import fold


def multiply_out(expr: sympy.Expr) -> sympy.Expr:
    """Multiply out products and integer powers of sums; `exp(a + b)` and the like stay as they are.

    The caller has checked with a `Budget` that the result is small.
    """
    return sympy.expand(expr, power_exp=False, power_base=False, log=False)


def fold_numbers(expr: sympy.Expr, at: int | None) -> sympy.Expr:
    """Make floats of the roots that SymPy draws out, `sqrt(2*u)` to `sqrt(2)*sqrt(u)`, as `sqrt(2)` typed is one."""
    found = {
        node: fold(partial(float, node), at, str(node))
        for node in expr.atoms(sympy.Pow, sympy.Function)
        if node.is_number and not (node.is_Pow and node.exp.is_Integer)
    }
    return expr.xreplace(found) if found else expr
