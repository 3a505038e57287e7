"""What was asked: an equation and data that belong together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hiddenphysics.equation import Equation
from hiddenphysics.snapshots import Snapshots

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """An equation, and snapshots under its names."""

    equation: Equation
    snapshots: Snapshots
