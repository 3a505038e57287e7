"""An equation in words, as it was understood."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hiddenphysics.equation.complex_parts import part_names
from hiddenphysics.equation.expressions import atoms_of, field_name

if TYPE_CHECKING:
    from hiddenphysics.equation.equation import Equation


def explain(equation: Equation) -> str:
    """Several lines: equations, fields, parameters, constants, order, linearity."""
    return "\n".join(
        [
            "Equations",
            *(f"  {line}" for line in equation.statements()),
            "Fields",
            *(f"  {name}: {', '.join(_roles(equation, name))}" for name in equation.fields),
            *_section(
                "Parameters", (f"  {name}{_range(*equation.bounds[name])}" for name in equation.numbers)
            ),
            *_section(
                "Unknown functions", (f"  {one.call}{_range(*one.limits)}" for one in equation.functions)
            ),
            *_section("Constants", (f"  {name} = {value:g}" for name, value in equation.constants.items())),
            f"Coordinates: t, {', '.join(equation.coordinates)}",
            f"Order {equation.order} in space{_beside(equation)}, {max(equation.time_orders.values())} in time",
            *(f"Non-local: {operator}" for operator in equation.fractional),
            "Linear in the fields" if equation.linear else "Nonlinear in the fields",
        ]
    )


def _beside(equation: Equation) -> str:
    return " beside the non-local operators" if equation.fractional else ""


def _section(title: str, lines: Iterator[str]) -> list[str]:
    entries = list(lines)
    return [title, *entries] if entries else []


def _roles(equation: Equation, name: str) -> Iterator[str]:
    potentials = {field_name(atom) for expr in equation.definitions.values() for atom in atoms_of(expr)}
    measured = {part for given in equation.given for part in (given, *equation.complex_fields.get(given, ()))}
    if name in equation.evolution:
        yield "evolving"
    if name in equation.definitions:
        yield "defined by potentials"
    if name in potentials:
        yield "potential"
    told = {*equation.evolution, *equation.definitions, *potentials}
    constraints = equation.system.constraints
    if equation.ties and name in constraints.slaved and name not in told:
        yield "follows from the fields that evolve"
        told.add(name)
    if equation.ties and name in constraints.multipliers:
        yield "keeps the constraints"
        told.add(name)
    if name in measured and name not in told:
        yield "given coefficient"
    for whole in equation.complex_fields:
        if name in part_names(whole):
            yield f"{'real' if name == part_names(whole)[0] else 'imaginary'} part of {whole}"
    if equation.given:
        yield "with data" if name in measured else "hidden (no data)"
    elif name not in told:
        yield "without an equation of its own"


def _range(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f" > {low:g}"
    return f" < {high:g}" if math.isinf(low) else f" between {low:g} and {high:g}"
