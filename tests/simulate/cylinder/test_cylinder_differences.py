"""The discrete curl, Laplacian and advection against their definitions and slow twins."""

import numpy as np
import pytest

from hiddenphysics.simulate.cylinder.differences import (
    advection,
    curl,
    curl_transpose,
    laplacian,
    node_velocity,
)
from hiddenphysics.simulate.cylinder.nesting import Elliptic, UniformGrid, laplacian_eigenvalues

GRID = UniformGrid(cells=(14, 10), spacing=0.1, corner=(-0.3, 0.2))
D = GRID.spacing


def divergence(u, v, spacing):
    """∂u/∂x + ∂v/∂y at cell centres."""
    return (np.diff(u, axis=0) + np.diff(v, axis=1)) / spacing


def nodes(seed, zero_edges=False):
    field = np.random.default_rng(seed).normal(size=GRID.nodes)
    if zero_edges:
        field[[0, -1]] = 0
        field[:, [0, -1]] = 0
    return field


def test_the_curl_of_any_stream_function_has_no_divergence():
    u, v = curl(nodes(1), D)
    assert np.abs(u).max() > 1
    assert np.abs(divergence(u, v, D)).max() < 1e-11


def test_divergence_sees_a_source():
    u = np.tile(GRID.x[:, None], (1, GRID.cells[1]))
    v = np.tile(2 * GRID.y[None, :], (GRID.cells[0], 1))
    np.testing.assert_allclose(divergence(u, v, D), 3.0, rtol=1e-12)


def test_curl_transpose_is_the_transpose_of_curl():
    rng = np.random.default_rng(2)
    psi = nodes(3, zero_edges=True)
    u, v = curl(psi, D)
    a, b = rng.normal(size=u.shape), rng.normal(size=v.shape)
    there = np.sum(u * a) + np.sum(v * b)
    back = np.sum(psi[1:-1, 1:-1] * curl_transpose(a, b, D))
    assert there == pytest.approx(back, rel=1e-12)


def test_laplacian_is_minus_curl_transpose_curl_up_to_the_edges():
    psi = nodes(4)
    np.testing.assert_allclose(laplacian(psi, D), -curl_transpose(*curl(psi, D), D), rtol=1e-11, atol=1e-10)


def test_laplacian_is_exact_on_quadratics_with_the_right_sign():
    x, y = GRID.x[:, None], GRID.y[None, :]
    np.testing.assert_allclose(laplacian(x**2 + 3 * y**2 + x * y, D), 8.0, rtol=1e-10)


def test_sine_modes_are_eigenvectors_of_the_laplacian():
    m, n = GRID.cells
    mode = np.sin(np.pi * 3 * np.arange(m + 1) / m)[:, None] * np.sin(np.pi * 5 * np.arange(n + 1) / n)
    eigenvalue = laplacian_eigenvalues(GRID)[2, 4]
    np.testing.assert_allclose(laplacian(mode, D), eigenvalue * mode[1:-1, 1:-1], atol=1e-10)


@pytest.mark.parametrize(("shift", "diffusion"), [(0.0, 1.0), (1.0, 0.003), (2.0, 0.7)])
def test_elliptic_solution_solves_its_equation_with_its_edges(shift, diffusion):
    field = nodes(5)
    edges = field.copy()
    rhs = np.random.default_rng(6).normal(size=(GRID.cells[0] - 1, GRID.cells[1] - 1))
    Elliptic(GRID, shift, diffusion).solve(rhs, field)
    np.testing.assert_array_equal(field[0], edges[0])
    np.testing.assert_array_equal(field[:, -1], edges[:, -1])
    np.testing.assert_allclose(shift * field[1:-1, 1:-1] - diffusion * laplacian(field, D), rhs, atol=1e-10)


def test_node_velocity_is_the_mean_of_the_edges_beside_the_node():
    psi = nodes(7)
    u, v = curl(psi, D)
    at_nodes = node_velocity(psi, D, stream=1.5)
    np.testing.assert_allclose(at_nodes[0], (u[:, 1:] + u[:, :-1]) / 2 + 1.5, rtol=1e-12)
    np.testing.assert_allclose(at_nodes[1], (v[1:] + v[:-1]) / 2, rtol=1e-12)


def test_advection_is_the_averages_and_the_curl_transpose_of_the_method():
    """The written-out twin: velocity to nodes, times ω, (vω, −uω) back to edges, then Cᵀ."""
    omega, psi = nodes(8), nodes(9)
    u, v = np.zeros(GRID.nodes), np.zeros(GRID.nodes)
    u[:, 1:-1], v[1:-1] = node_velocity(psi, D, stream=1.0)
    cross_u = (v * omega)[:, 1:] / 2 + (v * omega)[:, :-1] / 2
    cross_v = -((u * omega)[1:] + (u * omega)[:-1]) / 2
    np.testing.assert_allclose(advection(omega, psi, D, 1.0), curl_transpose(cross_u, cross_v, D), atol=1e-10)


def test_a_uniform_stream_carries_vorticity_downstream():
    omega = np.tile(np.sin(GRID.x)[:, None], (1, GRID.nodes[1]))
    expected = -2.0 * np.cos(GRID.x[1:-1]) * np.sin(D) / D
    carried = advection(omega, np.zeros(GRID.nodes), D, stream=2.0)
    np.testing.assert_allclose(carried, np.tile(expected[:, None], (1, GRID.cells[1] - 1)), rtol=1e-10)
