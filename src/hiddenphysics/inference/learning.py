"""Learning, from a model and snapshots to a fit: with all values at once, or with a part of them first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hiddenphysics.forward import LinearModel
from hiddenphysics.inference.data import MANY, State
from hiddenphysics.inference.fit import Fit, Status, judged
from hiddenphysics.inference.parts import from_a_part
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.rounds import MOST_ROUNDS, Task, searched
from hiddenphysics.inference.search import Progress
from hiddenphysics.inference.start import Start
from hiddenphysics.kernels import Kernel
from hiddenphysics.snapshots import Snapshots

WITHIN = 0.02
"""A change that does not matter, in standard deviations."""


@dataclass(frozen=True)
class Settled:
    """The problem in its last expansion, and the fit to it."""

    problem: Problem
    fit: Fit


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
    reached = from_a_part(task, start, progress) if many else searched(task, start, 1, progress)
    learned = judged(reached.problem, start, reached.best, reached.evaluations, progress)
    return Settled(reached.problem, _unless_moving(learned, reached.moved, model))


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
