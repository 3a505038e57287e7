"""One pair of snapshots, searched as the authors do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp

import numpy as np

from hiddenphysics.inference.parameters import NOISE
from hiddenphysics.inference.problem import Problem
from hiddenphysics.studies.authors.conjugate import Vector, minimise
from hiddenphysics.studies.study import Search

FIRST_NOISE = exp(-4.0)
"""The variance of the noise that a chain starts with."""


def searched(problem: Problem, search: Search, start: Mapping[str, float]) -> dict[str, float]:
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
    first = dict.fromkeys(problem.layout.positive, 1.0) | {NOISE: FIRST_NOISE}
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
        layout, powers = self.problem.layout, self._powers
        value, gradient = self.problem.objective(layout.vector(values))
        natural = np.array(list(values.values()))
        slopes = np.divide(natural, powers, out=np.ones_like(natural), where=powers > 0)
        return value, gradient / layout.slopes(values) * slopes

    @property
    def _powers(self) -> Vector:
        """2 for lengths, which are searched as log ℓ², 1 for other logarithms, 0 for what is searched as it is."""
        positive = (*self.problem.layout.positive, *self.logarithms)
        return np.array(
            [0.0 if n not in positive else 2.0 if ".length" in n else 1.0 for n in self.problem.names]
        )
