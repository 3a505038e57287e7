"""`BestSoFar`: what is left of a search that is stopped."""

from __future__ import annotations

import numpy as np

from hiddenphysics.learning import Objective, Optimum, Progress
from hiddenphysics.models.one_step.problem import Problem


class BestSoFar:
    """The stages of a search, and the best of what it has looked at.

    Called with a stage it is a `Progress`. The progress is asked at every look at the likelihood, so that it can end a
    search there by raising. Likelihoods of two problems, around other states or of other data, do not compare: the
    best is that of the last problem.

    Attributes
    ----------
    aside
        Words behind every stage.
    problem, best
        The last problem that was looked at, and its best vector; None before the first look that gave a number.
    looks
        How many there were.
    """

    def __init__(self, say: Progress) -> None:
        self.aside = ""
        self.problem: Problem | None = None
        self.best: Optimum | None = None
        self.looks = 0
        self._say = say
        self._stage = ""

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
        better = self.best is None or problem is not self.problem or value < self.best.value
        if np.isfinite(value) and better:
            self.problem = problem
            self.best = Optimum(vector.copy(), value, gradient, False, "stopped", self.looks)
