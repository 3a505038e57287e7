"""Whether an equation holds for the mirror image of its fields: what even and odd extensions beyond an end need."""

from __future__ import annotations

import sympy

from hiddenphysics.equation.equation import Equation
from hiddenphysics.equation.expressions import atoms_of
from hiddenphysics.equation.fractional_operators import FractionalDerivative
from hiddenphysics.equation.names import coordinate


def reflects(equation: Equation, along: str, sign: int) -> bool:
    """Whether fields ±u(−x) move as u(x) do: every evolution law changes by the sign of its field, or not at all.

    Derivatives of odd order along x change sign, fields the `sign` (1 or −1) that all of them share. Coefficients that
    depend on x are taken to depend on more than |x|.

    Examples
    --------
    >>> burgers = Equation.parse("u_t + a*u*u_x - b*u_xx = 0")
    >>> reflects(burgers, "x", -1), reflects(burgers, "x", 1)
    (True, False)
    """
    if equation.definitions or equation.ties or equation.system.inputs:
        return False
    axis = coordinate(along)
    for expr in (*equation.evolution.values(), *equation.mass.values()):
        mirrored: dict[sympy.Expr, sympy.Expr] = {}
        for atom in atoms_of(expr):
            if isinstance(atom, FractionalDerivative):
                return False
            orders = dict(atom.variable_count).get(axis, 0) if isinstance(atom, sympy.Derivative) else 0
            mirrored[atom] = sign * (-1) ** int(orders) * sympy.Dummy()
        held = {atom: factor.as_coeff_Mul()[1] for atom, factor in mirrored.items()}
        plain, turned = expr.xreplace(held), expr.xreplace(mirrored)
        if axis in plain.free_symbols or sympy.expand(turned - sign * plain) != 0:
            return False
    return True
