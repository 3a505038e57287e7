"""`Constraints`: what ties the fields of a system together without a time derivative, wavenumber by wavenumber."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation.expressions import atoms_of, derivative_symbol, evaluate, field_name, slopes
from hiddenphysics.equation.names import field
from hiddenphysics.operators import Operator, Symbol

if TYPE_CHECKING:
    from hiddenphysics.equation.system import System


class Tied(NamedTuple):
    """The matrices of a constrained system at wave vectors; each entry is an array over these, or a number.

    Σ mass ∂ₜh + forces q_m + N = 0, and on_state h + on_slaved q_s = 0, for the F fields h of the state, the
    multipliers q_m that stand in no tie, and the slaved fields q_s that the ties tell from the state.

    Attributes
    ----------
    mass, forces
        F rows of F and Q entries.
    on_state, on_rates
        C rows of F entries: the ties of the fields themselves, and of their highest time derivatives.
    on_slaved
        C rows of S entries.
    """

    mass: list[list[Any]]
    forces: list[list[Any]]
    on_state: list[list[Any]]
    on_rates: list[list[Any]]
    on_slaved: list[list[Any]]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Ties, multipliers and masses of a system, as operators with constant coefficients.

    Attributes
    ----------
    system
        What they belong to.
    slaved
        Fields that the ties tell from the state: psi in lap(psi) = -w.
    multipliers
        Fields that stand in no tie, and act so that the ties hold: p in p_x, p_y with u_x + v_y = 0.
    ties
        What vanishes, on fields of the state and slaved ones.
    shown
        The ties as they can be typed.
    mass
        For every field of the state what stands in place of its time derivative.
    """

    system: System
    slaved: tuple[str, ...]
    multipliers: tuple[str, ...]
    ties: tuple[Operator[sympy.Expr], ...]
    shown: tuple[str, ...]
    mass: tuple[Operator[sympy.Expr], ...]

    @classmethod
    def of(cls, system: System) -> Constraints:
        """Gather what an equation says without time derivatives, definitions by potentials among it; refuse nothing."""
        equation = system.equation
        defined = {h: field(h, equation.coordinates) - e for h, e in equation.definitions.items()}
        exprs = (*equation.ties, *defined.values())
        tied = {field_name(atom) for expr in exprs for atom in atoms_of(expr)}
        statements = equation.statements()[len(equation.evolution) :]
        return cls(
            system,
            tuple(name for name in system.idle if name in tied),
            tuple(name for name in system.idle if name not in tied),
            tuple(_operator(expr, equation.coordinates) for expr in exprs),
            tuple(statements),
            tuple(_mass(system, name) for name in system.state),
        )

    @property
    def trivial(self) -> bool:
        """Whether every field evolves by itself, tied to none."""
        return not (self.ties or self.system.idle or self.system.equation.mass)

    # ---- the matrices --------------------

    def at(self, wavenumbers: Sequence[Any], numbers: Mapping[sympy.Expr, Any], xp: Any) -> Tied:
        """Return the matrices at wave vectors, k_d along each coordinate, and at parameters; both may be traced."""

        def entries(operators: Iterable[Operator[sympy.Expr]], names: Sequence[str]) -> list[list[Any]]:
            return [[wave_sum(o.only(name), wavenumbers, numbers, xp) for name in names] for o in operators]

        state = self.system.state
        forces = [o.map(lambda c: -c) for o in self.system.linear]
        on_fields = entries(self.ties, state)
        return Tied(
            entries(self.mass, state),
            entries(forces, self.multipliers),
            on_fields,
            [[row[state.index(base)] if base else 0.0 for base in self._bases] for row in on_fields],
            entries(self.ties, self.slaved),
        )

    @property
    def _bases(self) -> list[str]:
        """For every field of the state the one whose highest time derivative its rate is; empty where it is none's."""
        tops = {self.system.highest(h): h for h in self.system.equation.evolution}
        return [tops.get(name, "") for name in self.system.state]


def wave_sum(
    operator: Operator[sympy.Expr], wavenumbers: Sequence[Any], numbers: Mapping[sympy.Expr, Any], xp: Any
) -> Any:
    """Return Σ c τ(k) over the terms of an operator."""

    def number(expr: sympy.Expr) -> Any:
        return evaluate(expr, numbers, xp)

    return sum(
        (number(c) * symbol.evaluate(number).at(wavenumbers, xp) for _, symbol, c in operator), start=0.0
    )


def with_ties(expr: sympy.Expr, ties: Iterable[sympy.Expr]) -> sympy.Expr:
    """Return an expression to which multiples of what vanishes are added, so that it may be a divergence.

    u u_x + v u_y, where u_x + v_y vanishes, becomes 2 u u_x + v u_y + u v_y = ∂_x u² + ∂_y (u v): fewer Fourier
    transforms, the same numbers.
    """
    for tie in ties:
        for carried in sorted(expr.atoms(AppliedUndef), key=sympy.default_sort_key):
            for atom, slope in sorted(slopes(tie).items(), key=lambda item: str(item[0])):
                factor = expr.coeff(carried * atom)
                if factor != 0 and not atoms_of(factor):
                    expr = sympy.expand(expr + factor / slope * carried * tie, power_exp=False, log=False)
                    break
    return expr


def _operator(expr: sympy.Expr, coordinates: tuple[str, ...]) -> Operator[sympy.Expr]:
    """Return an expression that is linear in the fields with constant coefficients as an operator on these."""
    return Operator.collect(
        (field_name(atom), derivative_symbol(atom, coordinates), slope)
        for atom, slope in slopes(expr).items()
    )


def _mass(system: System, name: str) -> Operator[sympy.Expr]:
    """Return what stands in place of the time derivative of a field of the state, on the rates of the state."""
    equation = system.equation
    base = next((h for h in equation.evolution if system.highest(h) == name), None)
    if base is None or base not in equation.mass:
        return Operator.of(name, Symbol.identity(len(equation.coordinates)), sympy.Integer(1))
    return Operator.collect(
        (system.highest(field_name(atom)), derivative_symbol(atom, equation.coordinates), slope)
        for atom, slope in slopes(equation.mass[base]).items()
    )
