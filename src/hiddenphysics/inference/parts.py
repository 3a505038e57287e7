"""Learning from many values: search with a part of them, then walk to the optimum of all."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hiddenphysics.inference.laplace import positive_inverse
from hiddenphysics.inference.likelihood import hessian
from hiddenphysics.inference.optimise import Optimum, is_free, refine
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.rounds import ROUGH, STILL, Reached, Task, in_rounds, searched
from hiddenphysics.inference.search import Progress, longer_lengths, settle
from hiddenphysics.inference.start import Start

PARTS = (4, 2)
"""Every fourth point; every second, where a fourth of them leave an unknown at a bound."""


def from_a_part(task: Task, start: Start, progress: Progress) -> Reached:
    """Search with a part of the data, then walk to the optimum of more and more of them.

    The optimum of a part lies near that of the whole, and its curvature tells how to walk there: a tenth of the
    evaluations of the whole. More data show finer structure, so the last step also tries shorter lengths; and what the
    part did not show, such as a hidden pressure, is sought from the start.
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
    for fewer in (*parts, 1):
        progress(f"learning, with {'all' if fewer == 1 else 'more'} data")
        walk.spread *= fewer / one_of
        one_of = fewer
        problem = task.problem(reached.state, one_of)
        reached = reached.at(problem, walk(problem, reached.best.vector))
    reached = reached.at(reached.problem, walk.hopped(reached))
    if np.any(unseen):
        found = settle(reached.problem, start, np.where(unseen, start.vector, reached.best.vector), ROUGH)
        better = found if found.value < reached.best.value else replace(reached.best, evaluations=0)
        reached = reached.at(reached.problem, better)
        reached = reached.at(reached.problem, walk(reached.problem, better.vector))
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
            return settle(problem, self.start, vector)
        found, self.spread = refined
        return found

    def hopped(self, reached: Reached) -> Optimum:
        """Return the optimum at shorter lengths with less noise, or the one that was reached if that is better."""
        shorter = reached.best.vector - longer_lengths(reached.problem.names)
        refined = refine(reached.problem.objective, shorter, self.spread, self.start.scale, self.start.bounds)
        if refined is None or not refined[0].value < reached.best.value:
            return replace(reached.best, evaluations=0)
        found, self.spread = refined
        return found
