"""From the tree to everything an `Equation` knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy

from hiddenphysics.equation.bounds import (
    EVERYTHING,
    Range,
    bounded_names,
    combine,
    from_keywords,
    read_bounds,
    within_orders,
)
from hiddenphysics.equation.definitions import read_definitions
from hiddenphysics.equation.evolution import Evolution, Residual, solve_evolution
from hiddenphysics.equation.lower import Lowering
from hiddenphysics.equation.names import parts
from hiddenphysics.equation.numbers import constant
from hiddenphysics.equation.source import PlacedError
from hiddenphysics.equation.tree import BoundLine, EquationLine, Line
from hiddenphysics.equation.vocabulary import Vocabulary, survey
from hiddenphysics.registry import did_you_mean


@dataclass(frozen=True)
class Analysis:
    """What the statements mean together."""

    vocabulary: Vocabulary
    fields: tuple[str, ...]
    parameters: tuple[str, ...]
    bounds: dict[str, Range]
    definitions: dict[str, sympy.Expr]
    evolution: Evolution


def analyse(
    lines: Sequence[Line],
    given: Sequence[str],
    coordinates: Sequence[str] | None,
    constants: Mapping[str, float],
    bounds: Mapping[str, tuple[float | None, float | None]],
) -> Analysis:
    """Give every name its role, carry out the algebra, solve for the time derivatives."""
    equations = [line for line in lines if isinstance(line, EquationLine)]
    limits = [line for line in lines if isinstance(line, BoundLine)]
    if not equations:
        raise PlacedError(
            None, "there is no equation in the text; write for example u_t + a*u*u_x - b*u_xx = 0"
        )
    words = survey(equations, given, coordinates, {*constants, *bounds, *bounded_names(limits)})
    lowering = Lowering(words, {name: constant(name, value) for name, value in constants.items()})
    _check_constants(constants, words)
    definitions = read_definitions(words.definitions, lowering)
    fields = tuple(part for name in words.fields for part in _real_fields(name, words))
    evolution = solve_evolution(_residuals(words, lowering), fields, lowering.budget)
    parameters = tuple(name for name in words.parameters if name not in constants)
    _check_cancelled(parameters, words, [*evolution.right.values(), *definitions.values()])
    ranges = combine([*read_bounds(limits, lowering), *from_keywords(bounds)])
    _check_bounds(ranges, parameters, constants)
    ranges = within_orders(ranges, [*evolution.right.values(), *definitions.values()])
    return Analysis(
        vocabulary=words,
        fields=fields,
        parameters=parameters,
        bounds={name: ranges.get(name, EVERYTHING) for name in parameters},
        definitions=definitions,
        evolution=evolution,
    )


def _real_fields(name: str, words: Vocabulary) -> tuple[str, ...]:
    return parts(name) if name in words.complex_fields else (name,)


def _residuals(words: Vocabulary, lowering: Lowering) -> list[Residual]:
    """Real and imaginary part of every equation; parts that vanish by themselves say nothing."""
    found = []
    for line in words.equations:
        value = lowering.residual(line)
        both = [lowering.budget.expanded(part, line.at) for part in value]
        if both == [0, 0]:
            raise PlacedError(line.at, "this statement is always true: everything in it cancels out")
        found += [Residual(expr, line.at) for expr in both if expr != 0]
    return found


def _check_constants(constants: Mapping[str, float], words: Vocabulary) -> None:
    for name in constants:
        if name in words.fields:
            raise PlacedError(None, f"the constant '{name}' is a field of the equation")
        if name not in words.parameters:
            hint = did_you_mean(name, words.parameters)
            raise PlacedError(None, f"the constant '{name}' does not appear in the equation{hint}")


def _check_cancelled(parameters: Sequence[str], words: Vocabulary, exprs: Sequence[sympy.Expr]) -> None:
    seen = {symbol.name for expr in exprs for symbol in expr.free_symbols}
    for name in parameters:
        if name not in seen:
            raise PlacedError(
                words.parameters[name],
                f"parameter {name} cancels out of the equation: no data can determine it",
            )


def _check_bounds(
    ranges: Mapping[str, Range], parameters: Sequence[str], constants: Mapping[str, float]
) -> None:
    for name, (low, high) in ranges.items():
        if name in constants:
            if not low <= constants[name] <= high:
                raise PlacedError(
                    None, f"the constant {name} = {constants[name]:g} is outside {low:g} to {high:g}"
                )
        elif name not in parameters:
            hint = did_you_mean(name, parameters)
            raise PlacedError(
                None, f"there is a bound for '{name}', which is no parameter of the equation{hint}"
            )
