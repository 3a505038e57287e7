"""Conjugate gradients with a budget: a search that ends when it has looked often enough, converged or not.

Directions are those of Polak and Ribière. A step along one is lengthened, then bracketed, by polynomials through values
and slopes, until Wolfe and Powell's conditions hold. The first step is 1/(1 + |∇f|²) along −∇f: short where f is steep,
so that a search which starts near an optimum stays near it, however few looks it has. The constants are those of
Rasmussen's `minimize` (2010), the search of Raissi & Karniadakis (2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.inference.optimise import Objective

Vector = NDArray[np.float64]

FLATTER = 0.1
"""A step is good when the slope at its end is at most this much of the slope at its beginning,"""
LOWER = 0.05
"""and when the value falls by at least this much of what the first slope promises."""
FURTHER = 3.0
"""A step is lengthened at most so many times at once."""
EDGE = 0.1
"""A new step keeps this distance, in parts of the interval, from those before."""
RATIO = 10.0
"""The first step along a new direction is at most so many times the last along the old one."""
LOOKS = 20
"""Along one direction."""


@dataclass(frozen=True)
class Point:
    """A place, and what was seen there."""

    x: Vector
    value: float
    gradient: Vector

    @property
    def seen(self) -> bool:
        """Whether value and gradient are numbers."""
        return isfinite(self.value) and bool(np.isfinite(self.gradient).all())


def minimise(objective: Objective, start: Vector, evaluations: int) -> Point:
    """Return the lowest point that was seen in so many evaluations, or fewer when no step leads down."""
    looks = _Looks(objective, np.asarray(start, float), evaluations)
    line = _Line.steepest(looks.lowest)
    stuck = False
    while looks.left > 0 and line.origin.slope < 0:
        end = line.search(looks)
        if end is not None:
            line, stuck = line.conjugate(end), False
        elif stuck:
            break
        else:
            line, stuck = _Line.steepest(looks.lowest), True
    return looks.lowest


class _Looks:
    """Counts how often the objective may still be evaluated, and remembers where it was lowest."""

    def __init__(self, objective: Objective, start: Vector, left: int) -> None:
        self._objective, self.left = objective, left
        self.lowest = self._seen(start)

    def at(self, x: Vector) -> Point:
        point = self._seen(x)
        if point.seen and point.value < self.lowest.value:
            self.lowest = point
        return point

    def _seen(self, x: Vector) -> Point:
        self.left -= 1
        value, gradient = self._objective(x)
        return Point(x, float(value), np.asarray(gradient, float))


@dataclass(frozen=True)
class _Mark:
    """A point on a line: the step that leads there, and the slope along the line."""

    step: float
    point: Point
    slope: float

    @property
    def value(self) -> float:
        return self.point.value


@dataclass(frozen=True)
class _Line:
    """A direction from a point, with a first guess of the step."""

    origin: _Mark
    direction: Vector
    step: float

    @classmethod
    def steepest(cls, point: Point) -> _Line:
        slope = -float(point.gradient @ point.gradient)
        return cls(_Mark(0.0, point, slope), -point.gradient, 1.0 / (1.0 - slope))

    def conjugate(self, end: _Mark) -> _Line:
        """Return the next line, from a good end of this one."""
        old, new = self.origin.point.gradient, end.point.gradient
        direction = float(new @ (new - old) / (old @ old)) * self.direction - new
        slope = float(new @ direction)
        if slope > 0:
            direction, slope = -new, -float(new @ new)
        ratio = self.origin.slope / slope if slope else RATIO
        return _Line(_Mark(0.0, end.point, slope), direction, end.step * min(RATIO, ratio))

    def search(self, looks: _Looks) -> _Mark | None:
        """Return a good end of the line; None when none was found in time."""
        stop = looks.left - min(LOOKS, looks.left)
        last = self._lengthen(looks, stop)
        low, high = self.origin, last
        while looks.left > stop and not self._good(last):
            if last.slope > 0 or not self._falls(last):
                high = last
            else:
                low = last
            last = self._mark(looks, self._between(low, high))
        return last if self._good(last) else None

    def _lengthen(self, looks: _Looks, stop: int) -> _Mark:
        """Return the first mark beyond which the line no longer falls as it should."""
        step, mark = self.step, self.origin
        while looks.left > stop:
            seen = self._mark(looks, step)
            if not seen.point.seen:
                step = step / 2
                continue
            mark = seen
            if mark.slope > FLATTER * self.origin.slope or not self._falls(mark):
                break
            step = self._beyond(mark)
        return mark

    def _mark(self, looks: _Looks, step: float) -> _Mark:
        point = looks.at(self.origin.point.x + step * self.direction)
        return _Mark(step, point, float(point.gradient @ self.direction))

    def _falls(self, mark: _Mark) -> bool:
        return mark.value <= self.origin.value + mark.step * LOWER * self.origin.slope

    def _good(self, mark: _Mark) -> bool:
        return mark.step > 0 and self._falls(mark) and abs(mark.slope) <= -FLATTER * self.origin.slope

    def _beyond(self, mark: _Mark) -> float:
        """Return where the cubic through origin and mark has its minimum, if that is further on, but not too far."""
        width, fall = mark.step, self.origin.value - mark.value
        a = 6 * fall + 3 * (mark.slope + self.origin.slope) * width
        b = -3 * fall - (2 * self.origin.slope + mark.slope) * width
        inside = b * b - a * self.origin.slope * width
        below = b + sqrt(inside) if inside >= 0 else 0.0
        found = -self.origin.slope * width**2 / below if below else np.inf
        return float(np.clip(found, (1 + EDGE) * width, FURTHER * width)) if found >= 0 else FURTHER * width

    def _between(self, low: _Mark, high: _Mark) -> float:
        """Return where a polynomial through the two is lowest: a parabola when the far end lies above the origin."""
        width, rise = high.step - low.step, high.value - low.value
        with np.errstate(all="ignore"):
            if high.value > self.origin.value:
                found = low.step - np.float64(0.5 * low.slope * width**2) / (rise - low.slope * width)
            else:
                a = -6 * np.float64(rise) / width + 3 * (high.slope + low.slope)
                b = 3 * rise - (2 * low.slope + high.slope) * width
                found = low.step + (np.sqrt(b * b - a * low.slope * width**2) - b) / a
        inside = float(found) if np.isfinite(found) else (low.step + high.step) / 2
        return float(np.clip(inside, low.step + EDGE * width, high.step - EDGE * width))
