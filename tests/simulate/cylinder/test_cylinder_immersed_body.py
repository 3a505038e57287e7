"""The body's points, the discrete delta, the interpolation matrix; no slip, the force system, what forces mean."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import splu

from hiddenphysics.simulate.cylinder import FlowSettings, Stepper, circle
from hiddenphysics.simulate.cylinder.immersed_body import interpolation, roma_delta
from hiddenphysics.simulate.cylinder.nesting import UniformGrid
from hiddenphysics.simulate.cylinder.stages import kicked
from hiddenphysics.simulate.cylinder.stepper import RK3

GRID = UniformGrid(cells=(20, 16), spacing=0.1, corner=(-1.0, -0.8))
SMALL = {"cells": (24, 20), "spacing": 0.1, "corner": (-1.0, -1.0), "time_step": 0.05}


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


# ---- the forces --------------------


def difference(count):
    """One-cell differences (count, count + 1)."""
    return sparse.diags_array([-np.ones(count), np.ones(count)], offsets=[0, 1], shape=(count, count + 1))


def sparse_curl(cells, spacing):
    """C as a matrix from interior nodes to (u, v), put together from Kronecker products."""
    m, n = cells
    inner_x = sparse.csr_array(sparse.eye_array(m + 1))[:, 1:-1]
    inner_y = sparse.csr_array(sparse.eye_array(n + 1))[:, 1:-1]
    u = sparse.kron(inner_x, difference(n) @ inner_y)
    v = -sparse.kron(difference(m) @ inner_x, inner_y)
    return sparse.csc_array(sparse.vstack([u, v]) / spacing)


def twin_matrix(stepper, beta):
    """M = E C (−L)⁻¹ A⁻¹ β CᵀEᵀ with L = −CᵀC, by sparse direct solves."""
    settings = stepper.settings
    C = sparse_curl(settings.cells, settings.spacing)
    E = interpolation(stepper.grids[0], circle(settings.spacing))
    minus_L = sparse.csc_array(C.T @ C)
    A = sparse.csc_array(sparse.eye_array(minus_L.shape[0]) + beta / (2 * settings.reynolds) * minus_L)
    turning = (C.T @ E.T).toarray()
    return E @ (C @ splu(minus_L).solve(splu(A).solve(beta * turning)))


@pytest.fixture(scope="module")
def single():
    return Stepper(FlowSettings(**SMALL, levels=1), circle(0.1))


@pytest.mark.parametrize("index", range(3))
def test_the_force_matrix_equals_its_sparse_twin(single, index):
    M = single.projections[index].matrix()
    twin = twin_matrix(single, RK3[index].beta * single.settings.time_step)
    np.testing.assert_allclose(M, twin, rtol=0, atol=1e-12 * np.abs(twin).max())


@pytest.mark.parametrize("index", range(3))
def test_the_force_matrix_is_symmetric_positive_definite(single, index):
    M = single.projections[index].matrix()
    assert np.abs(M - M.T).max() < 1e-13 * np.abs(M).max()
    assert np.linalg.eigvalsh((M + M.T) / 2).min() > 1e-12 * np.abs(M).max()


def test_nested_grids_disturb_the_symmetry_only_slightly():
    stepper = Stepper(FlowSettings(**SMALL, levels=3), circle(0.1))
    M = stepper.projections[0].matrix()
    assert np.abs(M - M.T).max() < 2e-3 * np.abs(M).max()
    assert np.linalg.eigvalsh((M + M.T) / 2).min() > 0


@pytest.mark.parametrize("levels", [1, 3])
def test_the_fluid_does_not_slip_on_the_body(levels):
    stepper = Stepper(FlowSettings(**SMALL, levels=levels), circle(0.1))
    state = stepper.state(kicked(stepper.grids))
    projection = stepper.projections[-1]
    assert np.abs(projection.slip(state.psi[0], 1.0)).max() > 0.9
    for _ in range(5):
        state, _ = stepper.step(state)
        assert np.abs(projection.slip(state.psi[0], 1.0)).max() < 1e-10


def test_forces_are_the_loss_of_the_fluids_impulse():
    """F = −dI/dt, I = ∫(yω, −xω) dA, plus the lift −UΓ of a stream past circulation (Wu 1981).

    An account of the momentum that uses nothing of the body, for a wake still far from the grid's edge.
    """
    dt = 0.05
    settings = FlowSettings(cells=(120, 120), spacing=0.1, corner=(-6.0, -6.0), levels=1, time_step=dt)
    stepper = Stepper(settings, circle(0.1))
    grid = stepper.grids[0]

    def moments(state):
        omega = state.omega[0] * grid.spacing**2
        return (grid.y * omega).sum(), -(grid.x[:, None] * omega).sum(), omega.sum()

    state = stepper.state(kicked(stepper.grids))
    for _ in range(10):
        state, _ = stepper.step(state)
    before, impulse, circulation = moments(state), np.zeros(2), 0.0
    for _ in range(20):
        state, force = stepper.step(state)
        impulse += force * dt
        circulation += moments(state)[2] * dt
    after = moments(state)
    drag = -2 * (after[0] - before[0])
    lift = -2 * (after[1] - before[1]) - 2 * circulation
    assert impulse[0] == pytest.approx(drag, rel=0.01)
    assert impulse[1] == pytest.approx(lift, abs=0.01 * drag)


def test_a_symmetric_flow_has_no_lift_and_a_drag():
    stepper = Stepper(FlowSettings(**SMALL, levels=2), circle(0.1))
    state = stepper.state([np.zeros(grid.nodes) for grid in stepper.grids])
    for _ in range(10):
        state, (drag, lift) = stepper.step(state)
    assert abs(lift) < 1e-10
    assert 0.5 < drag < 10
