"""`System`: an equation as a first-order system in time; its terms, and its constraints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation.constraints import Constraints, with_ties
from hiddenphysics.equation.diffusion import Diffusivity, diffusivities, spread_evenly
from hiddenphysics.equation.divergence_form import Flux, cheapest_fluxes, transforms
from hiddenphysics.equation.expressions import (
    atoms_of,
    degree_in_fields,
    derivative_symbol,
    field_name,
    slopes,
)
from hiddenphysics.equation.names import TIME, coordinate, field
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.operators import Operator, Symbol

if TYPE_CHECKING:
    from hiddenphysics.equation.equation import Equation

GENERAL_PADDING = Fraction(2)
"""Of rests that are no polynomial (sin u, 1/u): no padding is exact, the spectrum's decay must do the rest."""

MAX_PADDING = Fraction(3)
"""Exact up to degree five; beyond that the grids would grow without measure."""

ONE = sympy.Integer(1)


def velocity(name: str, times: int = 1) -> str:
    """Return the name of a field's time derivative where that is a field of its own: ``u_t``, ``u_tt``."""
    return f"{name}_{TIME * times}" if times else name


@dataclass(frozen=True, eq=False)
class System:
    """∂ₜh + N_h = 0 for every field h of the state. Made once by an equation: `Equation.system`.

    Attributes
    ----------
    equation
        What was typed.
    rates
        Field of the state -> N_h. An equation of order p in time has u and its time derivatives below the p-th in
        its state, named ``u_t``, ``u_tt``: N_u = −u_t where u_tt is given.
    """

    equation: Equation
    rates: Mapping[str, sympy.Expr]

    @classmethod
    def of(cls, equation: Equation) -> System:
        """Rewrite an equation with time derivatives as fields of their own."""
        rates: dict[str, sympy.Expr] = {}
        for name, right in equation.evolution.items():
            order = equation.time_orders[name]
            for m in range(1, order):
                rates[velocity(name, m - 1)] = -field(velocity(name, m), equation.coordinates)
            rates[velocity(name, order - 1)] = _with_velocities(right, equation)
        return cls(equation, MappingProxyType(rates))

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the F fields of the state, in order: `u`, or `u` and `u_t`, or `h_re` and `h_im`."""
        return tuple(self.rates)

    @property
    def idle(self) -> tuple[str, ...]:
        """Unknown fields that no equation moves: a pressure, a potential."""
        known = {*self.equation.evolution, *self.inputs}
        return tuple(f for f in self.equation.fields if f not in known)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Fields with data that no statement is about: a measured forcing or velocity, which only enters the others."""
        equation = self.equation
        said = {field_name(atom) for tie in equation.ties for atom in atoms_of(tie)} | set(
            equation.definitions
        )
        said |= {field_name(atom) for expr in equation.definitions.values() for atom in atoms_of(expr)}
        known = said | set(equation.evolution)
        return tuple(f for f in equation.fields if f in equation.given and f not in known)

    def highest(self, name: str) -> str:
        """Return the field of the state whose rate is the highest time derivative of an evolving field."""
        return velocity(name, self.equation.time_orders[name] - 1)

    @property
    def accelerations(self) -> dict[str, sympy.Expr]:
        """Field of second order u -> N of its velocity: u_tt = −N."""
        second = [f for f, order in self.equation.time_orders.items() if order == 2]
        return {f: self.rates[velocity(f)] for f in second}

    @property
    def velocities(self) -> tuple[str, ...]:
        """The names under which data may give time derivatives: `u_t` where the equation holds u_tt."""
        return tuple(velocity(f) for f in self.accelerations)

    def source(self, name: str) -> str:
        """Return the field whose time derivative a field of the state is: u for ``u_t``, ``u_t`` for ``u_tt``."""
        for base, order in self.equation.time_orders.items():
            for m in range(1, order):
                if name == velocity(base, m):
                    return velocity(base, m - 1)
        return name

    def regressed(self, name: str) -> sympy.Expr:
        """Return R in ∂ₜh + R = 0 with all time derivatives but ∂ₜh itself as fields: u_xxt is ∂_x² of ``u_t``."""
        base = next((h for h in self.equation.mass if self.highest(h) == name), None)
        if base is None:
            return self.rates[name]
        mass = self.equation.mass[base]
        if self.equation.time_orders[base] > 1:
            return self.rates[name]
        own = field(base, self.equation.coordinates).diff(coordinate(TIME))
        return self.rates[name] + _with_velocities(mass - own, self.equation)

    # ---- terms: ∂ₜ state = Σ linear + rest --------------------

    @cached_property
    def _split(self) -> tuple[tuple[Operator[sympy.Expr], ...], tuple[sympy.Expr, ...]]:
        linear, rest = [], []
        for rate in self.rates.values():
            terms = sympy.Add.make_args(sympy.expand(-rate, power_exp=False, log=False))
            kept = {term: _linear_term(term, self.equation.coordinates, self.inputs) for term in terms}
            linear.append(Operator.collect(term for term in kept.values() if term is not None))
            rest.append(sympy.Add(*(term for term, operator in kept.items() if operator is None)))
        return tuple(linear), tuple(rest)

    @property
    def linear(self) -> tuple[Operator[sympy.Expr], ...]:
        """For every field of the state the part of −N that is linear with constant coefficients (in parameters)."""
        return self._split[0]

    @property
    def rest(self) -> tuple[sympy.Expr, ...]:
        """For every field of the state the rest of −N: products, variable coefficients, forcing."""
        return self._split[1]

    @property
    def coupled(self) -> bool:
        """Whether the linear part mixes fields, as in Schrödinger's equation and the wave equation.

        What constraints add to that is `Constraints`' business.
        """
        return any(
            latent != name
            for name, operator in zip(self.state, self.linear, strict=True)
            for latent in operator.latents
        )

    @cached_property
    def straight(self) -> bool:
        """Whether the motion is linear in the state: coefficients may vary, products of fields do not occur."""
        return all(degree_in_fields(expr) in (0, 1) for expr in self.rest)

    @cached_property
    def diffuses(self) -> bool:
        """Whether fields spread evenly to all sides: of first order in time, with second derivatives and no first ones.

        What such a field does on one side of a point follows from what it is at that point, a function of time.
        """
        atoms = {atom for rate in self.rates.values() for atom in atoms_of(rate)}
        orders = {
            sum(int(count) for _, count in atom.variable_count) if isinstance(atom, sympy.Derivative) else 0
            for atom in atoms
        }
        plain = not (self.equation.ties or self.equation.definitions or self.equation.mass)
        first = all(order == 1 for order in self.equation.time_orders.values())
        return (
            plain
            and first
            and not self.equation.fractional
            and max(orders, default=0) == 2
            and 1 not in orders
        )

    @cached_property
    def padding(self) -> Fraction:
        """How much finer a grid must be so that products do not alias: (p + 1)/2 for polynomials of degree p.

        Orszag (1971), J. Atmos. Sci. 28, 1074: 3/2 for quadratic terms (the two-thirds rule), 2 for cubic.
        """
        return max((_padding(expr) for expr in self.rest), default=Fraction(1))

    @cached_property
    def fluxes(self) -> tuple[tuple[Flux, ...], ...]:
        """For every field of the state the rest as Σ coefficient · ∂^orders inside, with few Fourier transforms.

        Up to rounding the same numbers as `rest`, where products are padded, see `cheapest_fluxes`, and where no
        diffusivity is negative.
        """
        axes, rests, held = self._axes, list(self.rest), [tuple[Flux, ...]()] * len(self.rest)
        for row, (name, found) in enumerate(zip(self.state, self.diffusivities, strict=True)):
            own = field(name, self.equation.coordinates)
            held[row], rests[row] = spread_evenly(rests[row], own, found, axes)
        written = [tuple(rests)]
        if self.equation.ties:
            written.append(tuple(with_ties(expr, self.equation.ties) for expr in self.rest))
        forms = [cheapest_fluxes(rest, axes, degree=int(2 * self.padding) - 1) for rest in written]
        best = min(forms, key=transforms)
        return tuple((*first, *rest) for first, rest in zip(held, best, strict=True))

    @cached_property
    def diffusivities(self) -> tuple[tuple[Diffusivity, ...], ...]:
        """For every field of the state its diffusivities that depend on fields; see `diffusion`."""
        if self.equation.ties:
            return ((),) * len(self.rates)
        return tuple(diffusivities(name, -rate, self._axes) for name, rate in self.rates.items())

    @property
    def _axes(self) -> tuple[sympy.Symbol, ...]:
        return tuple(coordinate(name) for name in self.equation.coordinates)

    @cached_property
    def flux_atoms(self) -> tuple[sympy.Expr, ...]:
        """Fields and derivatives that the fluxes are computed from, in a fixed order."""
        atoms = {a for fluxes in self.fluxes for flux in fluxes for a in atoms_of(flux.inside)}
        return tuple(sorted(atoms, key=sympy.default_sort_key))

    # ---- constraints: what fields without motion are --------------------

    @cached_property
    def constraints(self) -> Constraints:
        """What ties the fields without a time derivative; whether it can be solved is not yet asked."""
        return Constraints.of(self)

    def latents(self, measured: Collection[str]) -> dict[str, Operator[sympy.Expr]]:
        """Return every unknown field as the operator on latents that it is: itself, or its definition by potentials.

        Fields that are measured and neither move nor are defined are no unknowns: they only enter as coefficients.
        """
        self._check_orders()
        self._check_one_step()
        defined = self.equation.definitions
        given = {f for f in measured if f not in self.rates and f not in defined}
        unknown = [f for f in dict.fromkeys((*self.equation.fields, *self.rates)) if f not in given]
        if not {f for f in unknown if f in measured} & set(self.rates):
            raise DataError(
                f"The data hold {', '.join(sorted(measured)) or 'no field'}, but the equation evolves "
                f"{', '.join(self.equation.evolution)}; at least one of those must be measured to see it move."
            )
        operators = {f: self.by_latents(f) for f in unknown}
        self._check_definitions(operators)
        return operators

    def by_latents(self, name: str) -> Operator[sympy.Expr]:
        """Return a field as the operator on latents that it is."""
        base = next((f for f in self.accelerations if name == velocity(f)), name)
        definition = self.equation.definitions.get(base)
        if definition is None:
            return Operator.of(name, Symbol.identity(len(self.equation.coordinates)), ONE)
        terms = []
        for term in sympy.Add.make_args(sympy.expand(definition)):
            coefficient, atom = term.as_independent(AppliedUndef, sympy.Derivative)
            potential = field_name(atom) if base == name else velocity(field_name(atom))
            terms.append((potential, derivative_symbol(atom, self.equation.coordinates), coefficient))
        return Operator.collect(terms)

    def _check_orders(self) -> None:
        higher = [f for f, order in self.equation.time_orders.items() if order > 2]
        if higher:
            raise ModelError(
                f"The equation is of order {self.equation.time_orders[higher[0]]} in time in {higher[0]}; orders one "
                f"and two are known. Write it with a velocity of its own: {higher[0]}_t = w; …"
            )

    def _check_one_step(self) -> None:
        """Refuse what a step of one gap cannot be made of: it knows potentials, and plain time derivatives."""
        if self.equation.ties:
            raise ModelError(
                f"{self.constraints.shown[0]} has no time derivative; the models of one gap take no such statement. "
                "Define fields by a potential that satisfies it, as in u = psi_y; v = -psi_x, or use model='flow'."
            )
        if self.equation.mass:
            name = next(iter(self.equation.mass))
            raise ModelError(
                f"A time derivative of {name} stands under spatial derivatives; the models of one gap take {name}_t "
                "alone. Use model='flow'."
            )

    def _check_definitions(self, operators: dict[str, Operator[sympy.Expr]]) -> None:
        """Refuse a velocity without a potential that carries one that has: u = psi_y alone makes no flow solenoidal."""
        defined = self.equation.definitions
        for name in defined:
            for atom, slope in slopes(self.rates.get(name, sympy.Integer(0))).items():
                if field_name(atom) not in defined or not isinstance(atom, sympy.Derivative):
                    continue
                carriers = {field_name(a) for a in atoms_of(slope)} & set(self.rates)
                for carrier in sorted(carriers - set(defined)):
                    raise ModelError(
                        f"{name} is defined by the potential {operators[name].latents[0]}, but {carrier}, which "
                        f"carries it along in {atom}, is not. Define both, as in u = psi_y; v = -psi_x, or neither."
                    )


