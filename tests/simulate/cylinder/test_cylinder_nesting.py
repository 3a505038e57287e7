"""Nested grids: how they fit, what passes between them, and that they solve the whole plane."""

from itertools import pairwise

import numpy as np
import pytest

from hiddenphysics.simulate.cylinder import FlowSettings, Stepper, circle
from hiddenphysics.simulate.cylinder.nesting import (
    MultiDomain,
    UniformGrid,
    coarsen,
    coarsen_outward,
    edges_from_coarser,
    halve,
    nested_grids,
    overlap,
)
from hiddenphysics.simulate.cylinder.stages import kicked


def interiors(function, grids):
    return [function(grid.x[1:-1, None], grid.y[None, 1:-1]) for grid in grids]


@pytest.mark.parametrize("cells", [(450, 200), (180, 80), (18, 14), (8, 10)])
def test_every_second_node_is_a_node_of_the_coarser_grid(cells):
    fine = UniformGrid(cells, 0.02, (-1.0, -2.0))
    coarse = fine.coarser()
    in_x, in_y = overlap(fine)
    np.testing.assert_allclose(coarse.x[1:-1][in_x], fine.x[2:-2:2], atol=1e-12)
    np.testing.assert_allclose(coarse.y[1:-1][in_y], fine.y[2:-2:2], atol=1e-12)


def test_the_papers_four_grids_reach_sixteen_diameters_up_and_down():
    outer = nested_grids(FlowSettings())[-1]
    assert (outer.y[0], outer.y[-1]) == pytest.approx((-16, 16))
    assert outer.x[-1] - outer.x[0] == pytest.approx(72)


def test_coarsening_keeps_linear_fields_and_circulation():
    x, y = np.arange(15.0)[:, None], np.arange(11.0)[None, :]
    np.testing.assert_allclose(coarsen(2 * x - 3 * y + 1), (2 * x - 3 * y + 1)[1::2, 1::2], rtol=1e-13)
    spike = np.zeros((15, 11))
    spike[3:9, 2:8] = np.random.default_rng(0).normal(size=(6, 6))
    assert 4 * coarsen(spike).sum() == pytest.approx(spike.sum(), rel=1e-12)


def test_coarsening_weights_are_a_quarter_an_eighth_a_sixteenth():
    for (i, j), weight in {(3, 3): 1 / 4, (3, 4): 1 / 8, (2, 3): 1 / 8, (4, 4): 1 / 16}.items():
        spike = np.zeros((7, 7))
        spike[i, j] = 1
        assert coarsen(spike)[1, 1] == weight


def test_edge_values_are_exact_for_cubics():
    fine = UniformGrid((12, 16), 0.1, (-0.4, 0.3))
    coarse = fine.coarser()

    def cubic(x, y):
        return 1 + x - y + x**3 - 2 * y**3 + x**2 * y

    field = edges_from_coarser(fine, cubic(coarse.x[:, None], coarse.y[None, :]))
    exact = cubic(fine.x[:, None], fine.y[None, :])
    for edge in ((0, slice(None)), (-1, slice(None)), (slice(None), 0), (slice(None), -1)):
        np.testing.assert_allclose(field[edge], exact[edge], atol=1e-12)
    assert not field[1:-1, 1:-1].any()


def test_halving_keeps_the_nodes():
    line = np.random.default_rng(1).normal(size=9)
    np.testing.assert_array_equal(halve(line)[::2], line[1:-1])


def poisson_error(cells):
    """ψ = exp(−r²/w²) reaches beyond the finest grid [−1, 1]²; −∇²ψ is given, ψ wanted."""
    settings = FlowSettings(
        cells=(cells, cells), spacing=2 / cells, corner=(-1.0, -1.0), levels=3, time_step=1e-3
    )
    grids = nested_grids(settings)
    width = 0.8

    def psi(x, y):
        return np.exp(-((x - 0.3) ** 2 + y**2) / width**2)

    def omega(x, y):
        return (4 / width**2 - 4 * ((x - 0.3) ** 2 + y**2) / width**4) * psi(x, y)

    solved = MultiDomain(grids, 0.0, 1.0).solve(interiors(omega, grids))
    return max(
        np.abs(field[1:-1, 1:-1] - exact).max()
        for field, exact in zip(solved, interiors(psi, grids), strict=True)
    )


