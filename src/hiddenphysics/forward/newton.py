"""Newton's linearisation: an expression expanded around a state, to first order in every field."""

from __future__ import annotations

from collections.abc import Collection

import sympy

from hiddenphysics.equation import field_name, slopes
from hiddenphysics.forward.atoms import derivative_symbol
from hiddenphysics.operators import Operator


def newton(
    expression: sympy.Expr, coordinates: tuple[str, ...], unknown: Collection[str]
) -> tuple[Operator[sympy.Expr], sympy.Expr]:
    """Split N(h) ≈ N'(h̄) h + [N(h̄) − N'(h̄) h̄] into a linear operator on the fields and a constant.

    The slopes ∂N/∂(atom) are taken symbolically, so that parameters may stand anywhere, as in sin(a u). What is
    linear in the fields cancels from the constant: then no value of h̄ is asked for.

    Parameters
    ----------
    expression
        N, with fields as SymPy functions of t and the coordinates.
    unknown
        Fields that latents stand for. Others are coefficients, known where they are needed.

    Returns
    -------
    operator, constant
        Coefficients and constant are expressions in the parameters and in the state h̄.
    """
    by_atom = {atom: slope for atom, slope in slopes(expression).items() if field_name(atom) in unknown}
    operator = Operator.collect(
        (field_name(atom), derivative_symbol(atom, coordinates), slope)
        for atom, slope in by_atom.items()
        if slope != 0
    )
    constant = expression - sympy.Add(*(slope * atom for atom, slope in by_atom.items()))
    return operator, constant.expand(power_base=False, power_exp=False, log=False)
