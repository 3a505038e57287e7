"""Rounds that creep are carried to where they are going; others are left alone."""

from types import SimpleNamespace

import numpy as np
import pytest

from hiddenphysics.models.flow.acceleration import further

GOAL_Z, GOAL = np.array([[1.0, -2.0]]), np.array([0.5, 3.0])
BOUNDS = np.array([[-10.0, 10.0], [-10.0, 10.0]])


def crept(factors, count):
    """Rounds of a linear iteration whose error shrinks by a factor in each of its four directions."""
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    data = SimpleNamespace(A=np.eye(2)[None], B=np.eye(2)[None], known=np.zeros((1, 2)))
    linear = SimpleNamespace(data=data, spectrum=lambda theta: np.ones(2))
    error, made = np.ones(4), []
    for _ in range(count):
        after = turn @ (factors * (turn.T @ error))
        at = SimpleNamespace(z=GOAL_Z + error[:2], parameters=GOAL + error[2:])
        step = after[2:] - error[2:]
        solved = SimpleNamespace(mean=GOAL_Z + after[:2], slope=np.zeros((1, 2, 2)))
        tuned = SimpleNamespace(theta=np.zeros(3))
        made.append(
            SimpleNamespace(
                at=at, step=step, solved=solved, tuned=tuned, linear=linear, held=False, fine=True
            )
        )
        error = after
    return made


@pytest.mark.parametrize("factor", [0.7, 0.95, -0.6])
def test_two_rounds_that_shrink_by_one_factor_tell_where_they_go(factor):
    point = further(crept(np.full(4, factor), 2), BOUNDS)
    np.testing.assert_allclose(point.z, GOAL_Z, atol=1e-10)
    np.testing.assert_allclose(point.parameters, GOAL, atol=1e-10)


def test_three_rounds_tell_it_of_two_factors():
    """The scratch assay's steps: 0.7 of the one before in the mean, and every second one longer than that."""
    point = further(crept(np.array([0.7, 0.7, -0.3, -0.3]), 3), BOUNDS)
    np.testing.assert_allclose(np.append(point.z, point.parameters), np.append(GOAL_Z, GOAL), atol=1e-8)


def test_what_converges_quickly_is_left_alone():
    assert further(crept(np.full(4, 0.1), 4), BOUNDS) is None


def test_one_round_tells_nothing_and_bounds_hold():
    assert further(crept(np.full(4, 0.7), 1), BOUNDS) is None
    point = further(crept(np.full(4, 0.7), 2), np.array([[-1.0, 0.1], [-10.0, 10.0]]))
    np.testing.assert_allclose(point.parameters, [0.1, 3.0])
