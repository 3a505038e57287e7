"""Learning when the coefficients are the state itself: fit, take the posterior mean, expand there, fit again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from hiddenphysics.forward import LinearModel
from hiddenphysics.inference.data import State, collect
from hiddenphysics.inference.optimise import TIGHT, Optimum
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.search import Progress, search, settle
from hiddenphysics.inference.start import Start
from hiddenphysics.inference.state import posterior_mean
from hiddenphysics.kernels import Kernel
from hiddenphysics.snapshots import Snapshots

MOST_ROUNDS = 12
"""Expansions around the posterior mean before a fit is called unsettled; three or four are usual."""
STILL = 1e-5
"""A change of a parameter, relative to its natural step, that is none."""
ROUGH, ROUGHLY_STILL = 1e-7, 1e-3
"""For a part of the data, which only shows where to look: a relative gain, and a change, that are none."""


@dataclass(frozen=True)
class Task:
    """What is fitted: a model to snapshots, expanded around one state after another.

    Attributes
    ----------
    model, kernels, snapshots
        What is fitted.
    first
        The state of the first expansion.
    """

    model: LinearModel
    kernels: Mapping[str, Kernel]
    snapshots: Snapshots
    first: State

    def problem(self, state: State, one_of: int = 1) -> Problem:
        """Return the likelihood around a state, of all data or of every n-th point."""
        data = collect(self.model, self.snapshots, state)
        if one_of > 1:
            data = data.thinned([o.snapshot for o in self.model.observations], one_of, seed=0)
        return Problem.of(self.model, self.kernels, data)


@dataclass(frozen=True)
class Reached:
    """How far learning has come: an optimum, its problem and state, and what the last round moved."""

    problem: Problem
    state: State
    best: Optimum
    evaluations: int
    moved: np.ndarray

    def at(self, problem: Problem, best: Optimum) -> Reached:
        """Return the next step: another problem around the same state, and its optimum."""
        return replace(self, problem=problem, best=best, evaluations=self.evaluations + best.evaluations)


def searched(task: Task, start: Start, one_of: int, progress: Progress) -> Reached:
    """Search from the start, then expand until the parameters are still."""
    problem = task.problem(task.first, one_of)
    tolerance, still = (TIGHT, STILL) if one_of == 1 else (ROUGH, ROUGHLY_STILL)
    best, evaluations = search(problem, start, progress, tolerance)
    begun = Reached(problem, task.first, best, evaluations, np.zeros(len(task.model.parameters)))

    def again(problem: Problem, vector: np.ndarray) -> Optimum:
        return settle(problem, start, vector, tolerance)

    return in_rounds(task, start, begun, one_of, again, still, progress)


def in_rounds(
    task: Task,
    start: Start,
    begun: Reached,
    one_of: int,
    again: Callable[[Problem, np.ndarray], Optimum],
    still: float,
    progress: Progress,
) -> Reached:
    """Expand around the posterior mean and learn again, until the parameters are still."""
    if task.model.frozen_snapshot is not None:
        return begun
    count = len(task.model.parameters)
    reached = begun
    for number in range(2, MOST_ROUNDS + 1):
        values = reached.problem.layout.values(jnp.asarray(reached.best.vector))
        state = posterior_mean(reached.problem, {n: float(v) for n, v in values.items()}, task.first)
        problem = task.problem(state, one_of)
        progress(f"learning, expansion {number}")
        best = again(problem, reached.best.vector)
        moved = best.vector[:count] - reached.best.vector[:count]
        reached = Reached(problem, state, best, reached.evaluations + best.evaluations, moved)
        if np.all(np.abs(moved) < still * start.scale[:count]):
            break
    return reached
