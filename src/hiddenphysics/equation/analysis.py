"""From the statements of a text to everything an `Equation` knows.

An equation says how a field evolves; a definition, `u = psi_y`, says how an observed field follows from potentials.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
from hiddenphysics.equation.budget import Budget
from hiddenphysics.equation.complex_parts import part_names
from hiddenphysics.equation.evolution import Evolution, Residual, solve_evolution
from hiddenphysics.equation.expressions import atoms_of, field_name, slopes
from hiddenphysics.equation.lowering import Lowering
from hiddenphysics.equation.names import TIME, coordinate
from hiddenphysics.equation.numbers import constant
from hiddenphysics.equation.source import PlacedError
from hiddenphysics.equation.tree import BoundLine, EquationLine, Line, Name
from hiddenphysics.equation.unknown_functions import Ranges, UnknownFunction, expanded, unknown_functions
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
    functions: tuple[UnknownFunction, ...]


def analyse(
    lines: Sequence[Line],
    given: Sequence[str],
    coordinates: Sequence[str] | None,
    constants: Mapping[str, float],
    bounds: Mapping[str, tuple[float | None, float | None]],
    ranges_of: Ranges,
) -> Analysis:
    """Give every name its role, carry out the algebra, solve for the time derivatives."""
    equations = [line for line in lines if isinstance(line, EquationLine)]
    bound_lines = [line for line in lines if isinstance(line, BoundLine)]
    if not equations:
        raise PlacedError(
            None, "there is no equation in the text; write for example u_t + a*u*u_x - b*u_xx = 0"
        )
    whole = {*constants, *bounds, *bounded_names(bound_lines)}
    words = survey(equations, given, coordinates, whole)
    taken = (*words.fields, *words.parameters, *words.complex_fields)
    functions = unknown_functions(equations, words.fields, taken, ranges_of)
    known = {name: constant(name, value) for name, value in constants.items()}
    lowering, unknown = Lowering(words, known), [one.name for one in functions]
    ranges = combine([*read_bounds(bound_lines, lowering, unknown), *from_keywords(bounds)])
    if functions:
        _check_functions(functions, words, constants)
        functions = tuple(one.within(*ranges.pop(one.name, EVERYTHING)) for one in functions)
        ranges |= {one.coefficients[0]: (0.0, one.width) for one in functions if one.sign}
        equations = [expanded(line, functions) for line in equations]
        whole = (whole - set(unknown)) | {name for one in functions for name in one.coefficients}
        words = survey(equations, given, coordinates, whole)
        bounded = sum(abs(one.sign) for one in functions)
        lowering = Lowering(words, known, Budget.granting(len(functions), bounded))
    _check_constants(constants, words)
    definitions = _definitions(words.definitions, lowering)
    fields = tuple(part for name in words.fields for part in _real_fields(name, words))
    evolution = solve_evolution(_residuals(words, lowering), fields, lowering.budget)
    parameters = tuple(name for name in words.parameters if name not in constants)
    everything = [
        *evolution.right.values(),
        *evolution.mass.values(),
        *evolution.ties,
        *definitions.values(),
    ]
    _check_cancelled(parameters, words, everything)
    _check_bounds(ranges, parameters, constants)
    ranges = within_orders(ranges, everything)
    return Analysis(
        vocabulary=words,
        fields=fields,
        parameters=parameters,
        bounds={name: ranges.get(name, EVERYTHING) for name in parameters},
        definitions=definitions,
        evolution=evolution,
        functions=functions,
    )


def _check_functions(
    functions: Sequence[UnknownFunction], words: Vocabulary, constants: Collection[str]
) -> None:
    """Refuse constants for functions, and functions of complex fields and of coordinates that are not there."""
    for one in functions:
        if one.name in constants:
            raise PlacedError(
                None,
                f"there is a value for {one.name}, an unknown function; type the number instead of {one.call}",
            )
        if one.argument in words.complex_fields:
            raise PlacedError(
                None, f"{one.call} is a function of a complex field; use abs, re or im in a formula"
            )


def _definitions(lines: Sequence[EquationLine], lowering: Lowering) -> dict[str, sympy.Expr]:
    """Field -> expression in potentials, linear with constant coefficients; a complex field gives two."""
    definitions: dict[str, tuple[sympy.Expr, int]] = {}
    for line in lines:
        for name, expr in _definition(line, lowering).items():
            if name in definitions:
                raise PlacedError(line.at, f"{name} is defined twice")
            _check_linear(name, expr, lowering.vocabulary.coordinates, line.at)
            definitions[name] = (expr, line.at)
    for name, (expr, at) in definitions.items():
        chained = {field_name(atom) for atom in atoms_of(expr)} & definitions.keys()
        if chained:
            raise PlacedError(at, f"{name} is defined by {min(chained)}, itself defined: use potentials only")
    return {name: expr for name, (expr, _) in definitions.items()}


def _definition(line: EquationLine, lowering: Lowering) -> dict[str, sympy.Expr]:
    """Read the definition in one line: that of a real field, or those of the two parts of a complex one."""
    if not isinstance(line.left, Name) or line.right is None:
        raise TypeError("internal error: not a definition")
    name, value = line.left.name, lowering.expression(line.right)
    real, imaginary = (lowering.budget.expanded(part, line.at) for part in value)
    if name in lowering.vocabulary.complex_fields:
        re, im = part_names(name)
        return {re: real, im: imaginary}
    if imaginary != 0:
        raise PlacedError(line.right.at, f"{name} is real, this is complex")
    return {name: real}


def _check_linear(name: str, expr: sympy.Expr, coordinates: Sequence[str], at: int) -> None:
    axes = {coordinate(c) for c in (TIME, *coordinates)}
    by_atom = slopes(expr)
    varying = any(atoms_of(slope) or slope.free_symbols & axes for slope in by_atom.values())
    if varying or expr.xreplace(dict.fromkeys(by_atom, sympy.Integer(0))) != 0:
        raise PlacedError(
            at,
            f"the definition of {name} must be linear in other fields, with constant coefficients: u = psi_y",
        )


def _real_fields(name: str, words: Vocabulary) -> tuple[str, ...]:
    return part_names(name) if name in words.complex_fields else (name,)


def _residuals(words: Vocabulary, lowering: Lowering) -> list[Residual]:
    """Real and imaginary part of every equation; parts that vanish by themselves say nothing."""
    residuals = []
    for line in words.equations:
        value = lowering.residual(line)
        both = [lowering.budget.expanded(part, line.at) for part in value]
        if both == [0, 0]:
            raise PlacedError(line.at, "this statement is always true: everything in it cancels out")
        residuals += [Residual(expr, line.at) for expr in both if expr != 0]
    return residuals


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
