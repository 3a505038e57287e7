"""Walls at the ends of a line: fields go on beyond them as their mirror images, even or odd, in a box around them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hiddenphysics.models.edges import WALLS, End
from hiddenphysics.spectral import Mirror


@dataclass(frozen=True)
class Walls:
    """One wall or two.

    The box has the first wall in its middle. With one, the data and their mirror image are in it, and padding; with
    two, the way from one to the other and back, and back again with the other sign where that is another one: then
    there is no padding, and nothing comes in.

    Attributes
    ----------
    first, second
        The wall in the middle, the low one of two, and the other one; None where there is one.
    """

    first: End
    second: End | None = None

    @classmethod
    def of(cls, ends: tuple[End, ...]) -> Walls | None:
        """Return the walls among the ends of a line, low one first; None without any."""
        return cls(*ends) if ends else None

    @property
    def mirror(self) -> Mirror:
        """How fields are mirrored in the box."""
        sign = WALLS[self.first.kind]
        other = 0 if self.second is None else WALLS[self.second.kind]
        return Mirror(sign, 0 if other == sign else other)

    @property
    def has_level(self) -> bool:
        """Whether a constant is allowed."""
        return self.mirror == Mirror(1)

    @property
    def period(self) -> float | None:
        """After which fields repeat; None where there is one wall."""
        if self.second is None:
            return None
        return (4 if self.mirror.other else 2) * (self.second.at - self.first.at)

    def around(self, low: float, high: float) -> tuple[float, float]:
        """Return the region that data between two places and their mirror images take, or all of a period."""
        at, period = self.first.at, self.period
        reach = max(high - at, at - low) if period is None else period / 2
        return at - reach, at + reach

    def fold(self, x: np.ndarray) -> np.ndarray:
        """Return where on the data's side of the first wall the mirror images of places are."""
        away = np.abs(x - self.first.at)
        return self.first.at + (-away if self.first.high else away)

    def signs(self, x: np.ndarray) -> np.ndarray:
        """Return by which factor what comes in on the data's side does so at places: 0 or ±1, or 1."""
        if self.mirror.sign > 0:
            return np.ones_like(x)
        return np.sign(x - self.first.at) * (-1.0 if self.first.high else 1.0)
