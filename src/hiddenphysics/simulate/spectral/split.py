"""An equation, rewritten for a spectral method: first order in time, linear part and rest apart."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy

from hiddenphysics.equation import TIME, Equation, atoms_of, coordinate, field, field_name
from hiddenphysics.simulate.spectral.checks import check_evolves

GENERAL_PADDING = Fraction(2)
"""Of rests that are no polynomial (sin u, 1/u): no padding is exact, the spectrum's decay must do the rest."""

MAX_PADDING = Fraction(3)
"""Exact up to degree five; beyond that the grids would grow without measure."""


@dataclass(frozen=True)
class LinearTerm:
    """`coefficient · T(column)`, in the rate of `row`; T is the operator that takes the field to `atom`.

    The coefficient may hold parameters, no coordinates.
    """

    row: int
    column: int
    atom: sympy.Expr
    coefficient: sympy.Expr


@dataclass(frozen=True)
class Split:
    """∂ₜ state = Σ linear + rest, for a state of F fields.

    Attributes
    ----------
    state
        Names of the state's fields: those of the equation and, of an equation of order p in time, the time
        derivatives below the p-th, named `u_t`, `u_tt`.
    linear
        The terms of first degree with constant coefficients.
    rest
        Everything else, one expression for each field of the state.
    """

    state: tuple[str, ...]
    linear: tuple[LinearTerm, ...]
    rest: tuple[sympy.Expr, ...]

    @property
    def coupled(self) -> bool:
        """Whether the linear part mixes fields, as in Schrödinger's equation and the wave equation."""
        return any(term.row != term.column for term in self.linear)

    @property
    def rest_atoms(self) -> tuple[sympy.Expr, ...]:
        """Fields and derivatives that the rest is computed from, in a fixed order."""
        found = {atom for expr in self.rest for atom in atoms_of(expr)}
        return tuple(sorted(found, key=sympy.default_sort_key))

    @property
    def padding(self) -> Fraction:
        """How much finer a grid must be so that products do not alias: (p + 1)/2 for polynomials of degree p.

        Orszag (1971), J. Atmos. Sci. 28, 1074: 3/2 for quadratic terms (the two-thirds rule), 2 for cubic.
        """
        return max((_padding(expr) for expr in self.rest), default=Fraction(1))


def split(equation: Equation) -> Split:
    """Split the right-hand side of an equation whose fields all evolve."""
    check_evolves(equation)
    rates = _first_order(equation)
    state = tuple(rates)
    linear: list[LinearTerm] = []
    rest: list[sympy.Expr] = []
    for row, rate in enumerate(rates.values()):
        terms = {term: _linear_term(row, term, state) for term in sympy.Add.make_args(rate)}
        linear += [found for found in terms.values() if found is not None]
        rest.append(sympy.Add(*(term for term, found in terms.items() if found is None)))
    return Split(state, tuple(linear), tuple(rest))


def _first_order(equation: Equation) -> dict[str, sympy.Expr]:
    """Field of the state -> its rate, with time derivatives written as fields of their own."""
    names = {
        equation.field(h).diff(coordinate(TIME), m): field(_state_name(h, m), equation.coordinates)
        for h, order in equation.time_orders.items()
        for m in range(1, order)
    }
    rates: dict[str, sympy.Expr] = {}
    for h, right in equation.evolution.items():
        order = equation.time_orders[h]
        for m in range(1, order):
            rates[_state_name(h, m - 1)] = field(_state_name(h, m), equation.coordinates)
        rates[_state_name(h, order - 1)] = sympy.expand(-right.xreplace(names), power_exp=False, log=False)
    return rates


def _state_name(name: str, derivatives: int) -> str:
    return f"{name}_{TIME * derivatives}" if derivatives else name


def _linear_term(row: int, term: sympy.Expr, state: tuple[str, ...]) -> LinearTerm | None:
    atoms = atoms_of(term)
    if len(atoms) != 1:
        return None
    (atom,) = atoms
    coefficient = term.xreplace({atom: sympy.Integer(1)})
    places = {coordinate(name) for name in (TIME, "x", "y", "z")}
    if term != coefficient * atom or coefficient.free_symbols & places:
        return None
    return LinearTerm(row, state.index(field_name(atom)), atom, coefficient)


def _padding(expr: sympy.Expr) -> Fraction:
    atoms = atoms_of(expr)
    if not atoms:
        return Fraction(1)
    dummies = {atom: sympy.Dummy() for atom in atoms}
    flat = expr.xreplace(dummies)
    if not flat.is_polynomial(*dummies.values()):
        return GENERAL_PADDING
    degree = sympy.Poly(flat, *dummies.values()).total_degree()
    return min(Fraction(degree + 1, 2), MAX_PADDING)
