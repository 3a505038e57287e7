"""Learning when the coefficients are the state itself: fit, take the posterior mean, expand there, fit again.

Of many values a part is searched first, then it walks to the optimum of all.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hiddenphysics.learning import (
    TIGHT,
    Optimum,
    Smoother,
    is_free,
    minimise,
    positive_inverse,
    refine,
    rounds,
)
from hiddenphysics.models.one_step.best_so_far import BestSoFar
from hiddenphysics.models.one_step.places import State, collect
from hiddenphysics.models.one_step.posterior import posterior_mean
from hiddenphysics.models.one_step.problem import Problem
from hiddenphysics.models.one_step.search import longer_lengths, search, settle
from hiddenphysics.models.one_step.start import Start
from hiddenphysics.models.one_step.step import OneStep
from hiddenphysics.priors import Kernel
from hiddenphysics.snapshots import Snapshots

MOST_ROUNDS = 11
"""Expansions around the posterior mean, after the first, before a fit is called unsettled; three or four are usual."""
STILL = 1e-5
"""A change of a parameter, relative to its natural step, that is none."""
ROUGH, ROUGHLY_STILL = 1e-7, 1e-3
"""For a part of the data, which only shows where to look: a relative gain, and a change, that are none."""
PARTS = (4, 2)
"""Every fourth point; every second, where a fourth of them leave an unknown at a bound."""
FINE = 1e-9
"""A relative gain of one iteration of a walk along a bound that is none: λ is then within a hundredth of its error."""


@dataclass(frozen=True)
class ExpansionTask:
    """What is fitted: a model to snapshots, expanded around one state after another.

    Attributes
    ----------
    step, kernels, snapshots
        What is fitted.
    smoother
        Gives each measured field smoothed by itself.
    first
        The state of the first expansion.
    """

    step: OneStep
    kernels: Mapping[str, Kernel]
    snapshots: Snapshots
    smoother: Smoother
    first: State

    def linearise(self, state: State, one_of: int = 1) -> Problem:
        """Return the likelihood around a state, of all data or of every n-th point."""
        data = collect(self.step, self.snapshots, state)
        if one_of > 1:
            data = data.thinned([o.snapshot for o in self.step.observations], one_of, seed=0)
        return Problem.of(self.step, self.kernels, data)


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


def searched(task: ExpansionTask, start: Start, one_of: int, so_far: BestSoFar) -> Reached:
    """Search from the start, then expand until the parameters are still."""
    problem = task.linearise(task.first, one_of)
    tolerance, still = (TIGHT, STILL) if one_of == 1 else (ROUGH, ROUGHLY_STILL)
    best, evaluations = search(problem, start, so_far, tolerance)
    begun = Reached(problem, task.first, best, evaluations, np.zeros(len(task.step.parameters)))

    def again(problem: Problem, vector: np.ndarray) -> Optimum:
        return settle(so_far.objective(problem), start, vector, tolerance)

    return in_rounds(task, start, begun, one_of, again, still, so_far)


def in_rounds(
    task: ExpansionTask,
    start: Start,
    begun: Reached,
    one_of: int,
    again: Callable[[Problem, np.ndarray], Optimum],
    still: float,
    so_far: BestSoFar,
) -> Reached:
    """Expand around the posterior mean and learn again, until the parameters are still."""
    if task.step.frozen_snapshot is not None:
        return begun
    count = len(task.step.parameters)

    def advance(before: Reached | None) -> Reached:
        reached = before or begun
        values = reached.problem.unknowns.numbers(reached.best.vector)
        state = posterior_mean(reached.problem, values, task.first)
        problem = task.linearise(state, one_of)
        best = again(problem, reached.best.vector)
        moved = best.vector[:count] - reached.best.vector[:count]
        return Reached(problem, state, best, reached.evaluations + best.evaluations, moved)

    def ended(reached: Reached) -> bool:
        return bool(np.all(np.abs(reached.moved) < still * start.scale[:count]))

    return rounds(advance, ended, MOST_ROUNDS, so_far, "learning, expansion")[-1]


# ---- a part of the data first --------------------


def from_a_part(task: ExpansionTask, start: Start, so_far: BestSoFar) -> Reached:
    """Search with a part of the data, then walk to the optimum of all of them.

    The optimum of a part lies near that of the whole, and its curvature tells how to walk there: a tenth of the
    evaluations of the whole. What the part does not show, such as a hidden pressure, is sought from the start.
    """
    parts = list(PARTS)
    so_far.aside = ", with a part of the data"
    while True:
        one_of = parts.pop(0)
        reached = searched(task, start, one_of, so_far)
        free = is_free(reached.best.vector, start.scale, start.bounds)
        if np.all(free) or not parts:
            break
    curvature, _ = reached.problem.hessian(reached.best.vector, start.scale, so_far.check)
    so_far.aside = ""
    unseen = _unseen(reached.problem, np.diagonal(curvature) * start.scale**2, free)
    walk = _Walk(start, positive_inverse(curvature, start.scale, free), so_far)
    if np.any(unseen):
        reached = walk.from_start(task, reached, unseen, one_of)
    else:
        for fewer in (*parts, 1):
            reached = walk.to_more(task, reached, one_of, fewer)
            one_of = fewer
    return in_rounds(task, start, reached, 1, walk, STILL, so_far)


def _unseen(problem: Problem, curvatures: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Say of every unknown whether it belongs to a latent that the data do not determine, or is a parameter beside one.

    Such a latent has a number at a bound, or one whose scaled curvature is less than one: unknown to a natural step.
    """
    owners = np.array([name.rpartition(".")[0] for name in problem.names])
    lost = {
        latent
        for latent, _ in problem.unknowns.prior.latents
        if np.any((~free | (curvatures < 1.0))[owners == latent])
    }
    parameters = np.array([name in problem.unknowns.parameters for name in problem.names])
    return np.isin(owners, sorted(lost)) | (parameters & bool(lost))


