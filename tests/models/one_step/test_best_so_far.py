"""What a search that is stopped has left: the best look within the bounds, of the last problem."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hiddenphysics.learning import Stopped, silent
from hiddenphysics.models.one_step.best_so_far import BestSoFar
from hiddenphysics.models.one_step.optimum import stopped_at
from hiddenphysics.models.one_step.problem import Problem
from hiddenphysics.models.one_step.start import Start


class Parabola(Problem):
    """The objective (x − optimum)², not a number beyond 10."""

    def __init__(self, optimum: float) -> None:
        object.__setattr__(self, "optimum", optimum)
        object.__setattr__(self, "data", SimpleNamespace(values=(np.zeros(3),)))

    def objective(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        distance = vector - self.optimum
        return float(distance @ distance) if vector[0] < 10 else np.nan, 2 * distance


def bounded() -> Start:
    """Return a start within 0 ≤ x ≤ 2, natural step 1."""
    return Start(np.ones(1), np.ones(1), np.array([[0.0, 2.0]]))


def test_the_best_look_within_the_bounds_is_kept() -> None:
    so_far, problem = BestSoFar(silent, bounded()), Parabola(3.0)
    look = so_far.objective(problem)
    for x in (1.0, 1.5, 3.0, 0.5, 11.0):
        look(np.array([x]))
    assert so_far.kept is not None
    assert so_far.kept[1].vector == 1.5
    assert so_far.kept[1].value == 1.5**2
    look(np.array([2.0 + 1e-12]))
    assert so_far.kept[1].vector == 2.0
    assert so_far.looks == 6


def test_another_problem_begins_anew_with_its_first_number() -> None:
    so_far, first, second = BestSoFar(silent, bounded()), Parabola(1.0), Parabola(5.0)
    so_far.objective(first)(np.array([1.0]))
    so_far.objective(second)(np.array([11.0]))
    assert so_far.kept is not None
    assert so_far.kept[0] is first
    so_far.objective(second)(np.array([1.0]))
    assert so_far.kept[0] is second
    assert so_far.kept[1].value == 16.0


def test_without_a_look_the_answer_is_the_start() -> None:
    problem = Parabola(1.0)
    end = stopped_at(BestSoFar(silent, bounded()), problem, "Interrupted.")
    assert end.problem is problem
    assert end.optimum.vector == 1.0
    assert np.isnan(end.optimum.value)
    assert np.all(np.isinf(np.diagonal(end.covariance)))


def test_a_look_that_ends_the_search_counts() -> None:
    def impatient(_stage: str) -> None:
        raise Stopped("Interrupted.")

    so_far, problem = BestSoFar(impatient, bounded()), Parabola(1.0)
    with pytest.raises(Stopped):
        so_far.objective(problem)(np.array([0.5]))
    end = stopped_at(so_far, problem, "Interrupted.")
    assert end.optimum.vector == 0.5
    assert end.verdict.explanation.startswith("Interrupted. ")
    assert np.all(np.isinf(np.diagonal(end.covariance)))
