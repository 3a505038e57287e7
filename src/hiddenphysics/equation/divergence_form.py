"""The divergence form of terms: derivatives stand in front of products of fields, u u_x as ∂_x (u²/2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product, repeat
from math import comb, prod

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation.expressions import atoms_of, degree_in_fields
from hiddenphysics.equation.fractional_operators import Fractional

Axes = tuple[sympy.Symbol, ...]
Orders = tuple[int, ...]
Place = tuple[int, Orders]
"""Number of an expression, and the orders of a derivative in front of some of its terms."""

NONE = sympy.Integer(0)
ONE = sympy.Integer(1)


@dataclass(frozen=True)
class Flux:
    """coefficient · ∂^orders inside.

    Attributes
    ----------
    coefficient
        Depends on no axis.
    orders
        Of differentiation along every axis.
    inside
        An expression in fields; where `divergence_form` made it, a polynomial in fields none of which is
        differentiated, with coefficients that may be known functions of the axes.
    """

    coefficient: sympy.Expr
    orders: Orders
    inside: sympy.Expr


def divergence_form(expr: sympy.Expr, axes: Axes) -> tuple[tuple[Flux, ...], sympy.Expr]:
    """Write an expression as Σ coefficient · ∂^orders inside, and what cannot be written so.

    Terms with the same number of derivatives along each axis and of the same degree in each field can only be parts
    of one derivative, ∂^orders Π u_i^k_i: they are, where they stand in the ratios of its product rule. No such
    parts are u_x², advection by two fields with different coefficients, functions of fields that are no polynomials,
    fractional operators, and parameters inside a function of the axes.

    Examples
    --------
    >>> from hiddenphysics.equation import Equation, coordinate
    >>> rate = Equation.parse("u_t + a*u*u_x + u_x^2 = 0").evolution["u"]
    >>> fluxes, left = divergence_form(rate, (coordinate("x"),))
    >>> [(str(flux.coefficient), flux.orders, str(flux.inside)) for flux in fluxes]
    [('a', (1,), 'u(t, x)**2/2')]
    >>> left
    Derivative(u(t, x), x)**2
    """
    kinds: dict[_Kind, sympy.Expr] = defaultdict(lambda: NONE)
    left = NONE
    for term in sympy.Add.make_args(sympy.expand(expr, power_exp=False, log=False)):
        kind = _kind(term, axes)
        if kind is None:
            left += term
        else:
            kinds[kind] += term / (kind.coefficient * kind.factor)
    insides: dict[tuple[sympy.Expr, Orders], sympy.Expr] = defaultdict(lambda: NONE)
    for kind, terms in kinds.items():
        share = _share(terms, kind, axes)
        if share is None:
            left += sympy.expand(kind.coefficient * kind.factor * terms, power_exp=False, log=False)
            continue
        for orders, known in _around(kind.factor, kind.orders, axes):
            insides[kind.coefficient, orders] += share * known * kind.product
    multiplied = {key: sympy.expand(inside, power_exp=False) for key, inside in insides.items()}
    fluxes = (Flux(coefficient, orders, e) for (coefficient, orders), e in multiplied.items() if e != 0)
    return tuple(fluxes), left


@dataclass(frozen=True)
class _Kind:
    """What terms share that can be one derivative of one product."""

    coefficient: sympy.Expr
    factor: sympy.Expr
    orders: Orders
    product: sympy.Expr


def _kind(term: sympy.Expr, axes: Axes) -> _Kind | None:
    """Return the kind of a product of powers of atoms; None of anything else."""
    constant, moving = term.as_independent(*axes, as_Add=False)
    _, coefficient = constant.as_coeff_Mul()
    factor, orders, whole = ONE, (0,) * len(axes), ONE
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


def _share(terms: sympy.Expr, kind: _Kind, axes: Axes) -> sympy.Expr | None:
    """Return s with terms = s ∂^orders product, None where there is no such number."""
    ours = sympy.expand(terms).as_coefficients_dict()
    whole = kind.product
    for axis in _one_by_one(kind.orders, axes):
        whole = sympy.expand(sympy.diff(whole, axis))
        # No further derivative has fewer terms; u_xxyy^4 alone would have to be compared with thousands.
        if len(sympy.Add.make_args(whole)) > len(ours):
            return None
    theirs = whole.as_coefficients_dict()
    shares = {ours[monomial] / number for monomial, number in theirs.items()}
    return shares.pop() if len(shares) == 1 and set(ours) <= set(theirs) else None


def _one_by_one(orders: Orders, axes: Axes) -> Iterator[sympy.Symbol]:
    for axis, n in zip(axes, orders, strict=True):
        yield from repeat(axis, n)


def _around(factor: sympy.Expr, orders: Orders, axes: Axes) -> Iterator[tuple[Orders, sympy.Expr]]:
    """Yield α − β and its known function in g ∂^α m = Σ_β (−1)^|β| (α over β) ∂^(α−β) (∂^β g · m), for all β.

    Leibniz's rule, backwards; where g is a constant, g itself is all there is.
    """
    for moved in product(*(range(n + 1) for n in orders)):
        slope = reduce(sympy.diff, _one_by_one(moved, axes), factor)
        if slope != 0:
            number = (-1) ** sum(moved) * prod(comb(n, k) for n, k in zip(orders, moved, strict=True))
            yield tuple(n - k for n, k in zip(orders, moved, strict=True)), number * slope


# ---- with few Fourier transforms --------------------


def cheapest_fluxes(
    expressions: Sequence[sympy.Expr], axes: Axes, degree: int
) -> tuple[tuple[Flux, ...], ...]:
    """Write every expression as a sum of fluxes that takes few Fourier transforms to compute from modes.

    Every field or derivative inside is a transform, and so is every product: u u_x takes three, ∂_x (u²/2) two, for
    the derivative of a product is a multiplication of its modes. Derivatives come to the front only where that saves
    transforms. From all in front, those go back whose return saves most, one after the other: never worse than none
    in front, not always the best of all choices.

    Parameters
    ----------
    expressions
        Multiplied out.
    axes
        The coordinates.
    degree
        The highest degree in the fields up to which the caller's products do not alias: beyond it, and with known
        functions of place, the two forms differ by the truncation, and the terms stay as they were typed.

    Examples
    --------
    >>> from hiddenphysics.equation import Equation
    >>> Equation.parse("u_t + a*u*u_x = 0").system.fluxes
    ((Flux(coefficient=-a/2, orders=(1,), inside=u(t, x)**2),),)
    """
    stay: list[sympy.Expr] = []
    front: dict[Place, sympy.Expr] = defaultdict(lambda: NONE)
    for row, expr in enumerate(expressions):
        placed = sympy.Add(*(term for term in sympy.Add.make_args(expr) if _factor_of_place(term, axes)))
        fluxes, left = divergence_form(expr - placed, axes)
        stay.append(placed + left)
        for flux in fluxes:
            held = degree_in_fields(flux.inside)
            whole = flux.coefficient * flux.inside
            if any(flux.orders) and held is not None and held <= degree:
                front[row, flux.orders] += whole
            else:
                stay[row] += _multiplied_out(whole, flux.orders, axes)
    back = {place: _multiplied_out(inside, place[1], axes) for place, inside in front.items()}

    def arranged(places: tuple[Place, ...]) -> tuple[tuple[Flux, ...], ...]:
        plain = [
            sympy.Add(expr, *(e for place, e in back.items() if place[0] == row and place not in places))
            for row, expr in enumerate(stay)
        ]
        return _gathered(plain, {place: front[place] for place in places}, axes)

    def cost(places: tuple[Place, ...]) -> int:
        return transforms(arranged(places))

    chosen = tuple(front)
    while chosen:
        fewer = min((tuple(p for p in chosen if p != place) for place in chosen), key=cost)
        if cost(fewer) >= cost(chosen):
            break
        chosen = fewer
    return arranged(min((), chosen, key=cost))


def _factor_of_place(term: sympy.Expr, axes: Axes) -> bool:
    """Whether a term holds a coordinate outside its fields, as in cos(x) u."""
    return bool(term.xreplace(dict.fromkeys(atoms_of(term), ONE)).free_symbols & set(axes))


def _multiplied_out(inside: sympy.Expr, orders: Orders, axes: Axes) -> sympy.Expr:
    for axis in _one_by_one(orders, axes):
        inside = sympy.expand(sympy.diff(inside, axis), power_exp=False, log=False)
    return sympy.expand(inside, power_exp=False, log=False)


def _gathered(
    stay: Sequence[sympy.Expr], front: Mapping[Place, sympy.Expr], axes: Axes
) -> tuple[tuple[Flux, ...], ...]:
    """Return the fluxes of every row, what is constant outside, so that equal products are seen to be equal."""
    rows: list[list[Flux]] = [[] for _ in stay]
    plain = {(row, (0,) * len(axes)): expr for row, expr in enumerate(stay) if expr != 0}
    for (row, orders), expr in [*plain.items(), *front.items()]:
        coefficient, inside = expr.as_independent(*axes, as_Add=False)
        rows[row].append(Flux(coefficient, orders, inside))
    return tuple(map(tuple, rows))


def transforms(rows: tuple[tuple[Flux, ...], ...]) -> int:
    """Count the Fourier transforms that rows of fluxes take: one for every product, and for every atom in one."""
    insides = {flux.inside for fluxes in rows for flux in fluxes}
    return len(insides) + len({atom for inside in insides for atom in atoms_of(inside)})
