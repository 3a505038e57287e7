"""A quantity made of an equation's fields, such as the vorticity `v_x - u_y`, read by the same grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy

from hiddenphysics.equation.expressions import atoms_of, slopes
from hiddenphysics.equation.grammar import read
from hiddenphysics.equation.lowering import Lowering
from hiddenphysics.equation.names import TIME, is_reserved
from hiddenphysics.equation.numbers import constant
from hiddenphysics.equation.source import PlacedError, Source
from hiddenphysics.equation.tree import EquationLine, Name, walk
from hiddenphysics.equation.vocabulary import Vocabulary
from hiddenphysics.errors import ModelError
from hiddenphysics.registry import did_you_mean


def read_quantity(
    text: str,
    *,
    fields: Sequence[str],
    coordinates: Sequence[str],
    parameters: Sequence[str] = (),
    constants: Mapping[str, float] | None = None,
) -> sympy.Expr:
    """Read an expression in known real fields, coordinates and parameters.

    Parameters
    ----------
    text
        One expression, without `=`; derivatives are written as in an equation.
    fields
        Names that stand for fields; `u_t` among them is the field of that name, not a derivative.
    """
    source = Source(text)
    known = dict(constants or {})
    try:
        tree = _single(read(source))
        words = Vocabulary(
            fields=tuple(fields),
            complex_fields=(),
            parameters=dict.fromkeys((*parameters, *known), 0),
            coordinates=tuple(coordinates),
            whole=frozenset(fields) | frozenset(parameters) | frozenset(known),
            definitions=(),
            equations=(),
        )
        _check_names(tree, words)
        lowering = Lowering(words, {name: constant(name, value) for name, value in known.items()})
        value = lowering.expression(tree.left)
        if not value.is_real:
            raise PlacedError(tree.at, "this is complex; ask for the parts, as in h_re")
        return lowering.budget.expanded(value.re, tree.at)
    except PlacedError as problem:
        raise source.error(problem) from None


def _single(lines: Sequence[object]) -> EquationLine:
    if len(lines) != 1 or not isinstance(lines[0], EquationLine) or lines[0].right is not None:
        raise PlacedError(None, "one expression is needed, without = or ;, such as v_x - u_y")
    return lines[0]


def _check_names(tree: EquationLine, words: Vocabulary) -> None:
    known = (*words.fields, *words.parameters)
    for node in walk(*tree.sides):
        if not isinstance(node, Name):
            continue
        base, letters = words.split(node.name)
        if base not in known and not is_reserved(base):
            hint = did_you_mean(base, known)
            raise PlacedError(
                node.at, f"'{base}' is no field or parameter; known are {', '.join(known)}{hint}"
            )
        wrong = [letter for letter in letters if letter not in words.coordinates]
        if TIME in wrong:
            raise PlacedError(node.at, f"{node.name} is a time derivative; ask for the field at two times")
        if wrong:
            raise PlacedError(node.at, f"the data have no coordinate {wrong[0]}")


def linear_terms(
    text: str, fields: tuple[str, ...], coordinates: tuple[str, ...], parameters: tuple[str, ...]
) -> tuple[dict[sympy.Expr, sympy.Expr], sympy.Expr]:
    """Read an expression of first degree in the fields: field or derivative -> factor, and the constant."""
    expression = read_quantity(text, fields=fields, coordinates=coordinates, parameters=parameters)
    by_atom = slopes(expression)
    if any(atoms_of(slope) for slope in by_atom.values()):
        raise ModelError(
            f"{text!r} is not linear in the fields {', '.join(fields)}; a posterior mean and deviation exist for "
            "linear ones, such as v_x - u_y. Draw samples of the fields, and combine those."
        )
    return by_atom, expression.xreplace(dict.fromkeys(by_atom, sympy.Integer(0)))
