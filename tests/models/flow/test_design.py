"""The parabola through the evidence, on functions whose top and curvature are known."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from hiddenphysics.models.flow import design

TOP = {1: np.array([0.7]), 2: np.array([0.7, -1.2]), 3: np.array([0.7, -1.2, 5.0])}


@dataclass(frozen=True)
class Task:
    """What `explore` needs of a task."""

    bounds: np.ndarray
    frozen: bool = False
    fixed: bool = False


def explored(monkeypatch, evidence, centre, covariance, bounds=None):
    """Explore a function in place of the evidence of a fit."""

    def state_for(task, near, parameters, say):
        assert task.frozen
        assert task.fixed
        return design._Tried(parameters, evidence(parameters), SimpleNamespace(at=parameters)), 2

    monkeypatch.setattr(design, "_state_for", state_for)
    limits = np.tile([-np.inf, np.inf], (len(centre), 1)) if bounds is None else bounds
    said = []
    return design.explore(Task(limits), SimpleNamespace(), centre, covariance, said.append), said


def covariance_of(count):
    """Unlike deviations, correlated."""
    root = np.tril(0.5 * np.ones((count, count))) + np.diag(np.arange(1.0, count + 1))
    scale = np.diag(10.0 ** -np.arange(count))
    return scale @ root @ root.T @ scale


def parabola(count):
    precision = np.linalg.inv(covariance_of(count))
    return lambda p: 3.0 - 0.5 * (p - TOP[count]) @ precision @ (p - TOP[count])


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("wide", [0.5, 1.0, 3.0])
def test_a_parabola_is_recovered_whatever_the_design(monkeypatch, count, wide):
    begin = TOP[count] + np.linalg.cholesky(covariance_of(count)) @ np.ones(count)
    found, said = explored(monkeypatch, parabola(count), begin, wide**2 * covariance_of(count))
    np.testing.assert_allclose(found.parameters, TOP[count], rtol=1e-9)
    np.testing.assert_allclose(found.covariance, covariance_of(count), rtol=1e-8)
    # Points of a design, two rounds each, and the state at the top.
    # One ring is enough where nothing wiggles; of one parameter it has no point to spare that would show it.
    ring = {1: 3, 2: 9, 3: 15}[count]
    points = ring + (2 if count == 1 else 0)
    designs = (found.rounds // 2 - 1) / points
    assert designs in (1, 2, 3)
    assert f"design 1, point {ring} of {ring}" in said
    np.testing.assert_array_equal(found.last.at, found.parameters)


@pytest.mark.parametrize("seed", range(5))
def test_wiggles_move_it_little(monkeypatch, seed):
    """Of a wiggle 0.2 high, whose own curvature is six times the parabola's, little is left."""
    random = np.random.default_rng(seed)
    precision = np.linalg.inv(covariance_of(2))
    turn = np.linalg.cholesky(precision).T
    wave, phase = 5.5 * random.choice([-1, 1], 2), random.uniform(0, 2 * np.pi, 2)

    def wiggly(p):
        away = turn @ (p - TOP[2])
        return parabola(2)(p) + 0.2 * np.sum(np.sin(wave * away + phase))

    found, _ = explored(monkeypatch, wiggly, TOP[2], covariance_of(2))
    assert np.linalg.norm(turn @ (found.parameters - TOP[2])) < 0.5
    ratio = np.diagonal(found.covariance) / np.diagonal(covariance_of(2))
    assert np.all((ratio > 0.5) & (ratio < 2.0))


def test_large_wiggles_ask_for_a_second_ring(monkeypatch):
    root = np.linalg.cholesky(covariance_of(2))

    def wiggly(p):
        return parabola(2)(p) + 1.6 * np.sum(np.sin(23.0 * np.linalg.solve(root, p - TOP[2])))

    found, said = explored(monkeypatch, wiggly, TOP[2], covariance_of(2))
    assert "design 1, point 8 of 8" in said
    assert found.torn
    # Where wiggles put the top, no further design follows them.
    assert not any(line.startswith("design 2") for line in said)
    found, said = explored(monkeypatch, parabola(2), TOP[2], covariance_of(2))
    assert "design 1, point 8 of 8" not in said
    assert not found.torn


def test_directions_that_do_not_fall_keep_what_they_came_with(monkeypatch):
    covariance = np.diag([1.0, 4.0])

    def ridge(p):
        return -0.5 * (p[0] - 0.3) ** 2

    found, _ = explored(monkeypatch, ridge, np.array([0.0, 2.0]), covariance)
    np.testing.assert_allclose(found.parameters, [0.3, 2.0], atol=1e-9)
    np.testing.assert_allclose(np.diagonal(found.covariance), [1.0, 4.0], rtol=1e-6)


def test_bounds_and_points_without_a_number_are_respected(monkeypatch):
    bounds = np.array([[-np.inf, 0.5], [-np.inf, np.inf]])
    seen = []

    def cliff(p):
        seen.append(p)
        return parabola(2)(p) if p[1] > TOP[2][1] - 0.1 else np.nan

    found, _ = explored(monkeypatch, cliff, np.array([0.4, -1.2]), covariance_of(2), bounds)
    assert np.max(np.array(seen)[:, 0]) <= 0.5
    assert found.parameters[0] <= 0.5
    assert np.all(np.isfinite(found.covariance))
