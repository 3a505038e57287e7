"""How an expression depends on the fields and their derivatives."""

from __future__ import annotations

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation.fractional import Fractional


def field_name(atom: sympy.Expr) -> str:
    """`u` for `u(t, x)` and for each of its derivatives, fractional ones too."""
    if isinstance(atom, sympy.Derivative):
        return str(atom.expr.func.__name__)
    return str((atom.field if isinstance(atom, Fractional) else atom).func.__name__)


def atoms_of(expr: sympy.Expr) -> set[sympy.Expr]:
    """Fields and derivatives in `expr`, each as it stands: in `u_x` and `frac_lap(u, 1.5)` there is no `u`."""
    found: set[sympy.Expr] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, sympy.Derivative | AppliedUndef | Fractional):
            found.add(node)
        else:
            stack.extend(node.args)
    return found


def slopes(expr: sympy.Expr) -> dict[sympy.Expr, sympy.Expr]:
    """Partial derivative of `expr` by each field and each derivative in it, all taken as independent."""
    dummies = {atom: sympy.Dummy(real=True) for atom in atoms_of(expr)}
    back = {dummy: atom for atom, dummy in dummies.items()}
    flat = expr.xreplace(dummies)
    return {atom: flat.diff(dummy).xreplace(back) for atom, dummy in dummies.items()}


def is_linear(expr: sympy.Expr) -> bool:
    """Whether `expr` is of first degree in the fields: no slope depends on them. Forcing is allowed."""
    return not any(atoms_of(slope) for slope in slopes(expr).values())
