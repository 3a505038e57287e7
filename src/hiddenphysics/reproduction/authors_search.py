"""The authors' search: pair after pair, each from where the one before ended, with few looks at the likelihood.

Conjugate gradients with a budget: the search ends when it has looked often enough, converged or not. Directions are
those of Polak and Ribière. A step along one is lengthened, then bracketed, by polynomials through values and slopes,
until Wolfe and Powell's conditions hold. The first step is 1/(1 + |∇f|²) along −∇f: short where f is steep, so that a
search which starts near an optimum stays near it, however few looks it has. The constants are those of Rasmussen's
`minimize` (2010), the search of Raissi & Karniadakis (2018).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.learning import Objective
from hiddenphysics.models import Problem
from hiddenphysics.priors import NOISE
from hiddenphysics.reproduction.paper_tables import AuthorsSearch

Vector = NDArray[np.float64]

FLATTER = 0.1
"""A step is good where the slope at its end is at most this share of the slope at its beginning."""
LOWER = 0.05
"""It also has to lower the value by at least this share of what the first slope promises."""
FURTHER = 3.0
"""A step is lengthened at most so many times at once."""
EDGE = 0.1
"""A new step keeps this distance, in parts of the interval, from those before."""
RATIO = 10.0
"""The first step along a new direction is at most so many times the last along the old one."""
LOOKS = 20
"""Evaluations along one direction, at most."""
FIRST_NOISE = exp(-4.0)
"""The variance of the noise that a chain starts with."""


def search_pair(problem: Problem, search: AuthorsSearch, start: Mapping[str, float]) -> dict[str, float]:
    """Return all unknowns by name, in natural units, where the authors' search ends.

    Parameters
    ----------
    problem
        The paper's likelihood of one pair.
    search
        How many looks it has, and what the first pair starts from.
    start
        Where the pair before ended; empty for the first.
    """
    coordinates = _Coordinates(problem, search.logarithms)
    first = dict.fromkeys(problem.unknowns.prior.names, 1.0) | {NOISE: FIRST_NOISE}
    first |= {name: search.start.get(name, 0.0) for name in problem.names if name not in first}
    end = minimise(coordinates.objective, coordinates.vector(start or first), search.evaluations)
    return coordinates.values(end.x)


@dataclass(frozen=True)
class _Coordinates:
    """The numbers that the authors search in: λ itself, or its logarithm, log γ², log ℓ² and log σ²."""

    problem: Problem
    logarithms: tuple[str, ...]

    def vector(self, values: Mapping[str, float]) -> Vector:
        natural = np.array([values[name] for name in self.problem.names])
        powers = self._powers
        return np.where(powers > 0, powers * np.log(np.where(powers > 0, natural, 1.0)), natural)

    def values(self, vector: Vector) -> dict[str, float]:
        powers = self._powers
        logs = np.divide(vector, powers, out=np.zeros_like(vector), where=powers > 0)
        natural = np.where(powers > 0, np.exp(logs), vector)
        return dict(zip(self.problem.names, natural.tolist(), strict=True))

    def objective(self, vector: Vector) -> tuple[float, Vector]:
        values = self.values(vector)
        unknowns, powers = self.problem.unknowns, self._powers
        value, gradient = self.problem.objective(unknowns.vector(values))
        natural = np.array(list(values.values()))
        slopes = np.divide(natural, powers, out=np.ones_like(natural), where=powers > 0)
        return value, gradient / unknowns.slopes(values) * slopes

    @property
    def _powers(self) -> Vector:
        """2 for lengths, which are searched as log ℓ², 1 for other logarithms, 0 for what is searched as it is."""
        positive = (*self.problem.unknowns.prior.names, *self.logarithms)
        return np.array(
            [0.0 if n not in positive else 2.0 if ".length" in n else 1.0 for n in self.problem.names]
        )


@dataclass(frozen=True)
class Evaluation:
    """A place, and the objective's value and gradient there."""

    x: Vector
    value: float
    gradient: Vector

    @property
    def finite(self) -> bool:
        """Whether value and gradient are numbers."""
        return isfinite(self.value) and bool(np.isfinite(self.gradient).all())


def minimise(objective: Objective, start: Vector, evaluations: int) -> Evaluation:
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
        self.lowest = self._evaluate(start)

    def at(self, x: Vector) -> Evaluation:
        point = self._evaluate(x)
        if point.finite and point.value < self.lowest.value:
            self.lowest = point
        return point

    def _evaluate(self, x: Vector) -> Evaluation:
        self.left -= 1
        value, gradient = self._objective(x)
        return Evaluation(x, float(value), np.asarray(gradient, float))


@dataclass(frozen=True)
class _Mark:
    """A point on a line: the step that leads there, and the slope along the line."""

    step: float
    point: Evaluation
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
    def steepest(cls, point: Evaluation) -> _Line:
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
            next_mark = self._mark(looks, step)
            if not next_mark.point.finite:
                step = step / 2
                continue
            mark = next_mark
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
        lowest = -self.origin.slope * width**2 / below if below else np.inf
        return float(np.clip(lowest, (1 + EDGE) * width, FURTHER * width)) if lowest >= 0 else FURTHER * width

    def _between(self, low: _Mark, high: _Mark) -> float:
        """Return where a polynomial through the two is lowest: a parabola when the far end lies above the origin."""
        width, rise = high.step - low.step, high.value - low.value
        with np.errstate(all="ignore"):
            if high.value > self.origin.value:
                lowest = low.step - np.float64(0.5 * low.slope * width**2) / (rise - low.slope * width)
            else:
                a = -6 * np.float64(rise) / width + 3 * (high.slope + low.slope)
                b = 3 * rise - (2 * low.slope + high.slope) * width
                lowest = low.step + (np.sqrt(b * b - a * low.slope * width**2) - b) / a
        inside = float(lowest) if np.isfinite(lowest) else (low.step + high.step) / 2
        return float(np.clip(inside, low.step + EDGE * width, high.step - EDGE * width))
