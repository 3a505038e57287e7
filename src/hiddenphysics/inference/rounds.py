"""Learning when the coefficients are the state itself: fit, take the posterior mean, expand there, fit again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from hiddenphysics.forward import LinearModel
from hiddenphysics.inference.data import State, collect
from hiddenphysics.inference.fit import Fit, Progress, Status, judged, longer_lengths, search, settle
from hiddenphysics.inference.laplace import positive_inverse
from hiddenphysics.inference.likelihood import hessian
from hiddenphysics.inference.optimise import TIGHT, Optimum, is_free, refine
from hiddenphysics.inference.problem import Problem
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
WITHIN = 0.02
"""A change that does not matter, in standard deviations."""
MANY = 600
"""Above so many values the search begins with a part of them: an evaluation costs their number cubed."""
PARTS = (4, 2)
"""Every fourth point; every second, where a fourth of them leave an unknown at a bound."""


@dataclass(frozen=True)
class Settled:
    """The problem in its last expansion, and the fit to it."""

    problem: Problem
    fit: Fit


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


def fit_model(
    model: LinearModel,
    kernels: Mapping[str, Kernel],
    snapshots: Snapshots,
    first: State,
    begin: Callable[[Problem], Start],
    progress: Progress,
) -> Settled:
    """Fit a model; once, or in rounds where its coefficients are the posterior mean of its own latents.

    Parameters
    ----------
    model, kernels, snapshots, first
        See `Task`.
    begin
        Gives the start of the first fit; later ones start where the one before ended.
    """
    task = Task(model, kernels, snapshots, first)
    problem = task.problem(first)
    start = begin(problem)
    many = problem.size > MANY
    reached = _from_a_part(task, start, progress) if many else _searched(task, start, 1, progress)
    learned = judged(reached.problem, start, reached.best, reached.evaluations, progress)
    return Settled(reached.problem, _unless_moving(learned, reached.moved, model))


def _searched(task: Task, start: Start, one_of: int, progress: Progress) -> Reached:
    """Search from the start, then expand until the parameters are still."""
    problem = task.problem(task.first, one_of)
    tolerance, still = (TIGHT, STILL) if one_of == 1 else (ROUGH, ROUGHLY_STILL)
    best, evaluations = search(problem, start, progress, tolerance)
    begun = Reached(problem, task.first, best, evaluations, np.zeros(len(task.model.parameters)))

    def again(problem: Problem, vector: np.ndarray) -> Optimum:
        return settle(problem, start, vector, tolerance)

    return _in_rounds(task, start, begun, one_of, again, still, progress)


def _from_a_part(task: Task, start: Start, progress: Progress) -> Reached:
    """Search with a part of the data, then walk to the optimum of more and more of them.

    The optimum of a part lies near that of the whole, and its curvature tells how to walk there: a tenth of the
    evaluations of the whole. More data show finer structure, so the last step also tries shorter lengths.
    """
    parts = list(PARTS)
    while True:
        one_of = parts.pop(0)
        reached = _searched(task, start, one_of, lambda stage: progress(f"{stage}, with a part of the data"))
        free = is_free(reached.best.vector, start.scale, start.bounds)
        if np.all(free) or not parts:
            break
    curvature, _ = hessian(reached.problem.layout, reached.best.vector, reached.problem.data, start.scale)
    walk = _Walk(start, positive_inverse(curvature, start.scale, free))
    for fewer in (*parts, 1):
        progress(f"learning, with {'all' if fewer == 1 else 'more'} data")
        walk.spread *= fewer / one_of
        one_of = fewer
        problem = task.problem(reached.state, one_of)
        reached = reached.at(problem, walk(problem, reached.best.vector))
    reached = reached.at(reached.problem, walk.hopped(reached))
    return _in_rounds(task, start, reached, 1, walk, STILL, progress)


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


def _in_rounds(
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


def _unless_moving(learned: Fit, moved: np.ndarray, model: LinearModel) -> Fit:
    """Say so when the last expansion still moved a parameter by something that matters."""
    spread = np.sqrt(np.diagonal(learned.laplace.covariance))[: moved.size]
    far = [p for p, m, s in zip(model.parameters, np.abs(moved), spread, strict=True) if m > WITHIN * s]
    small = np.abs(moved) <= 1e-3 * np.abs(learned.optimum.vector[: moved.size])
    if not far or np.all(small) or learned.status is not Status.CONVERGED:
        return learned
    return replace(
        learned,
        status=Status.NOT_CONVERGED,
        explanation=f"{' and '.join(far)} still moved after {MOST_ROUNDS} expansions around the posterior mean.",
    )
