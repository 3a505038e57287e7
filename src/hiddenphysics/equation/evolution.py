"""From residuals that vanish to evolution equations `∂ₜ^p h + N = 0`, one for each evolving field, and ties between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import sympy
from sympy.core.function import AppliedUndef
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from hiddenphysics.equation.budget import MAX_COUPLED, Budget
from hiddenphysics.equation.expressions import atoms_of, field_name, multiply_out, slopes
from hiddenphysics.equation.names import SPACE, TIME, coordinate
from hiddenphysics.equation.source import PlacedError


@dataclass(frozen=True)
class Residual:
    """An expression that the equation says is zero, and where it stands in the text."""

    expr: sympy.Expr
    at: int


@dataclass(frozen=True)
class Evolution:
    """`∂ₜ^orders[h] h + right[h] = 0`, or `mass[h] + right[h] = 0` where time derivatives stand under an operator.

    Attributes
    ----------
    right, orders
        N and the order in time of every evolving field.
    mass
        Field -> the terms with time derivatives of its equation, such as `u_t - u_xxt`; only where there is more than
        `∂ₜ^p h` alone.
    ties
        What vanishes without any time derivative, linear in the fields with constant coefficients: `u_x + v_y`.
    """

    right: dict[str, sympy.Expr]
    orders: dict[str, int]
    mass: dict[str, sympy.Expr]
    ties: tuple[sympy.Expr, ...]


def solve_evolution(residuals: Sequence[Residual], fields: Sequence[str], budget: Budget) -> Evolution:
    """Solve `M ḣ + rest = 0` for the highest time derivatives ḣ; statements without any of these are ties.

    M may hold parameters, constants and coordinates; it must be invertible and free of fields. Where it holds spatial
    derivatives (`u_t - u_xxt`) it is left as it is: it is solved for each wavenumber by itself.
    """
    orders = _time_orders(residuals, fields)
    if not orders:
        at = residuals[0].at if residuals else None
        raise PlacedError(at, _no_time_derivative(fields))
    every = [_Row.of(residual, orders) for residual in residuals]
    rows = [row for row in every if row.names]
    ties = tuple(_tie(row, fields) for row in every if not row.names)
    if len(rows) != len(orders):
        raise PlacedError(rows[-1].at, _mismatch(len(rows), list(orders)))
    right: dict[str, sympy.Expr] = {}
    mass: dict[str, sympy.Expr] = {}
    for block in _blocks(rows):
        if any(row.mixed for row in block):
            matched = _matched(block)
            right |= {name: budget.expanded(row.rest, row.at) for name, row in matched.items()}
            mass |= {name: row.mass for name, row in matched.items()}
        else:
            right |= _solve(block, budget)
    return Evolution({name: right[name] for name in orders}, orders, mass, ties)


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
    """One equation: `Σ matrix[h] ∂ₜ^p h + Σ mixed[atom] atom + rest = 0`; `mixed` holds atoms such as `u_xxt`."""

    matrix: dict[str, sympy.Expr]
    mixed: dict[sympy.Expr, sympy.Expr]
    dots: dict[str, sympy.Expr]
    rest: sympy.Expr
    at: int

    @classmethod
    def of(cls, residual: Residual, orders: dict[str, int]) -> _Row:
        atoms = {
            atom: sympy.Dummy(field_name(atom))
            for atom in sorted(residual.expr.atoms(sympy.Derivative), key=sympy.default_sort_key)
            if time_order(atom) and time_order(atom) == orders[field_name(atom)]
        }
        expr = residual.expr.xreplace(atoms)
        plain, mixed, dots = {}, {}, {}
        for atom, dot in atoms.items():
            factor = multiply_out(expr.diff(dot))
            _check_factor(dot, factor, set(atoms.values()), residual.at)
            if factor == 0:
                continue
            if len(atom.variable_count) > 1:
                _check_constant(atom, factor, residual.at)
                mixed[atom] = factor
            else:
                plain[dot.name], dots[dot.name] = factor, atom
        matrix = {name: plain[name] for name in orders if name in plain}
        return cls(
            matrix,
            mixed,
            dots,
            expr.xreplace(dict.fromkeys(atoms.values(), sympy.Integer(0))),
            residual.at,
        )

    @property
    def names(self) -> set[str]:
        """Fields whose highest time derivatives stand in the row."""
        return {*self.matrix, *map(field_name, self.mixed)}

    @property
    def mass(self) -> sympy.Expr:
        """The terms with the highest time derivatives."""
        plain = (factor * self.dots[name] for name, factor in self.matrix.items())
        return sympy.Add(*plain, *(factor * atom for atom, factor in self.mixed.items()))


def _check_factor(dot: sympy.Dummy, factor: sympy.Expr, dots: set[sympy.Dummy], at: int) -> None:
    shown = f"{dot.name}_t"
    if factor.free_symbols & dots:
        raise PlacedError(at, f"{shown} enters nonlinearly: solve the equation for it by hand first")
    if factor.has(AppliedUndef):
        raise PlacedError(at, f"{shown} is multiplied by a field: divide the equation by that factor first")


def _check_constant(atom: sympy.Derivative, factor: sympy.Expr, at: int) -> None:
    """Refuse x*u_xxt: a time derivative under an operator is solved for wavenumber by wavenumber."""
    if factor.free_symbols & _places():
        name = field_name(atom)
        raise PlacedError(
            at,
            f"a time derivative of {name} under spatial derivatives is multiplied by {factor}, which varies: with "
            f"constant coefficients, as in {name}_t - c*{name}_xxt, it could be solved for wavenumber by wavenumber",
        )


def _places() -> set[sympy.Expr]:
    return {coordinate(name) for name in (TIME, *SPACE)}


def _matched(block: list[_Row]) -> dict[str, _Row]:
    """Give every equation of a group one of the fields whose time derivatives it holds."""
    owner: dict[str, int] = {}

    def placed(index: int, tried: set[str]) -> bool:
        for name in sorted(block[index].names - tried):
            tried.add(name)
            if name not in owner or placed(owner[name], tried):
                owner[name] = index
                return True
        return False

    if not all(placed(index, set()) for index in range(len(block))):
        names = sorted(set().union(*(row.names for row in block)))
        raise PlacedError(block[-1].at, _mismatch(len(block), names))
    return {name: block[index] for name, index in owner.items()}


def _blocks(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Group equations that share time derivatives; each group is solved alone."""
    blocks: list[list[_Row]] = []
    for row in rows:
        joined = [block for block in blocks if any(other.names & row.names for other in block)]
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


