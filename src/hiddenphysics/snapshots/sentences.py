"""Sentences for people: how this room writes names and numbers in one, and a collection in a few."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hiddenphysics.loader import cut
from hiddenphysics.snapshots.columns import IM, RE

if TYPE_CHECKING:
    from hiddenphysics.snapshots.collection import Snapshots

MOST_NAMES = 40
"""Names that a sentence lists; a file may hold a hundred thousand."""


def names(items: Iterable[object], nothing: str = "none") -> str:
    """Join names for a sentence: ``"x, y and u"``; `nothing` when there are none."""
    words = [cut(item) for item in items]
    if not words:
        return nothing
    if len(words) > MOST_NAMES:
        words = [*words[:MOST_NAMES], f"{len(words) - MOST_NAMES} more"]
    if len(words) == 1:
        return words[0]
    return ", ".join(words[:-1]) + " and " + words[-1]


def number(value: float, digits: int = 6) -> str:
    """Write a number as a person would: six significant digits, no trailing zeros."""
    return f"{value:.{digits}g}"


def plural(count: int, noun: str) -> str:
    """Count a noun: ``"1 point"``, ``"3 points"``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def headline(snapshots: Snapshots) -> str:
    """One line: how many snapshots of which fields, when, with how many points."""
    fields = ", ".join(snapshots.fields)
    where = ", ".join(snapshots.coordinates)
    times = " ".join([_between(snapshots.times, "from "), snapshots.units.get("t", "")]).strip()
    points = _between([len(snapshot) for snapshot in snapshots])
    return f"{plural(len(snapshots), 'snapshot')} of {fields} in {where}, t {times}, {points} points each"


def paragraph(snapshots: Snapshots) -> str:
    """Tell the headline, the gaps in time, the kind of points, and the range of each coordinate and field."""
    sentences = [headline(snapshots)]
    if len(snapshots) > 1:
        sentences.append(f"The gaps between times are {_between(np.diff(snapshots.times))}")
        same = (
            "the same at every time (a fixed grid)" if snapshots.is_gridded else "different from time to time"
        )
        sentences.append(f"The points are {same}")
    ranges = [
        f"{name} {_between(ends, 'from ', 6 if name in snapshots.coordinates else _digits_of(ends))}"
        for name in (*snapshots.coordinates, *snapshots.fields)
        for ends in [[end for s in snapshots for end in s.span(name)]]
    ]
    sentences.append(f"Ranges: {', '.join(ranges)}")
    sentences += [f"{h} is complex, kept as {names((h + RE, h + IM))}" for h in snapshots.complex_fields]
    if snapshots.units:
        sentences.append(f"Units: {names(f'{name} in {unit}' for name, unit in snapshots.units.items())}")
    sentences += [note.rstrip(".") for note in snapshots.notes]
    return ". ".join(sentences) + "."


def _between(values: Iterable[float] | Sequence[int], word: str = "", digits: int = 6) -> str:
    """Write "0.1", or "0.1 to 0.5" when the values differ in the digits that are shown."""
    low, high = number(min(values), digits), number(max(values), digits)
    return low if low == high else f"{word}{low} to {high}"


def _digits_of(values: Sequence[float]) -> int:
    """Return the digits that show a range of noisy values to a hundredth of itself, at most six.

    >>> _digits_of([-0.00895, 0.839936]), _digits_of([293.15, 295.4])
    (3, 5)
    """
    low, high = min(values), max(values)
    if low == high:
        return 6
    return min(3 + max(int(np.log10(max(abs(low), abs(high)) / (high - low))), 0), 6)
