"""An equation while it is typed: as MathML, which browsers draw by themselves, or the sentence about a mistake."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hiddenphysics.equation import Equation
from hiddenphysics.errors import EquationError

FACTORS = re.compile(r"(?<=[\w})|]) (?=[\w\\(])")
"""The blank between two factors: browsers drop it, and a u u_x reads as one word."""


@dataclass(frozen=True)
class Typeset:
    """What became of a text.

    Attributes
    ----------
    formula
        MathML, empty where the text was not understood.
    mistake
        What is wrong, on its last two lines the place with a caret under it; empty where nothing is.
    fields, unknowns
        The names that the equation has for fields and for what is sought.
    """

    formula: str = ""
    mistake: str = ""
    fields: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()


def typeset(
    text: str, *, fields: Collection[str] = (), constants: Mapping[str, float] | None = None
) -> Typeset:
    """Read an equation; names among `fields` have data, whatever they look like."""
    try:
        equation = Equation.parse(text, constants=constants)
        data = tuple(name for name in fields if name in equation.parameters)
        if data:
            equation = Equation.parse(text, fields=data, constants=constants)
    except EquationError as problem:
        return Typeset(mistake=str(problem))
    pairs = equation.complex_fields
    real = [name for name in equation.fields if not any(name in parts for parts in pairs.values())]
    sought = (*equation.numbers, *(function.call for function in equation.functions))
    return Typeset(mathml(equation.latex()), "", (*real, *pairs), sought)


def mathml(latex: str) -> str:
    """Turn LaTeX of our own making into MathML."""
    from latex2mathml.converter import convert

    spaced = FACTORS.sub(r"\\, ", latex)
    return "\n".join(convert(line, display="block") for line in spaced.splitlines())


def matched(fields: Sequence[str], columns: Sequence[str], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each field that has one; empty where `identify` finds them by itself.

    Parameters
    ----------
    fields, columns
        The equation's fields, and the data's.
    chosen
        What the user has chosen for some fields, a column or an empty word for none; others get the column of their
        name.
    """
    if set(fields) == set(columns) or len(fields) == len(columns) == 1:
        usual = {name: name if name in columns else columns[0] for name in fields}
        if all(chosen.get(name, usual[name]) == usual[name] for name in fields):
            return {}
    pairs = {name: chosen.get(name, name if name in columns else "") for name in fields}
    return {name: column for name, column in pairs.items() if column in columns}
