"""The fields in a SymPy expression: their derivatives, and which of them must be known as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from hiddenphysics.equation.evaluate import evaluate
from hiddenphysics.equation.fractional import Fractional, FractionalDerivative
from hiddenphysics.equation.limits import MAX_UNKNOWN_ORDER
from hiddenphysics.equation.linearity import atoms_of
from hiddenphysics.operators import Factor, Order, Symbol


def derivative_symbol(atom: sympy.Expr, coordinates: tuple[str, ...]) -> Symbol:
    """Return the spatial derivative that an atom stands for.

    ``u(t, x)`` is none, ``Derivative(u(t, x), (x, 2))`` an ordinary and ``FractionalLaplacian(u(t, x), alpha)`` a
    fractional one.
    """
    if isinstance(atom, Fractional):
        return Symbol((0,) * len(coordinates), (_factor(atom, coordinates),))
    counts = dict(atom.variable_count) if isinstance(atom, sympy.Derivative) else {}
    by_name = {str(variable): int(count) for variable, count in counts.items()}
    return Symbol(tuple(by_name.get(name, 0) for name in coordinates))


def _factor(atom: Fractional, coordinates: tuple[str, ...]) -> Factor:
    one_sided = isinstance(atom, FractionalDerivative)
    along = (coordinates.index(str(atom.along)),) if one_sided else tuple(range(len(coordinates)))
    if atom.order.is_number:
        return Factor(Order.known(float(atom.order)), along, one_sided)
    return Factor(Order(str(atom.order), atom.order, float(MAX_UNKNOWN_ORDER)), along, one_sided)


def frozen_atoms(*expressions: sympy.Expr) -> set[sympy.Expr]:
    """Return the fields, and derivatives of fields, that the expressions need as numbers."""
    return set().union(*map(atoms_of, expressions))


def evaluate_by_name(expression: sympy.Expr, numbers: Mapping[str, Any], xp: Any) -> Any:
    """Evaluate an expression whose symbols and fields are given by printed names, such as ``"a"`` or ``"u(t, x)"``.

    Names, not SymPy objects, key the arrays of a data set, because JAX sorts the keys of a dictionary.
    """
    atoms = expression.free_symbols | frozen_atoms(expression)
    return evaluate(expression, {a: numbers[str(a)] for a in atoms if str(a) in numbers}, xp)
