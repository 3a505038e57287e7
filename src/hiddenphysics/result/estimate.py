"""One identified parameter."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import ndtri


@dataclass(frozen=True)
class Estimate:
    """A parameter with its uncertainty: the optimum, the Laplace standard deviation, and the user's bounds.

    Examples
    --------
    >>> Estimate(1.0, 0.1).interval(0.95)
    (0.804..., 1.195...)
    """

    estimate: float
    std: float
    lower: float = float("-inf")
    upper: float = float("inf")

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the central normal interval of the given level, cut at the bounds."""
        reach = float(ndtri(0.5 + 0.5 * level)) * self.std
        return max(self.estimate - reach, self.lower), min(self.estimate + reach, self.upper)
