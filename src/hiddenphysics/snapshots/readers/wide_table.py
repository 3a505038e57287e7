"""Wide tables: one column for each position and a row for each time, or the other way round."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.loader import cut
from hiddenphysics.snapshots.readers import times
from hiddenphysics.snapshots.readers.arrays import Named, named
from hiddenphysics.snapshots.readers.naming import split_unit
from hiddenphysics.snapshots.readers.request import Request
from hiddenphysics.snapshots.sentences import number

if TYPE_CHECKING:
    import pandas as pd

TITLE = re.compile(
    r"(?:(?P<name>[^\W\d_]+)\s*=\s*)?(?P<number>[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?)"
    r"(?:\s*[\[(]?(?P<unit>[^\W\d_][^\[\]()]*|[°%µ][^\[\]()]*)[\])]?)?"
)
"""A number, with or without a name before it and a unit behind it: `0.2`, `0,2 m`, `x = 0.2 [m]`."""
DOWN = re.compile(r"(?:position|xx?)\b", re.IGNORECASE)
"""What the first title begins with where it holds positions: `x`, `x [m]`, `x/t`."""
Numbers = Callable[[str, Any], NDArray[Any] | None]


def along(titles: Sequence[str]) -> tuple[list[float], str] | None:
    """Return the numbers in titles and the unit that all of them bear; None where not all are numbers.

    >>> along(["0", "0,5"]), along(["x=0 m", "x=2 m"]), along(["2m_wind", "10m_rain"])
    (([0.0, 0.5], ''), ([0.0, 2.0], 'm'), None)
    """
    found = list(takewhile(bool, (TITLE.fullmatch(title.strip()) for title in titles)))
    told = [match for match in found if match is not None]
    if len(told) < len(titles) or len({(match["name"], match["unit"]) for match in told}) != 1:
        return None
    return [float(match["number"].replace(",", ".")) for match in told], (told[0]["unit"] or "").strip()


def is_wide(frame: pd.DataFrame, request: Request) -> bool:
    """Whether the titles behind the first are numbers; behind a first one that holds positions, also dates."""
    first, *titles = (str(title) for title in frame.columns)
    if len(titles) < 2:
        return False
    return along(titles) is not None or (_is_down(first, request) and _are_dates(titles))


def _are_dates(titles: Sequence[str]) -> bool:
    import pandas as pd

    return times.from_text("of the titles", pd.Series(titles)) is not None


def _is_down(title: str, request: Request) -> bool:
    """Whether the first column holds positions: the user says so, or it is called so."""
    for axis in ("x", "t"):
        if axis in request.columns and _is_meant(title, request.columns[axis]):
            return axis == "x"
    return DOWN.match(split_unit(title)[0]) is not None


def _is_meant(title: str, wanted: str) -> bool:
    return split_unit(title)[0].casefold() == split_unit(wanted)[0].casefold()


def read_wide(frame: pd.DataFrame, request: Request, units: Mapping[str, str], convert: Numbers) -> Named:
    """Read a wide table: (T,) times and (T, N) values at the N positions in the titles, or all of it turned.

    Parameters
    ----------
    units
        What is told about the columns beside their titles.
    convert
        Makes numbers of a column; None where it holds none.
    """
    first, *titles = (str(title) for title in frame.columns)
    title, unit = split_unit(first)
    unit, down = units.get(first, unit), _is_down(first, request)
    numbers, across = along(titles) or (None, "")
    what = ("time", "times") if down else ("position", "positions x")
    values = np.stack([_at(what[0], t, frame.iloc[:, k], convert) for k, t in enumerate(titles, 1)], axis=1)
    names_of_first = {here for here, there in request.columns.items() if _is_meant(title, there)}
    rest = {here: there for here, there in request.columns.items() if here not in names_of_first}
    if down:
        raw = {"t": titles if numbers is None else np.array(numbers), "x": frame.iloc[:, 0], "u": values.T}
    else:
        raw = {"t": frame.iloc[:, 0].to_numpy(), "x": np.array(numbers), "u": values}
    own, others = ("x", "t") if down else ("t", "x")
    given = named(raw, replace(request, columns=rest), {own: unit, others: across}, convert)
    low, high = (titles[0], titles[-1]) if numbers is None else (number(min(numbers)), number(max(numbers)))
    note = (
        f"The table is wide: {title} is the {'position x' if down else 'time'}, and the titles of {len(titles)} columns"
        f" are {what[1]} from {low} to {high}."
    )
    return Named(given.arrays, given.provenance.noted(note))


def _at(what: str, title: str, column: pd.Series[Any], convert: Numbers) -> NDArray[Any]:
    numbers = convert(title, column)
    if numbers is None:
        raise DataError(
            f"the column {cut(title)} of a wide table, whose title is a {what}, holds no numbers."
        )
    return numbers
