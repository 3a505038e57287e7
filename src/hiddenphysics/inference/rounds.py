"""Learning when the coefficients are the state itself: fit, take the posterior mean, expand there, fit again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from hiddenphysics.forward import LinearModel
from hiddenphysics.inference.data import State, collect
from hiddenphysics.inference.fit import Fit, Progress, Status, judged, search, settle
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.start import Start
from hiddenphysics.inference.state import posterior_mean
from hiddenphysics.kernels import Kernel
from hiddenphysics.snapshots import Snapshots

MOST_ROUNDS = 12
"""Expansions around the posterior mean before a fit is called unsettled; three or four are usual."""
STILL = 1e-5
"""A change of a parameter, relative to its natural step, that is none."""
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
    model, kernels, snapshots
        What is fitted.
    first
        The state of the first expansion.
    begin
        Gives the start of the first fit; later ones start where the one before ended.
    """
    problem = Problem.of(model, kernels, collect(model, snapshots, first))
    start = begin(problem)
    best, evaluations = search(problem, start, progress)
    if model.frozen_snapshot is not None:
        return Settled(problem, judged(problem, start, best, evaluations, progress))
    count = len(model.parameters)
    moved = np.full(count, np.inf)
    for number in range(2, MOST_ROUNDS + 1):
        values = {name: float(v) for name, v in problem.layout.values(jnp.asarray(best.vector)).items()}
        state = posterior_mean(problem, values, first)
        problem = Problem.of(model, kernels, collect(model, snapshots, state))
        progress(f"learning, expansion {number}")
        again = settle(problem, start, best.vector)
        evaluations += again.evaluations
        moved = again.vector[:count] - best.vector[:count]
        best = again
        if np.all(np.abs(moved) < STILL * start.scale[:count]):
            break
    learned = judged(problem, start, best, evaluations, progress)
    return Settled(problem, _unless_moving(learned, moved, model))


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
