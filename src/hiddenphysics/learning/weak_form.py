"""The weak form of an equation: derivatives stand in front of products, from where they pass to a test function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import product
from math import comb, prod

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation import (
    TIME,
    Equation,
    Fractional,
    atoms_of,
    coordinate,
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

        Such are u_x², advection by two fields with different coefficients, functions of derivatives, fractional
        operators, and parameters inside a function of place. A function of a field that is no polynomial has no
        unbiased form in noisy values and is not taken either.
        """
        unknown = {parameter(name) for name in equation.parameters}
        numbers: dict[Integrand, int] = {}
        equations = []
        for name, rate in equation.evolution.items():
            if not rate.free_symbols & unknown:
                continue
            order = (equation.time_orders[name], *(0 for _ in equation.coordinates))
            motion = Integrand(order, field(name, equation.coordinates))
            terms = _in_front(rate, equation.coordinates)
            if terms is None or name not in measured:
                return None
            coefficients: dict[int, sympy.Expr] = defaultdict(lambda: sympy.Integer(0))
            for coefficient, integrand in [(sympy.Integer(1), motion), *terms]:
                coefficients[numbers.setdefault(integrand, len(numbers))] += coefficient
            equations.append(dict(coefficients))
        held = {field_name(atom) for integrand in numbers for atom in atoms_of(integrand.inside)}
        found = {s for coefficients in equations for c in coefficients.values() for s in c.free_symbols}
        return cls(tuple(numbers), tuple(equations)) if unknown <= found and held <= set(measured) else None


@dataclass(frozen=True)
class _Kind:
    """What terms share that can be one derivative of one product."""

    coefficient: sympy.Expr
    factor: sympy.Expr
    orders: tuple[int, ...]
    product: sympy.Expr


def _in_front(rate: sympy.Expr, coordinates: tuple[str, ...]) -> list[tuple[sympy.Expr, Integrand]] | None:
    """Return N as Σ c(λ) · integrand.

    Terms with the same number of derivatives along each axis and of the same degree in each field can only be parts
    of one derivative, ∂^orders Π u_i^k_i: they are, where they stand in the ratios of its product rule.
    """
    axes = tuple(coordinate(name) for name in (TIME, *coordinates))
    kinds: dict[_Kind, sympy.Expr] = defaultdict(lambda: sympy.Integer(0))
    for term in sympy.Add.make_args(sympy.expand(rate, power_exp=False, log=False)):
        kind = _kind(term, axes)
        if kind is None:
            return None
        kinds[kind] += term / (kind.coefficient * kind.factor)
    insides: dict[tuple[sympy.Expr, tuple[int, ...]], sympy.Expr] = defaultdict(lambda: sympy.Integer(0))
    for kind, terms in kinds.items():
        share = _share(terms, kind, axes)
        if share is None:
            return None
        for orders, known in _around(kind.factor, kind.orders, axes):
            insides[kind.coefficient, orders] += share * known * kind.product
    multiplied = {key: sympy.expand(inside, power_exp=False) for key, inside in insides.items()}
    return [(coefficient, Integrand(orders, e)) for (coefficient, orders), e in multiplied.items() if e != 0]


def _kind(term: sympy.Expr, axes: tuple[sympy.Symbol, ...]) -> _Kind | None:
    """Return the kind of a product of powers of atoms; None of anything else."""
    constant, moving = term.as_independent(*axes, as_Add=False)
    _, coefficient = constant.as_coeff_Mul()
    factor, orders, whole = sympy.Integer(1), (0,) * len(axes), sympy.Integer(1)
    for part in sympy.Mul.make_args(moving):
        if not atoms_of(part):
            factor *= part
            continue
        atom, power = part.as_base_exp()
        if not isinstance(atom, AppliedUndef | sympy.Derivative) or isinstance(atom, Fractional):
            return None
        if not (power.is_Integer and power > 0):
            return None
        counts = dict(atom.variable_count) if isinstance(atom, sympy.Derivative) else {}
        orders = tuple(
            n + int(power) * int(counts.get(axis, 0)) for n, axis in zip(orders, axes, strict=True)
        )
        whole *= (atom.expr if isinstance(atom, sympy.Derivative) else atom) ** power
    return None if factor.free_symbols - set(axes) else _Kind(coefficient, factor, orders, whole)


def _share(terms: sympy.Expr, kind: _Kind, axes: tuple[sympy.Symbol, ...]) -> sympy.Expr | None:
    """Return s with terms = s ∂^orders product, None where there is no such number."""
    steps = [(axis, n) for axis, n in zip(axes, kind.orders, strict=True) if n]
    whole = sympy.expand(sympy.diff(kind.product, *steps) if steps else kind.product)
    ours, theirs = (sympy.expand(e).as_coefficients_dict() for e in (terms, whole))
    shares = {ours[monomial] / number for monomial, number in theirs.items()}
    return shares.pop() if len(shares) == 1 and set(ours) <= set(theirs) else None


def _around(
    factor: sympy.Expr, orders: tuple[int, ...], axes: tuple[sympy.Symbol, ...]
) -> Iterator[tuple[tuple[int, ...], sympy.Expr]]:
    """Yield α − β and its known function in g ∂^α m = Σ_β (−1)^|β| (α over β) ∂^(α−β) (∂^β g · m), for all β.

    Leibniz's rule, backwards; where g is a constant, g itself is all there is.
    """
    for moved in product(*(range(n + 1) for n in orders)):
        steps = [(axis, n) for axis, n in zip(axes, moved, strict=True) if n]
        slope = sympy.diff(factor, *steps) if steps else factor
        if slope != 0:
            number = (-1) ** sum(moved) * prod(comb(n, k) for n, k in zip(orders, moved, strict=True))
            yield tuple(n - k for n, k in zip(orders, moved, strict=True)), number * slope
