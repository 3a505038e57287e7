"""The body's points, the discrete delta and the interpolation matrix."""

import numpy as np
import pytest

from hiddenphysics.simulate.cylinder.body import circle, interpolation, roma_delta
from hiddenphysics.simulate.cylinder.grid import Grid

GRID = Grid(cells=(20, 16), spacing=0.1, corner=(-1.0, -0.8))


def test_the_papers_grid_has_157_points_on_the_cylinder():
    points = circle(0.02)
    assert points.shape == (157, 2)
    np.testing.assert_allclose(np.hypot(*points.T), 0.5, rtol=1e-14)


def test_points_are_spaced_like_the_grid_and_mirror_in_the_axis():
    points = circle(0.1)
    gaps = np.hypot(*(points - np.roll(points, 1, axis=0)).T)
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-12)
    assert gaps[0] == pytest.approx(0.1, rel=0.03)
    mirrored = points * [1, -1]
    assert all(np.abs(points - point).sum(axis=1).min() < 1e-12 for point in mirrored)


@pytest.mark.parametrize("offset", np.linspace(-0.5, 0.5, 11))
def test_roma_delta_keeps_sum_first_moment_and_sum_of_squares(offset):
    """The three conditions that define the function: 1, 0 and ½ for every position in a cell."""
    r = np.arange(-3, 4) - offset
    assert roma_delta(r).sum() == pytest.approx(1, rel=1e-13)
    assert (r * roma_delta(r)).sum() == pytest.approx(0, abs=1e-13)
    assert (roma_delta(r) ** 2).sum() == pytest.approx(0.5, rel=1e-13)


def test_interpolation_is_exact_for_linear_velocities():
    points = circle(0.1)
    half = GRID.spacing / 2
    u = 1 + 2 * GRID.x[:, None] - 3 * (GRID.y[None, :-1] + half)
    v = 4 - 5 * (GRID.x[:-1, None] + half) + 6 * GRID.y[None, :]
    got = interpolation(GRID, points) @ np.concatenate([u.ravel(), v.ravel()])
    x, y = points.T
    np.testing.assert_allclose(got, np.concatenate([1 + 2 * x - 3 * y, 4 - 5 * x + 6 * y]), rtol=1e-11)


def test_each_point_touches_nine_edges_in_each_direction():
    matrix = interpolation(GRID, circle(0.1))
    assert matrix.shape == (2 * 31, 21 * 16 + 20 * 17)
    touched = (matrix.toarray() > 1e-12).sum(axis=1)
    assert touched.max() == 9
    assert touched.min() >= 4
