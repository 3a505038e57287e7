"""`Estimate`: one parameter with its uncertainty, and how a person would write it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from statistics import NormalDist

from hiddenphysics.equation import format_interval, format_plus_minus


@dataclass(frozen=True)
class Estimate:
    """A parameter with its uncertainty: the optimum, the Laplace standard deviation, and the user's bounds.

    Printed, it is written as a person would: ``885 ± 110``.

    Examples
    --------
    >>> Estimate(1.0, 0.1).interval(0.95)
    (0.804..., 1.195...)
    >>> print(Estimate(0.973541, 0.0327))
    0.974 ± 0.033
    """

    estimate: float
    std: float
    lower: float = float("-inf")
    upper: float = float("inf")

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the central normal interval of the given level, cut at the bounds."""
        reach = (NormalDist().inv_cdf(0.5 + 0.5 * level) if level < 1 else inf) * self.std
        return max(self.estimate - reach, self.lower), min(self.estimate + reach, self.upper)

    def interval_text(self, level: float = 0.95) -> str:
        """Return the interval as text, such as ``[0.909, 1.038]``, with as many digits as the estimate has."""
        return format_interval(*self.interval(level), self.std)

    def __str__(self) -> str:
        return format_plus_minus(self.estimate, self.std)
