"""Which column is which: the user's words first, then the usual names of time and space, in large or small letters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.columns import IM, RE, STD
from hiddenphysics.snapshots.sentences import names
from hiddenphysics.snapshots.validation import COORDINATES

TIME = ("t", "time", "tt")
AXES = ("t", *COORDINATES)
UNIT = re.compile(r"^(.*\S)\s*[\[(]([^\W\d_][^\[\]()]*|[°%µ][^\[\]()]*|1/[^\[\]()]+)[\])]$")
"""A title with a unit behind it: `x [m]`, `speed (m/s)`."""
PARTS = ("", RE, IM)
"""What may stand behind the name of a field that is asked for: a complex one is kept as two columns."""


def new_names(existing: Iterable[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the names of what is used, ``{name there: name here}``, in the order of the data.

    Parameters
    ----------
    existing
        The names in the data.
    columns
        Name here -> name there, in any letters. Where a field is named, only the named fields are used, each with its
        parts and its known deviations.
    """
    present = list(existing)
    chosen: dict[str, str] = {}
    for here, there in columns.items():
        for old, new in _columns_of(present, here, there).items():
            if chosen.setdefault(old, new) != new:
                raise DataError(f"columns uses {old} twice, as {chosen[old]} and as {new}. Name it once.")
    named = any(here not in AXES for here in columns)
    taken = set(chosen.values())
    usual = _usual_names([name for name in present if name not in chosen], taken)
    for name in present:
        # A column that bears a name which the user has given to another one is meant to be left out.
        if name not in chosen and (name in usual or not named) and usual.get(name, name) not in taken:
            chosen[name] = usual.get(name, name)
    return {name: chosen[name] for name in present if name in chosen}


def _columns_of(present: list[str], here: str, there: str) -> dict[str, str]:
    """Return what one name stands for: a column, or the two parts of a complex field, with known deviations."""
    found: dict[str, str] = {}
    for part in PARTS:
        column = _found(present, there + part, here)
        if column is not None:
            found[column] = here + part
            deviation = None if here in AXES else _found(present, column + STD, here)
            if deviation is not None:
                found[deviation] = here + part + STD
            if not part:
                break
    if found:
        return found
    reverse = here not in AXES and _found(present, here, here)
    turned = f" Written the other way round it would fit: columns={{'{there}': '{here}'}}." if reverse else ""
    raise DataError(
        f"{here} is to be the column {there!r:.80}, but the names found are {names(present)}.{turned}"
        f" Type --column {here}=NAME, or columns={{'{here}': 'NAME'}}, with one of these."
    )


def split_unit(title: str) -> tuple[str, str]:
    """Part a title from the unit behind it, in square or round brackets; "" where there is none.

    >>> split_unit("temperature [K]"), split_unit("u(1)")
    (('temperature', 'K'), ('u(1)', ''))
    """
    told = UNIT.match(title)
    return (told[1], told[2].strip()) if told else (title, "")


def _found(present: Collection[str], wanted: str, here: str) -> str | None:
    """Return the name that is meant: exactly so, else in other letters; None where there is none."""
    if wanted in present:
        return wanted
    wanted = split_unit(wanted)[0]
    alike = [name for name in present if name.casefold() == wanted.casefold()]
    if len(alike) > 1:
        raise DataError(
            f"{here} is to be the column {wanted!r:.80}, which could be {names(alike)}. Type it as it is written there."
        )
    return alike[0] if alike else None


def _usual_names(free: list[str], taken: Collection[str]) -> dict[str, str]:
    """Return the names of time and space among those that nobody has named.

    They keep their spelling where it is usual; ``Time`` and ``X`` become `t` and `x` where nothing else is so called.
    """
    usual = {name: name for name in free if name in (*TIME, *COORDINATES, *(c + c for c in COORDINATES))}
    if "t" not in taken and not any(name in TIME for name in usual):
        # A capital T is a temperature where something else is called time.
        for word in ("time", "tt", "t"):
            alike = [name for name in free if name.casefold() == word]
            if len(alike) > 1:
                raise DataError(
                    f"{names(alike)} could each be the time. Type --column t={alike[0]}, or its other name."
                )
            if alike:
                usual[alike[0]] = "t"
                break
    for c in COORDINATES:
        if c not in taken and c not in usual and c + c not in usual:
            usual |= {name: c for name in free if name not in usual and name == c.upper()}
    # What the user has named is not looked for again: beside his own t, a column `time` is a field like others.
    return {name: axis for name, axis in usual.items() if axis[0] not in taken}
