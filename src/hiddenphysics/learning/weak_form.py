"""The weak form of an equation: derivatives stand in front of products, from where they pass to a test function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

import sympy

from hiddenphysics.equation import (
    TIME,
    Equation,
    atoms_of,
    coordinate,
    divergence_form,
    field,
    field_name,
    parameter,
)


@dataclass(frozen=True)
class Integrand:
    """∂^orders inside, which ∫ φ … turns into (−1)^|orders| ∫ ∂^orders φ · inside.

    Attributes
    ----------
    orders
        Of differentiation along time and every coordinate, (1 + D,).
    inside
        A polynomial in measured fields, none of them differentiated; its coefficients may be known functions of time
        and place.
    """

    orders: tuple[int, ...]
    inside: sympy.Expr


@dataclass(frozen=True)
class WeakForm:
    """Σ_q c_q(λ) ∂^orders_q inside_q = 0, for every evolving field.

    Attributes
    ----------
    integrands
        All Q of them, those of several equations once.
    equations
        For every equation that holds a parameter: number of an integrand -> c_q, in the parameters alone.
    """

    integrands: tuple[Integrand, ...]
    equations: tuple[dict[int, sympy.Expr], ...]

    @classmethod
    def of(cls, equation: Equation, measured: Collection[str]) -> WeakForm | None:
        """Return the weak form in fields that are measured; None where some derivative cannot leave its product.

        Which can, `divergence_form` knows. A function of a field that is no polynomial has no unbiased form in noisy
        values and is not taken either.
        """
        axes = tuple(coordinate(name) for name in (TIME, *equation.coordinates))
        unknown = {parameter(name) for name in equation.parameters}
        if equation.mass:
            return None
        numbers: dict[Integrand, int] = {}
        equations = []
        for name, rate in equation.evolution.items():
            if not rate.free_symbols & unknown:
                continue
            order = (equation.time_orders[name], *(0 for _ in equation.coordinates))
            motion = Integrand(order, field(name, equation.coordinates))
            fluxes, left = divergence_form(rate, axes)
            if left != 0 or name not in measured:
                return None
            coefficients: dict[int, sympy.Expr] = defaultdict(lambda: sympy.Integer(0))
            terms = [(flux.coefficient, Integrand(flux.orders, flux.inside)) for flux in fluxes]
            for coefficient, integrand in [(sympy.Integer(1), motion), *terms]:
                coefficients[numbers.setdefault(integrand, len(numbers))] += coefficient
            equations.append(dict(coefficients))
        held = {field_name(atom) for integrand in numbers for atom in atoms_of(integrand.inside)}
        found = {s for coefficients in equations for c in coefficients.values() for s in c.free_symbols}
        return cls(tuple(numbers), tuple(equations)) if unknown <= found and held <= set(measured) else None
