"""Search: the best of a few optima of the likelihood.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hiddenphysics.learning import TIGHT, Objective, Optimum, minimise
from hiddenphysics.models.one_step.best_so_far import BestSoFar
from hiddenphysics.models.one_step.problem import Problem
from hiddenphysics.models.one_step.start import Start
from hiddenphysics.models.one_step.step import origin
from hiddenphysics.priors import NOISE

LONGER, NOISIER, MOST_HOPS = 1.5, 10.0, 4
"""How far in all lengths and in the noise variance, and how often, the search looks beyond an optimum."""
NEARER, FAINTER = 3.0, 30.0
"""Ratio of a latent's scales, and loss of the shortest one's variance, where the search looks a second time."""
GAIN = 1e-3
"""Optima whose log likelihoods differ by less are the same one."""


def settle(objective: Objective, start: Start, vector: np.ndarray, tolerance: float = TIGHT) -> Optimum:
    """Minimise from a point near the optimum."""
    return minimise(objective, vector, start.scale, start.bounds, tolerance=tolerance)


def search(
    problem: Problem, start: Start, so_far: BestSoFar, tolerance: float = TIGHT
) -> tuple[Optimum, int]:
    """Minimise from the start; then hop away from the optimum, and again while that gains.

    Clean data make several optima, one for every length at which the prior fits: seen on KdV, where the runner-up cost
    5 % in λ. So it hops to longer lengths with more noise, and to shorter with less. A prior on several scales has an
    optimum where the longer ones only carry the mean, and often a better one where they are eddies: it hops to scales
    that are nearer to each other.
    """
    optima: list[Optimum] = []
    objective = so_far.objective(problem)

    def run(vector: np.ndarray, name: str) -> Optimum:
        so_far(f"learning, {name}")
        optima.append(settle(objective, start, vector, tolerance))
        return optima[-1]

    best = run(start.vector, "from the regression")
    nearer = _with_scales_nearer(problem.names, best.vector)
    if np.any(nearer != best.vector):
        best = min(best, run(nearer, "scales nearer to each other"), key=value_of)
    hop = longer_lengths(problem.names)
    for direction, name in ((1.0, "longer lengths"), (-1.0, "shorter lengths")):
        for _ in range(MOST_HOPS):
            hopped = run(best.vector + direction * hop, name)
            if not value_of(hopped) < value_of(best) - GAIN:
                break
            best = hopped
    return best, sum(o.evaluations for o in optima)


def longer_lengths(names: Sequence[str]) -> np.ndarray:
    """Return the step of the unconstrained vector to longer lengths and more noise."""
    longer = np.array([np.log(LONGER) if ".length_" in name else 0.0 for name in names])
    longer[names.index(NOISE)] = np.log(NOISIER)
    return longer


def _with_scales_nearer(names: Sequence[str], vector: np.ndarray) -> np.ndarray:
    """Return the vector with every latent's scales `NEARER` times as long as the one before, the shortest fainter."""
    moved, index = vector.copy(), {name: k for k, name in enumerate(names)}
    for name, k in index.items():
        of, _, quantity = name.rpartition(".")
        latent, number = origin(of) if of else (name, 1)
        first = index.get(f"{latent}.{quantity}")
        if number == 1 or first is None:
            continue
        if quantity == "variance":
            moved[first] = vector[first] - np.log(FAINTER)
        else:
            moved[k] = vector[first] + (number - 1) * np.log(NEARER)
    return moved


def value_of(optimum: Optimum) -> float:
    """Return the objective at an optimum; infinity where it has no value."""
    return optimum.value if np.isfinite(optimum.value) else np.inf
