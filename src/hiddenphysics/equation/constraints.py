"""`Constraints`: what ties the fields of a system together without a time derivative, wavenumber by wavenumber."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation.expressions import atoms_of, derivative_symbol, evaluate, field_name, slopes
from hiddenphysics.equation.names import TIME, coordinate, field, parameter
from hiddenphysics.errors import ModelError
from hiddenphysics.operators import Operator, Symbol

if TYPE_CHECKING:
    from hiddenphysics.equation.system import System

SEEDS = (0, 1)
"""Wave vectors drawn at random tell the rank of matrices of polynomials: it is smaller by chance only."""

RANK = 1e-9
"""Singular values of such a matrix, its rows and columns scaled to 1, that are rounding."""


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

    # ---- what is refused --------------------

    def check(self) -> None:
        """Refuse what cannot be solved wavenumber by wavenumber, with a sentence that says why and what to type."""
        for name, rate in self.system.rates.items():
            for atom, slope in slopes(rate).items():
                if field_name(atom) in self.multipliers and (
                    atoms_of(slope) or slope.free_symbols & _places()
                ):
                    self._refuse_factor(field_name(atom), name)
        for seed in SEEDS:
            self._check_ranks(*self._drawn(seed))

    def _drawn(self, seed: int) -> tuple[np.ndarray, Tied]:
        """Return parameters and matrices at a wave vector drawn at random."""
        rng = np.random.default_rng(seed)
        equation = self.system.equation
        k = rng.uniform(0.5, 1.5, len(equation.coordinates)) * rng.choice([-1, 1], len(equation.coordinates))
        numbers = {
            parameter(p): v for p, v in zip(equation.parameters, rng.uniform(0.5, 1.5, 99), strict=False)
        }
        return k, self.at(list(k), numbers, np)

    def _check_ranks(self, k: np.ndarray, tied: Tied) -> None:
        mass, forces = _array(tied.mass), _array(tied.forces, len(tied.mass))
        on_rates, on_slaved = _array(tied.on_rates), _array(tied.on_slaved, len(self.ties))
        count = len(mass)
        if self.ties:
            size = np.abs(on_rates).max()
            on_rates = on_rates - on_slaved @ (np.linalg.pinv(on_slaved) @ on_rates)
            on_rates = np.where(np.abs(on_rates) > RANK * size, on_rates, 0.0)
        else:
            on_rates = np.zeros((0, count))
        enforced = rank(on_rates)
        whole = np.block([
            [mass, forces],
            [on_rates, np.zeros((len(on_rates), forces.shape[1]))],
        ])  # fmt: skip
        if self.multipliers and enforced == 0:
            self._refuse_free()
        if enforced > rank(forces):
            self._refuse_overdetermined()
        if rank(forces) > enforced or len(self.multipliers) > rank(forces):
            self._refuse_free()
        if rank(whole) < count + enforced:
            raise ModelError(
                f"{self._listed} cannot be kept by {', '.join(self.multipliers) or 'any field'}: the equations are "
                "singular, whatever the wavenumber. Check which derivatives stand where: with u_x + v_y = 0 the "
                "momentum equations hold p_x and p_y."
            )
        if self.slaved and rank(on_slaved) < len(self.slaved):
            self._check_gauge(on_slaved)

    def _check_gauge(self, on_slaved: np.ndarray) -> None:
        """Refuse slaved fields that the ties leave open where the motion needs them, unlike a vector potential."""
        used = {field_name(atom) for rate in self.system.rates.values() for atom in atoms_of(rate)}
        for name in self.slaved:
            rest = [j for j, other in enumerate(self.slaved) if other != name]
            if name in used and rank(on_slaved[:, rest]) == rank(on_slaved):
                raise ModelError(
                    f"{self._listed} leave {name} open, and the evolution equations need it. Add a statement that "
                    f"determines {name}, such as lap({name}) = -w, or an equation for {name}_t."
                )

    @property
    def _listed(self) -> str:
        return "; ".join(self.shown)

    def _refuse_factor(self, name: str, row: str) -> None:
        raise ModelError(
            f"{name} has no time derivative and stands in no statement of its own, so it is what keeps "
            f"{self._listed or 'nothing'}; as such it must enter linearly and with constant coefficients, which it "
            f"does not in the equation of {row}. Divide that equation by what multiplies {name}, or write an equation "
            f"for {name}_t."
        )

    def _refuse_free(self) -> None:
        names = ", ".join(self.multipliers)
        raise ModelError(
            f"The equation gives no time derivative of {names}, and no statement that {names} could keep: nothing "
            f"determines {'it' if len(self.multipliers) == 1 else 'them'}. Add such a statement, as u_x + v_y = 0 "
            f"for a pressure, or write an equation for {self.multipliers[0]}_t."
        )

    def _refuse_overdetermined(self) -> None:
        able = ", ".join(self.multipliers)
        by = f"only {able} could keep it" if able else "no field without a time derivative could keep it"
        raise ModelError(
            f"{self._listed} ties fields together that the evolution equations move already, and {by}: the system is "
            "over-determined. Add the gradient of a pressure, as + p_x and + p_y with u_x + v_y = 0, or drop the "
            "statement."
        )


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


def rank(matrix: np.ndarray) -> int:
    """Return the rank of a matrix whose rows and columns may be of very different size."""
    if not matrix.size:
        return 0
    for axis in (1, 0, 1):
        size = np.abs(matrix).max(axis=axis, keepdims=True)
        matrix = matrix / np.where(size > 0, size, 1.0)
    return int(np.sum(np.linalg.svd(matrix, compute_uv=False) > RANK))


def _array(entries: list[list[Any]], rows: int = 0) -> np.ndarray:
    """Return a matrix of numbers, of so many rows where it has no column."""
    return (
        np.array(entries, complex) if entries and entries[0] else np.zeros((rows or len(entries), 0), complex)
    )


def _places() -> set[sympy.Expr]:
    return {coordinate(name) for name in (TIME, "x", "y", "z")}


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
