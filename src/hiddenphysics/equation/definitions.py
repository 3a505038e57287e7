"""Observed fields defined by potentials: `u = psi_y`, linear with constant coefficients."""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from hiddenphysics.equation.linearity import atoms_of, field_name, slopes
from hiddenphysics.equation.lower import Lowering
from hiddenphysics.equation.names import TIME, coordinate, parts
from hiddenphysics.equation.source import PlacedError
from hiddenphysics.equation.tree import EquationLine, Name


def read_definitions(lines: Sequence[EquationLine], lowering: Lowering) -> dict[str, sympy.Expr]:
    """Field -> expression in potentials; a complex field gives two."""
    found: dict[str, tuple[sympy.Expr, int]] = {}
    for line in lines:
        for name, expr in _split(line, lowering).items():
            if name in found:
                raise PlacedError(line.at, f"{name} is defined twice")
            _check_linear(name, expr, lowering.vocabulary.coordinates, line.at)
            found[name] = (expr, line.at)
    for name, (expr, at) in found.items():
        chained = {field_name(atom) for atom in atoms_of(expr)} & found.keys()
        if chained:
            raise PlacedError(at, f"{name} is defined by {min(chained)}, itself defined: use potentials only")
    return {name: expr for name, (expr, _) in found.items()}


def _split(line: EquationLine, lowering: Lowering) -> dict[str, sympy.Expr]:
    """Read the real definitions in one line."""
    if not isinstance(line.left, Name) or line.right is None:
        raise TypeError("internal error: not a definition")
    name, value = line.left.name, lowering.expression(line.right)
    real, imaginary = (lowering.budget.expanded(part, line.at) for part in value)
    if name in lowering.vocabulary.complex_fields:
        re, im = parts(name)
        return {re: real, im: imaginary}
    if imaginary != 0:
        raise PlacedError(line.right.at, f"{name} is real, this is complex")
    return {name: real}


def _check_linear(name: str, expr: sympy.Expr, coordinates: Sequence[str], at: int) -> None:
    axes = {coordinate(c) for c in (TIME, *coordinates)}
    by_atom = slopes(expr)
    constant = not any(atoms_of(slope) or slope.free_symbols & axes for slope in by_atom.values())
    if not constant or expr.xreplace(dict.fromkeys(by_atom, sympy.Integer(0))) != 0:
        raise PlacedError(
            at,
            f"the definition of {name} must be linear in other fields, with constant coefficients: u = psi_y",
        )
