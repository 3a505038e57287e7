"""An equation as a first-order system, with every field written in terms of latent processes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation import TIME, Equation, atoms_of, coordinate, field, field_name, slopes
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.forward.atoms import derivative_symbol
from hiddenphysics.operators import Operator, Symbol

ONE = sympy.Integer(1)


def velocity(name: str) -> str:
    """Return the name of a field's time derivative where that is a field of its own: ``u_t``."""
    return f"{name}_{TIME}"


@dataclass(frozen=True)
class System:
    """h_t + N_h = 0 for every field h of the state; an equation of second order in u has u and u_t in its state.

    Attributes
    ----------
    equation
        What was typed.
    observed
        Names of the fields with data, velocities included.
    rates
        Field of the state -> N, with velocities as fields: N_u = −u_t where u_tt is given.
    accelerations
        Field of second order u -> N of its velocity: u_tt = −N.
    representation
        Every unknown field -> the operator on latents that it is: itself, or its definition by potentials.
    """

    equation: Equation
    observed: tuple[str, ...]
    rates: dict[str, sympy.Expr]
    accelerations: dict[str, sympy.Expr]
    representation: dict[str, Operator[sympy.Expr]]

    @classmethod
    def of(cls, equation: Equation, observed: Collection[str]) -> System:
        """Rewrite an equation of first or second order in time, given the fields with data."""
        second = [f for f, order in dict(equation.time_orders).items() if order == 2]
        _check_orders(equation)
        rates: dict[str, sympy.Expr] = {}
        for name, right in dict(equation.evolution).items():
            moved = _with_velocities(right, equation, second)
            if name in second:
                rates |= {name: -field(velocity(name), equation.coordinates), velocity(name): moved}
            else:
                rates[name] = moved
        given = {f for f in observed if f not in rates and f not in dict(equation.definitions)}
        unknown = [f for f in dict.fromkeys((*equation.fields, *rates)) if f not in given]
        system = cls(
            equation=equation,
            observed=tuple(f for f in unknown if f in observed),
            rates=rates,
            accelerations={f: rates[velocity(f)] for f in second},
            representation={f: _in_terms_of_latents(f, equation, second) for f in unknown},
        )
        system._check_observed(observed)
        system._check_definitions()
        return system

    @property
    def unknown(self) -> tuple[str, ...]:
        """Fields that latents stand for; others are known as data and only enter as coefficients."""
        return tuple(self.representation)

    def _check_observed(self, observed: Collection[str]) -> None:
        if not set(self.observed) & set(self.rates):
            raise DataError(
                f"The data hold {', '.join(sorted(observed)) or 'no field'}, but the equation evolves "
                f"{', '.join(dict(self.equation.evolution))}; at least one of those must be measured to see it move."
            )

    def _check_definitions(self) -> None:
        """Refuse a velocity without a potential that carries one that has: u = psi_y alone makes no flow solenoidal."""
        defined = dict(self.equation.definitions)
        for name in defined:
            for atom, slope in slopes(self.rates.get(name, sympy.Integer(0))).items():
                if field_name(atom) not in defined or not isinstance(atom, sympy.Derivative):
                    continue
                carriers = {field_name(a) for a in atoms_of(slope)} & set(self.rates)
                for carrier in sorted(carriers - set(defined)):
                    potential = self.representation[name].latents[0]
                    raise ModelError(
                        f"{name} is defined by the potential {potential}, but {carrier}, which carries it along in "
                        f"{atom}, is not. Define both, as in u = psi_y; v = -psi_x, or neither."
                    )


def _check_orders(equation: Equation) -> None:
    higher = [f for f, order in dict(equation.time_orders).items() if order > 2]
    if higher:
        raise ModelError(
            f"The equation is of order {dict(equation.time_orders)[higher[0]]} in time in {higher[0]}; orders one and "
            f"two are known. Write it with a velocity of its own: {higher[0]}_t = w; …"
        )


def _with_velocities(right: sympy.Expr, equation: Equation, second: Collection[str]) -> sympy.Expr:
    """Write u_t as the field ``u_t``, and u_tx as its derivative."""
    time = coordinate(TIME)
    replaced = {}
    for atom in atoms_of(right):
        counts = dict(atom.variable_count) if isinstance(atom, sympy.Derivative) else {}
        if counts.pop(time, 0) and field_name(atom) in second:
            moving = field(velocity(field_name(atom)), equation.coordinates)
            replaced[atom] = sympy.Derivative(moving, *counts.items()) if counts else moving
    return right.xreplace(replaced)


def _in_terms_of_latents(name: str, equation: Equation, second: Collection[str]) -> Operator[sympy.Expr]:
    """Express a field by latents: itself, or the constant-coefficient operator on potentials that defines it."""
    base = next((f for f in second if name == velocity(f)), name)
    definition = dict(equation.definitions).get(base)
    if definition is None:
        return Operator.of(name, Symbol.identity(len(equation.coordinates)), ONE)
    terms = []
    for term in sympy.Add.make_args(sympy.expand(definition)):
        coefficient, atom = term.as_independent(AppliedUndef, sympy.Derivative)
        potential = field_name(atom) if base == name else velocity(field_name(atom))
        terms.append((potential, derivative_symbol(atom, equation.coordinates), coefficient))
    return Operator.collect(terms)
