"""`BestSoFar`: what is left of a search that is stopped."""

from __future__ import annotations

import numpy as np

from hiddenphysics.learning import Objective, Optimum, Progress
from hiddenphysics.models.one_step.problem import Problem
from hiddenphysics.models.one_step.start import Start

ROUND_OFF = 1e-9
"""Of a natural step: so far outside of a bound is at it."""


class BestSoFar:
    """The stages of a search, and the best of what it has looked at.

    Called with a stage it is a `Progress`. The progress is asked at every look at the likelihood, so that it can end a
    search there by raising. Likelihoods of two problems, around other states or of other data, do not compare: the
    best is that of the last problem. A walk may look beyond the bounds; what it finds there is no answer.

    Attributes
    ----------
    aside
        Words behind every stage.
    looks
        How many there were.
    """

    def __init__(self, say: Progress, start: Start) -> None:
        self.aside = ""
        self.looks = 0
        self._kept: tuple[Problem, Optimum] | None = None  # in one piece: another thread may ask at any time
        self._say, self._start = say, start
        self._stage = ""

    @property
    def kept(self) -> tuple[Problem, Optimum] | None:
        """The last problem that was looked at, and its best vector; None before the first look that gave a number."""
        return self._kept

    @property
    def start(self) -> Optimum:
        """Where the search starts, of which nobody has asked how good it is."""
        vector = np.clip(self._start.vector, self._start.bounds[:, 0], self._start.bounds[:, 1])
        return Optimum(vector, np.nan, np.full_like(vector, np.nan), False, "stopped", 0)

    def __call__(self, stage: str) -> None:
        """Say a stage."""
        self._stage = stage + self.aside
        self.check()

    def check(self) -> None:
        """Say the stage again, which asks whether to go on."""
        self._say(self._stage)

    def objective(self, problem: Problem) -> Objective:
        """Return the problem's value and gradient as a function that remembers its best."""

        def looked(vector: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = problem.objective(vector)
            self.looks += 1
            self._remember(problem, vector, value, gradient)
            self.check()
            return value, gradient

        return looked

    def _remember(self, problem: Problem, vector: np.ndarray, value: float, gradient: np.ndarray) -> None:
        better = self._kept is None or problem is not self._kept[0] or value < self._kept[1].value
        inside = np.clip(vector, self._start.bounds[:, 0], self._start.bounds[:, 1])
        is_inside = np.all(np.abs(vector - inside) <= ROUND_OFF * self._start.scale)
        if np.isfinite(value) and better and is_inside:
            self._kept = problem, Optimum(inside, value, gradient, False, "stopped", self.looks)