def test_the_nested_poisson_solve_is_second_order_in_the_whole_plane():
    errors = [poisson_error(cells) for cells in (16, 32, 64)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert errors[-1] < 5e-3
    assert orders.min() > 1.8, (errors, orders)


def test_the_fine_edges_hold_the_coarse_solution():
    grids = nested_grids(FlowSettings(cells=(20, 16), spacing=0.1, corner=(-1.0, -0.8), levels=3))
    rhs = [np.random.default_rng(k).normal(size=(19, 15)) for k in range(3)]
    fields = MultiDomain(grids, 1.0, 0.01).solve(rhs)
    for fine, coarse in pairwise(fields):
        np.testing.assert_array_equal(fine[0, ::2], coarse[5, 4:13])
        np.testing.assert_array_equal(fine[::2, -1], coarse[5:16, 12])
    assert not fields[-1][0].any()


def test_coarsening_outward_changes_the_overlaps_only():
    grids = nested_grids(FlowSettings(cells=(20, 16), spacing=0.1, corner=(-1.0, -0.8), levels=3))
    fields = [np.random.default_rng(k).normal(size=(19, 15)) for k in range(3)]
    result = coarsen_outward(grids, fields)
    for grid, fine, old, new in zip(grids, result, fields[1:], result[1:], strict=False):
        np.testing.assert_array_equal(new[overlap(grid)], coarsen(fine))
        kept = np.ones(new.shape, dtype=bool)
        kept[overlap(grid)] = False
        np.testing.assert_array_equal(new[kept], old[kept])


def nested_against_one_grid(cells):
    """A vortex pair carried by the stream: nested grids, and one fine grid as large as the outer of them."""
    spacing = 2 / cells
    common = {"spacing": spacing, "time_step": spacing / 2}
    nested = Stepper(FlowSettings(cells=(cells, cells), corner=(-1.0, -1.0), levels=2, **common), None)
    single = Stepper(
        FlowSettings(cells=(2 * cells, 2 * cells), corner=(-2.0, -2.0), levels=1, **common), None
    )
    finals = []
    for stepper in (nested, single):
        state = stepper.state(
            [
                grid.y[None, :] * np.exp(-(grid.x[:, None] ** 2 + grid.y[None, :] ** 2) / 0.3)
                for grid in stepper.grids
            ]
        )
        for _ in range(round(0.5 / stepper.settings.time_step)):
            state, _ = stepper.step(state)
        finals.append(state.omega[0])
    quarter = cells // 2
    return np.abs(finals[0] - finals[1][quarter:-quarter, quarter:-quarter]).max() / np.abs(finals[1]).max()


def test_nested_grids_agree_with_one_large_grid_to_second_order():
    differences = [nested_against_one_grid(cells) for cells in (16, 32, 64)]
    orders = np.log2(np.divide(differences[:-1], differences[1:]))
    assert differences[-1] < 2e-3
    assert orders.min() > 1.6, (differences, orders)


def test_a_step_leaves_each_overlap_with_the_finer_grids_vorticity():
    stepper = Stepper(FlowSettings(cells=(40, 24), spacing=0.1, corner=(-1.0, -1.2), levels=3), circle(0.1))
    state, _ = stepper.step(stepper.state(kicked(stepper.grids)))
    for grid, (fine, coarse) in zip(stepper.grids, pairwise(state.omega), strict=False):
        assert np.abs(fine).max() > 0.1
        np.testing.assert_array_equal(coarse[1:-1, 1:-1][overlap(grid)], coarsen(fine[1:-1, 1:-1]))
