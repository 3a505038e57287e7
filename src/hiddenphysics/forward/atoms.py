"""The fields in a SymPy expression: their names, derivatives, and which of them must be known as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation import evaluate
from hiddenphysics.operators import Symbol


def field_name(atom: sympy.Expr) -> str:
    """Return the name of the field in ``u(t, x)`` or in a derivative of it."""
    base = atom.expr if isinstance(atom, sympy.Derivative) else atom
    return str(base.func)


def derivative_symbol(atom: sympy.Expr, coordinates: tuple[str, ...]) -> Symbol:
    """Return the spatial derivative that ``u(t, x)`` (none) or ``Derivative(u(t, x), (x, 2))`` stands for."""
    counts = dict(atom.variable_count) if isinstance(atom, sympy.Derivative) else {}
    by_name = {str(variable): int(count) for variable, count in counts.items()}
    return Symbol(tuple(by_name.get(name, 0) for name in coordinates))


def frozen_atoms(*expressions: sympy.Expr) -> set[sympy.Expr]:
    """Return the fields, and derivatives of fields, that the expressions need as numbers."""
    found: set[sympy.Expr] = set()
    for expression in expressions:
        nodes = sympy.preorder_traversal(expression)
        for node in nodes:
            if isinstance(node, AppliedUndef | sympy.Derivative):
                found.add(node)
                nodes.skip()  # a derivative is one number; the field inside it is not asked for
    return found


def evaluate_by_name(expression: sympy.Expr, numbers: Mapping[str, Any], xp: Any) -> Any:
    """Evaluate an expression whose symbols and fields are given by printed names, such as ``"a"`` or ``"u(t, x)"``.

    Names, not SymPy objects, key the arrays of a data set, because JAX sorts the keys of a dictionary.
    """
    atoms = expression.free_symbols | frozen_atoms(expression)
    return evaluate(expression, {a: numbers[str(a)] for a in atoms if str(a) in numbers}, xp)
