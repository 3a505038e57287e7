"""From residuals that vanish to evolution equations `∂ₜ^p h + N = 0`, one for each evolving field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import sympy
from sympy.core.function import AppliedUndef
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from hiddenphysics.equation.budget import MAX_COUPLED, Budget
from hiddenphysics.equation.expressions import atoms_of, field_name, multiply_out
from hiddenphysics.equation.names import TIME, coordinate
from hiddenphysics.equation.source import PlacedError


@dataclass(frozen=True)
class Residual:
    """An expression that the equation says is zero, and where it stands in the text."""

    expr: sympy.Expr
    at: int


@dataclass(frozen=True)
class Evolution:
    """`∂ₜ^orders[h] h + right[h] = 0`."""

    right: dict[str, sympy.Expr]
    orders: dict[str, int]


def solve_evolution(residuals: Sequence[Residual], fields: Sequence[str], budget: Budget) -> Evolution:
    """Solve `M ḣ + rest = 0` for the highest time derivatives ḣ.

    M may hold parameters, constants and coordinates; it must be invertible and free of fields.
    """
    orders = _time_orders(residuals, fields)
    if not orders:
        at = residuals[0].at if residuals else None
        raise PlacedError(at, _no_time_derivative(fields))
    rows = [_Row.of(residual, orders) for residual in residuals]
    for row in rows:
        if not row.matrix:
            raise PlacedError(row.at, _constraint(row, fields))
    if len(rows) != len(orders):
        raise PlacedError(rows[-1].at, _mismatch(len(rows), list(orders)))
    right: dict[str, sympy.Expr] = {}
    for block in _blocks(rows):
        right |= _solve(block, budget)
    return Evolution({name: right[name] for name in orders}, orders)


def time_order(atom: sympy.Derivative) -> int:
    """How often the atom is differentiated in time."""
    return int(dict(atom.variable_count).get(coordinate(TIME), 0))


def _time_orders(residuals: Sequence[Residual], fields: Sequence[str]) -> dict[str, int]:
    """Highest time derivative of each evolving field, in the order of `fields`."""
    orders: dict[str, int] = {}
    for residual in residuals:
        for atom in residual.expr.atoms(sympy.Derivative):
            name = field_name(atom)
            orders[name] = max(orders.get(name, 0), time_order(atom))
    return {name: orders[name] for name in fields if orders.get(name)}


@dataclass(frozen=True)
class _Row:
    """One equation: `Σ matrix[h] ∂ₜ^p h + rest = 0`."""

    matrix: dict[str, sympy.Expr]
    rest: sympy.Expr
    at: int

    @classmethod
    def of(cls, residual: Residual, orders: dict[str, int]) -> _Row:
        dots = {
            atom: sympy.Dummy(field_name(atom))
            for atom in residual.expr.atoms(sympy.Derivative)
            if time_order(atom) and time_order(atom) == orders[field_name(atom)]
        }
        expr = residual.expr.xreplace(dots)
        matrix = {}
        for dot in dots.values():
            factor = multiply_out(expr.diff(dot))
            _check_factor(dot, factor, set(dots.values()), residual.at)
            matrix[dot.name] = factor
        matrix = {name: matrix[name] for name in orders if matrix.get(name, 0) != 0}
        return cls(matrix, expr.xreplace(dict.fromkeys(dots.values(), sympy.Integer(0))), residual.at)


def _check_factor(dot: sympy.Dummy, factor: sympy.Expr, dots: set[sympy.Dummy], at: int) -> None:
    shown = f"{dot.name}_t"
    if factor.free_symbols & dots:
        raise PlacedError(at, f"{shown} enters nonlinearly: solve the equation for it by hand first")
    if factor.has(AppliedUndef):
        raise PlacedError(at, f"{shown} is multiplied by a field: divide the equation by that factor first")


def _blocks(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Group equations that share time derivatives; each group is solved alone."""
    blocks: list[list[_Row]] = []
    for row in rows:
        joined = [
            block for block in blocks if any(other.matrix.keys() & row.matrix.keys() for other in block)
        ]
        blocks = [block for block in blocks if block not in joined]
        blocks.append([*(other for block in joined for other in block), row])
    return blocks


def _solve(block: list[_Row], budget: Budget) -> dict[str, sympy.Expr]:
    """`M⁻¹ rest` of one group of equations."""
    unknowns = list(dict.fromkeys(name for row in block for name in row.matrix))
    at = block[-1].at
    if len(unknowns) != len(block):
        raise PlacedError(at, _mismatch(len(block), unknowns))
    if len(block) == 1:
        (row,) = block
        inverse = [[1 / row.matrix[unknowns[0]]]]
    else:
        inverse = _inverse(
            [[row.matrix.get(name, sympy.Integer(0)) for name in unknowns] for row in block], at
        )
    solution = {}
    for name, weights in zip(unknowns, inverse, strict=True):
        expr = sympy.Add(*(w * row.rest for w, row in zip(weights, block, strict=True)))
        solution[name] = budget.expanded(expr, at)
    return solution


def _inverse(matrix: list[list[sympy.Expr]], at: int) -> list[list[sympy.Expr]]:
    """Exact inverse over the field of rational functions of whatever the entries hold."""
    if (
        prod(sum(len(sympy.Add.make_args(entry)) for entry in row if entry != 0) for row in matrix)
        > MAX_COUPLED
    ):
        raise PlacedError(
            at, "the time derivatives are too entangled: solve the system for them by hand first"
        )
    try:
        inverse = DomainMatrix.from_Matrix(sympy.Matrix(matrix)).to_field().inv().to_Matrix()
    except DMNonInvertibleMatrixError:
        message = "the equations cannot be solved for the time derivatives: they repeat each other"
        raise PlacedError(at, message) from None
    return [list(inverse.row(k)) for k in range(len(matrix))]


def _no_time_derivative(fields: Sequence[str]) -> str:
    names = ", ".join(f"{name}_t" for name in fields) or "u_t"
    return f"no time derivative: an evolution equation is needed, add {names}, as in u_t - b*u_xx = 0"


def _constraint(row: _Row, fields: Sequence[str]) -> str:
    used = {field_name(atom) for atom in atoms_of(row.rest)}
    if not used:
        return "this statement has no field; give a known value by constants={'c': 3} instead"
    names = [name for name in fields if name in used]
    hint = "write it as an evolution equation, or drop it"
    if len(names) > 1:
        first, second = names[:2]
        hint = f"define the fields by a potential that satisfies it: {first} = psi_y; {second} = -psi_x"
    return f"this statement has no time derivative, it only ties {' and '.join(names)} together; {hint}"


def _mismatch(equations: int, names: list[str]) -> str:
    dots = ", ".join(f"{name}_t" for name in names)
    return (
        f"{equations} evolution equation{'s' * (equations != 1)} for {len(names)} time "
        f"derivative{'s' * (len(names) != 1)} ({dots}): as many of one as of the other are needed"
    )
