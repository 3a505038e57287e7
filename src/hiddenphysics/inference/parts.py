"""Learning from many values: search with a part of them, then walk to the optimum of all."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hiddenphysics.inference.laplace import positive_inverse
from hiddenphysics.inference.likelihood import hessian
from hiddenphysics.inference.optimise import Optimum, is_free, minimise, refine
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.rounds import ROUGH, STILL, Reached, Task, in_rounds, searched
from hiddenphysics.inference.search import Progress, longer_lengths, settle
from hiddenphysics.inference.start import Start

PARTS = (4, 2)
"""Every fourth point; every second, where a fourth of them leave an unknown at a bound."""
FINE = 1e-9
"""A relative gain of one iteration of a walk along a bound that is none: λ is then within a hundredth of its error."""


def from_a_part(task: Task, start: Start, progress: Progress) -> Reached:
    """Search with a part of the data, then walk to the optimum of all of them.

    The optimum of a part lies near that of the whole, and its curvature tells how to walk there: a tenth of the
    evaluations of the whole. What the part does not show, such as a hidden pressure, is sought from the start.
    """
    parts = list(PARTS)
    while True:
        one_of = parts.pop(0)
        reached = searched(task, start, one_of, lambda stage: progress(f"{stage}, with a part of the data"))
        free = is_free(reached.best.vector, start.scale, start.bounds)
        if np.all(free) or not parts:
            break
    curvature, _ = hessian(reached.problem.layout, reached.best.vector, reached.problem.data, start.scale)
    unseen = _unseen(reached.problem, np.diagonal(curvature) * start.scale**2, free)
    walk = _Walk(start, positive_inverse(curvature, start.scale, free))
    if np.any(unseen):
        reached = walk.from_start(task, reached, unseen, one_of, progress)
    else:
        for fewer in (*parts, 1):
            reached = walk.to_more(task, reached, one_of, fewer, progress)
            one_of = fewer
    return in_rounds(task, start, reached, 1, walk, STILL, progress)


def _unseen(problem: Problem, curvatures: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Say of every unknown whether it belongs to a latent that the data do not determine, or is a parameter beside one.

    Such a latent has a number at a bound, or one whose scaled curvature is less than one: unknown to a natural step.
    """
    owners = np.array([name.rpartition(".")[0] for name in problem.names])
    lost = {
        latent
        for latent, _ in problem.layout.kernels
        if np.any((~free | (curvatures < 1.0))[owners == latent])
    }
    parameters = np.array([name in problem.layout.model.parameters for name in problem.names])
    return np.isin(owners, sorted(lost)) | (parameters & bool(lost))


@dataclass
class _Walk:
    """A search from near an optimum that learns the curvature as it goes."""

    start: Start
    spread: np.ndarray

    def __call__(self, problem: Problem, vector: np.ndarray) -> Optimum:
        refined = refine(problem.objective, vector, self.spread, self.start.scale, self.start.bounds)
        if refined is None:
            deviations = np.sqrt(np.diagonal(self.spread))
            return minimise(problem.objective, vector, deviations, self.start.bounds, tolerance=FINE)
        found, self.spread = refined
        return found

    def to_more(self, task: Task, reached: Reached, one_of: int, fewer: int, progress: Progress) -> Reached:
        """Walk on with more data. They show finer structure: while they are a part, shorter lengths are tried too."""
        progress(f"learning, with {'all' if fewer == 1 else 'more'} data")
        self.spread *= fewer / one_of
        problem = task.problem(reached.state, fewer)
        reached = reached.at(problem, self(problem, reached.best.vector))
        return reached if fewer == 1 else reached.at(problem, self._hopped(reached))

    def from_start(
        self, task: Task, reached: Reached, unseen: np.ndarray, one_of: int, progress: Progress
    ) -> Reached:
        """Search with all data: for what a part did not show from the start, for the rest from where it was."""
        progress("learning, with all data")
        self.spread /= one_of
        problem = task.problem(reached.state)
        reached = reached.at(
            problem,
            settle(problem, self.start, np.where(unseen, self.start.vector, reached.best.vector), ROUGH),
        )
        return reached.at(problem, self(problem, reached.best.vector))

    def _hopped(self, reached: Reached) -> Optimum:
        """Return the optimum at shorter lengths with less noise, or the one that was reached if that is better."""
        shorter = reached.best.vector - longer_lengths(reached.problem.names)
        refined = refine(reached.problem.objective, shorter, self.spread, self.start.scale, self.start.bounds)
        if refined is None or not refined[0].value < reached.best.value:
            return replace(reached.best, evaluations=0)
        found, self.spread = refined
        return found
