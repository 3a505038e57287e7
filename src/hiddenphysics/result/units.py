"""The units of parameters, from those of the data: terms that are added have one unit.

Every name has an exponent vector over the names that were measured: t, x, y, z and the fields with data are the basis,
parameters and hidden fields are sought. Each term of ∂ₜᵖh + N = 0 gives one linear equation for the logarithms of the
units, as does each argument of a function, which has none: of `b*u_xx` in `u_t = b*u_xx`,

    [b] + [u] − 2 [x] = [u] − [t],   so   [b] = 2 [x] − [t].

Terms without anything unknown give none: the numbers in them may have units that nobody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any, TypeAlias

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation import TIME, Equation, Fractional, FractionalDerivative
from hiddenphysics.snapshots import Experiments

Exponents: TypeAlias = dict[str, sympy.Rational]
"""A product of powers, by name."""

NONE = ("", "1", "-", "none", "dimensionless")
"""How data say that a number has no unit."""


class Unclear(Exception):  # noqa: N818  # of one term, which then tells nothing
    """A term whose unit is no product of powers, such as u^n."""


def parameter_units(equation: Equation, units: Mapping[str, str]) -> dict[str, str]:
    """Return the unit of every parameter that can be told; nothing without pint.

    Parameters
    ----------
    equation
        The equation.
    units
        Units of the time t, the coordinates and the fields, as text that pint reads, for those that have one.

    Examples
    --------
    >>> heat = Equation.parse("u_t = b*u_xx + c*u", fields=["u"])
    >>> parameter_units(heat, {"t": "min", "x": "cm"})
    {'b': 'cm²/min', 'c': '1/min'}
    """
    # Coefficients of unknown functions carry the unit of the whole, and their arguments none: nothing could be told.
    if not units or not can_tell() or equation.functions:
        return {}
    known = {
        name: unit for name, unit in ((n, _parsed(text)) for n, text in units.items()) if unit is not None
    }
    found, contradictions = _solved(equation)
    if any(not _is_nothing(_product(relation, known)) for relation in contradictions):
        return {}
    told = {name: _product(found[name], known) for name in equation.parameters if name in found}
    return {name: f"{unit:~P}" or "1" for name, unit in told.items() if unit is not None}


def described(runs: Experiments, found: Mapping[str, str]) -> list[str]:
    """Say what was done to the data, and their units; without pint, what would tell those of the parameters."""
    sentences = list(runs.notes)
    if runs.units:
        listed = ", ".join(f"{name} in {unit}" for name, unit in runs.units.items())
        more = (
            ""
            if found or can_tell()
            else ' (pip install "hiddenphysics[units]" tells those of the parameters)'
        )
        sentences.append(f"Units: {listed}{more}.")
    return sentences


def can_tell() -> bool:
    """Whether pint is there."""
    return find_spec("pint") is not None


# ---- exponents --------------------


def _solved(equation: Equation) -> tuple[dict[str, Exponents], list[Exponents]]:
    """Return the exponents of what can be told, and products of measured names that would have to be without a unit."""
    measured = [f for f in equation.fields if f in equation.given]
    basis = [TIME, *equation.coordinates, *measured]
    relations = [r for r in _relations(equation) if set(r) - set(basis)]
    sought = sorted({name for r in relations for name in r} - set(basis))
    if not sought:
        return {}, []
    rows = [[r.get(name, sympy.Integer(0)) for name in (*sought, *basis)] for r in relations]
    reduced, pivots = sympy.Matrix(rows).rref()
    found, contradictions = {}, []
    for k, pivot in enumerate(pivots):
        row = list(reduced.row(k))
        rest = {name: -value for name, value in zip(basis, row[len(sought) :], strict=True) if value}
        if pivot >= len(sought):
            contradictions.append(rest)
        elif not any(row[pivot + 1 : len(sought)]):
            found[sought[pivot]] = rest
    return found, contradictions


def _relations(equation: Equation) -> Iterator[Exponents]:
    """Give products of powers that have no unit."""
    for field, rest in equation.evolution.items():
        rate = {field: sympy.Integer(1), TIME: -sympy.Integer(equation.time_orders[field])}
        yield from _equal(rate, rest)
    for field, expression in equation.definitions.items():
        yield from _equal({field: sympy.Integer(1)}, expression)


def _equal(unit: Exponents, expression: sympy.Expr) -> Iterator[Exponents]:
    """Give what makes every term of an expression have a unit."""
    for term in sympy.Add.make_args(sympy.expand(expression)):
        inner: list[Exponents] = []
        try:
            own = _unit_of(term, inner)
        except Unclear:
            continue
        yield _times(own, unit, -1)
        yield from inner


def _unit_of(expression: sympy.Expr, inner: list[Exponents]) -> Exponents:
    """Return the unit of a term; what its parts demand of each other is added to `inner`."""
    if expression.is_Number or expression is sympy.pi:
        return {}
    if isinstance(expression, sympy.Symbol):
        return {expression.name: sympy.Integer(1)}
    if isinstance(expression, AppliedUndef):
        return {str(expression.func.__name__): sympy.Integer(1)}
    if isinstance(expression, sympy.Derivative):
        orders = {str(variable): -sympy.Integer(count) for variable, count in expression.variable_count}
        return _times(orders, _unit_of(expression.expr, inner))
    if isinstance(expression, Fractional):
        return _fractional(expression, inner)
    if expression.is_Mul:
        total: Exponents = {}
        for factor in expression.args:
            total = _times(total, _unit_of(factor, inner))
        return total
    if expression.is_Pow and expression.exp.is_Rational:
        return _times({}, _unit_of(expression.base, inner), expression.exp)
    if expression.is_Add:
        first, *others = [_unit_of(part, inner) for part in expression.args]
        inner += [_times(other, first, -1) for other in others]
        return first
    if isinstance(expression, sympy.Abs):
        return _unit_of(expression.args[0], inner)
    if isinstance(expression, sympy.sign):
        return {}
    if isinstance(expression, sympy.Function) or (expression.is_Pow and expression.base is sympy.E):
        inner.append(_unit_of(expression.args[-1], inner))
        return {}
    raise Unclear


def _fractional(atom: Fractional, inner: list[Exponents]) -> Exponents:
    if not atom.order.is_number:
        raise Unclear
    along = str(atom.along) if isinstance(atom, FractionalDerivative) else "x"
    return _times(_unit_of(atom.field, inner), {along: -sympy.nsimplify(atom.order)})


def _times(one: Exponents, other: Exponents, power: Any = 1) -> Exponents:
    names = dict.fromkeys((*one, *other))
    product = {
        name: one.get(name, sympy.Integer(0)) + power * other.get(name, sympy.Integer(0)) for name in names
    }
    return {name: exponent for name, exponent in product.items() if exponent}


# ---- pint --------------------


def _parsed(text: str) -> Any:
    """Return pint's unit, also of netCDF's way to write one, "m s-1"; None where pint does not know it."""
    import pint

    registry = pint.get_application_registry()
    if text.strip().lower() in NONE:
        return registry.Unit("")
    try:
        return registry.Unit(re.sub(r"(?<=[A-Za-zµ])(-?\d+)", r"**\1", text.strip()))
    except Exception:  # whatever stands in a file is no reason to lose a fit
        return None


def _product(exponents: Exponents, known: Mapping[str, Any]) -> Any:
    """Return a product of powers of units; None where one of them is not known."""
    import pint

    unit = pint.get_application_registry().Unit("")
    for name, exponent in exponents.items():
        if name not in known:
            return None
        unit = unit * known[name] ** (int(exponent) if exponent.is_Integer else float(exponent))
    return unit


def _is_nothing(unit: Any) -> bool:
    """Whether a product of units is the number 1."""
    return unit is not None and unit.dimensionless and abs((1 * unit).to("").magnitude - 1.0) < 1e-12
