"""The multiplied-out form in which expressions are kept and compared."""

from __future__ import annotations

import sympy


def multiply_out(expr: sympy.Expr) -> sympy.Expr:
    """Multiply out products and integer powers of sums; `exp(a + b)` and the like stay as they are.

    The caller has checked with a `Budget` that the result is small.
    """
    return sympy.expand(expr, power_exp=False, power_base=False, log=False)
