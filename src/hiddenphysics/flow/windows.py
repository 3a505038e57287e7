"""A long recording cut into windows, each with a latent of its own: chaos forgets where it came from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hiddenphysics.snapshots import Snapshot, Snapshots

FEWEST = 4
"""A snapshot with fewer points is not shared between two windows; both take it whole."""


def gap_counts(snapshots: int, fewest: int) -> Iterator[int]:
    """Yield how many gaps a window may have: all of them, then half as many, down to as few as the equation needs.

    An equation of order p in time shows itself in p gaps: the others only tell its initial velocities.
    """
    count = snapshots - 1
    while count > fewest:
        yield count
        count = (count + 1) // 2
    yield min(fewest, snapshots - 1)


def windows_of(snapshots: Snapshots, gaps: int) -> list[Snapshots]:
    """Cut into windows of so many gaps, the last one perhaps shorter.

    The snapshot at which one window ends and the next begins is shared: each takes every other point of it, so that no
    value is used twice and the evidence of every cut is that of the same data.
    """
    found: list[Snapshots] = []
    every = list(snapshots)
    last = len(every) - 1
    for first in range(0, last, gaps):
        end = min(first + gaps, last)
        begins = every[first] if first == 0 else _half(every[first], 1)
        ends = every[end] if end == last else _half(every[end], 0)
        found.append(Snapshots([begins, *every[first + 1 : end], ends]))
    return found


def _half(snapshot: Snapshot, which: int) -> Snapshot:
    return snapshot if len(snapshot) < FEWEST else snapshot.take(np.arange(which, len(snapshot), 2))