def _with_velocities(right: sympy.Expr, equation: Equation) -> sympy.Expr:
    """Write u_t as the field ``u_t``, and u_tx as its derivative."""
    replaced = {}
    for atom in atoms_of(right):
        counts = dict(atom.variable_count) if isinstance(atom, sympy.Derivative) else {}
        times = int(counts.pop(coordinate(TIME), 0))
        if times:
            moving = field(velocity(field_name(atom), times), equation.coordinates)
            replaced[atom] = sympy.Derivative(moving, *counts.items()) if counts else moving
    return right.xreplace(replaced)


def _linear_term(
    term: sympy.Expr, coordinates: tuple[str, ...], inputs: tuple[str, ...]
) -> tuple[str, Symbol, sympy.Expr] | None:
    """Return a term as (field, symbol, coefficient) where it is linear, with a coefficient that holds no coordinate.

    Inputs are no unknowns: what is linear in them is a forcing.
    """
    atoms = atoms_of(term)
    if len(atoms) != 1:
        return None
    (atom,) = atoms
    coefficient = term.xreplace({atom: ONE})
    places = {coordinate(name) for name in (TIME, "x", "y", "z")}
    if field_name(atom) in inputs or term != coefficient * atom or coefficient.free_symbols & places:
        return None
    return field_name(atom), derivative_symbol(atom, coordinates), coefficient


def _padding(expr: sympy.Expr) -> Fraction:
    degree = degree_in_fields(expr)
    if degree is None:
        return GENERAL_PADDING
    return min(Fraction(max(degree, 1) + 1, 2), MAX_PADDING)