@dataclass
class _Walk:
    """A search from near an optimum that learns the curvature as it goes."""

    start: Start
    spread: np.ndarray
    so_far: BestSoFar

    def __call__(self, problem: Problem, vector: np.ndarray) -> Optimum:
        objective = self.so_far.objective(problem)
        refined = refine(objective, vector, self.spread, self.start.scale, self.start.bounds)
        if refined is None:
            deviations = np.sqrt(np.diagonal(self.spread))
            return minimise(objective, vector, deviations, self.start.bounds, tolerance=FINE)
        optimum, self.spread = refined
        return optimum

    def to_more(self, task: ExpansionTask, reached: Reached, one_of: int, fewer: int) -> Reached:
        """Walk on with more data. They show finer structure: while they are a part, shorter lengths are tried too."""
        self.so_far(f"learning, with {'all' if fewer == 1 else 'more'} data")
        self.spread *= fewer / one_of
        problem = task.linearise(reached.state, fewer)
        reached = reached.at(problem, self(problem, reached.best.vector))
        return reached if fewer == 1 else reached.at(problem, self._hopped(reached))

    def from_start(self, task: ExpansionTask, reached: Reached, unseen: np.ndarray, one_of: int) -> Reached:
        """Search with all data: for what a part did not show from the start, for the rest from where it was."""
        self.so_far("learning, with all data")
        self.spread /= one_of
        problem = task.linearise(reached.state)
        vector = np.where(unseen, self.start.vector, reached.best.vector)
        reached = reached.at(problem, settle(self.so_far.objective(problem), self.start, vector, ROUGH))
        return reached.at(problem, self(problem, reached.best.vector))

    def _hopped(self, reached: Reached) -> Optimum:
        """Return the optimum at shorter lengths with less noise, or the one that was reached if that is better."""
        shorter = reached.best.vector - longer_lengths(reached.problem.names)
        objective = self.so_far.objective(reached.problem)
        refined = refine(objective, shorter, self.spread, self.start.scale, self.start.bounds)
        if refined is None or not refined[0].value < reached.best.value:
            return replace(reached.best, evaluations=0)
        optimum, self.spread = refined
        return optimum
