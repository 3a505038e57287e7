"""Whether the flow model can be used, and if not, why."""

from __future__ import annotations

from collections.abc import Iterable

from hiddenphysics.equation import Equation
from hiddenphysics.flow.moving import split_of
from hiddenphysics.flow.task import primitive

MOST_DIMENSIONS = 2


def applies(equation: Equation, fields: Iterable[str]) -> str | None:
    """Return None when the flow model applies to data of these fields, otherwise a sentence that says why not."""
    measured = set(fields)
    if equation.definitions:
        named = ", ".join(equation.definitions)
        return f"{named} is defined by a potential, and the flow model moves fields, not potentials."
    idle = [name for name in equation.fields if name not in equation.evolution]
    if idle:
        return (
            f"The equation gives no time derivative of {', '.join(idle)}, so there is nothing to integrate."
        )
    if len(equation.coordinates) > MOST_DIMENSIONS:
        return f"There are {len(equation.coordinates)} coordinates; the flow model's boxes have at most two."
    if not measured & set(equation.evolution):
        return f"None of the fields {', '.join(equation.evolution)} has data."
    hidden = [name for name in equation.evolution if name not in measured]
    if hidden:
        return f"{', '.join(hidden)} has no data, and a whole hidden field cannot be started from nothing."
    # Time derivatives of measured fields are part of the state and need no data of their own.
    orphans = [
        f
        for f in split_of(equation).state
        if f not in measured and primitive(f) not in split_of(equation).state
    ]
    return f"{', '.join(orphans)} has no data." if orphans else None
