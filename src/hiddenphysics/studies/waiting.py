"""Fits that wait to be run, and which of them comes next: shapes stay together, chains keep their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from hiddenphysics.studies.plan import Unit

Shape = tuple[str, str]
"""See `Unit.shape`."""


class Queue:
    """Fits that wait, by shape."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._waiting: dict[Shape, deque[Unit]] = {}
        for unit in units:
            self._waiting.setdefault(unit.shape, deque()).append(unit)

    @property
    def left(self) -> int:
        """How many wait."""
        return sum(map(len, self._waiting.values()))

    def next(self, shape: Shape | None, others: Sequence[Shape | None]) -> Unit | None:
        """Return a fit of the same shape, else of one that nobody works on, else of the one with most left for each.

        A chain that somebody works on is left to them; None when nothing else waits.
        """
        free = [s for s, units in self._waiting.items() if not (units[0].chained and s in others)]
        if not free:
            return None
        if shape not in free:
            alone = (s for s in free if s not in others)
            shape = next(alone, None) or max(
                free, key=lambda s: len(self._waiting[s]) / (1 + others.count(s))
            )
        queue = self._waiting[shape]
        unit = queue.popleft()
        if not queue:
            del self._waiting[shape]
        return unit
