"""Sentences about a collection of snapshots, for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hiddenphysics.snapshots.parts import IM, RE
from hiddenphysics.snapshots.words import names, number, plural

if TYPE_CHECKING:
    from hiddenphysics.snapshots.collection import Snapshots


def headline(snapshots: Snapshots) -> str:
    """One line: how many snapshots of which fields, when, with how many points."""
    fields = ", ".join(snapshots.fields)
    where = ", ".join(snapshots.coordinates)
    times = _between(snapshots.times, "from ")
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
        f"{name} {_between(np.concatenate([s[name] for s in snapshots]), 'from ')}"
        for name in (*snapshots.coordinates, *snapshots.fields)
    ]
    sentences.append(f"Ranges: {', '.join(ranges)}")
    sentences += [f"{h} is complex, kept as {names((h + RE, h + IM))}" for h in snapshots.complex_fields]
    return ". ".join(sentences) + "."


def _between(values: Iterable[float] | Sequence[int], word: str = "") -> str:
    """Write "0.1", or "0.1 to 0.5" when the values differ in the digits that are shown."""
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{word}{low} to {high}"