def _tie(row: _Row, fields: Sequence[str]) -> sympy.Expr:
    """Return a statement without time derivatives that can be solved wavenumber by wavenumber, or say why not."""
    by_atom = slopes(row.rest)
    names = [name for name in fields if name in {field_name(atom) for atom in by_atom}]
    if not names:
        raise PlacedError(
            row.at, "this statement has no field; give a known value by constants={'c': 3} instead"
        )
    what = f"this statement has no time derivative, it only ties {' and '.join(names)} together"
    if any(atoms_of(slope) for slope in by_atom.values()):
        why = "it is not linear in the fields"
    elif any(slope.free_symbols & _places() for slope in by_atom.values()):
        why = "its coefficients vary in space or time"
    elif row.rest.xreplace(dict.fromkeys(by_atom, sympy.Integer(0))) != 0:
        why = "it holds a term without any field"
    else:
        return row.rest
    raise PlacedError(
        row.at,
        f"{what}, and {why}: only linear ones with constant coefficients can be solved wavenumber by wavenumber, such "
        f"as u_x + v_y = 0 or lap(psi) = -w; solve it for {names[-1]} by hand, or write an equation for {names[-1]}_t",
    )


def _mismatch(equations: int, names: list[str]) -> str:
    dots = ", ".join(f"{name}_t" for name in names)
    return (
        f"{equations} evolution equation{'s' * (equations != 1)} for {len(names)} time "
        f"derivative{'s' * (len(names) != 1)} ({dots}): as many of one as of the other are needed"
    )
