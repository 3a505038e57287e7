"""Measured orders of convergence, in space against a closed form, in time by refinement."""

from itertools import pairwise

import numpy as np
import pytest

from hiddenphysics.simulate.cylinder import FlowSettings, Stepper

RE = 100.0


def lamb_oseen(grid, age, centre):
    """ω = (Γ Re/4πt) exp(−Re r²/4t), Γ = 1: a point vortex after diffusing for `age`."""
    r2 = (grid.x[:, None] - centre) ** 2 + grid.y[None, :] ** 2
    return RE / (4 * np.pi * age) * np.exp(-RE * r2 / (4 * age))


def oseen_error(cells):
    """Relative error after the vortex has moved with the stream and decayed for half a time unit."""
    settings = FlowSettings(
        cells=(cells, cells),
        spacing=4 / cells,
        corner=(-2.0, -2.0),
        levels=3,
        time_step=1 / cells,
        reynolds=RE,
    )
    stepper = Stepper(settings, None, stream=1.0)
    state = stepper.state([lamb_oseen(grid, 4.0, -0.25) for grid in stepper.grids])
    for _ in range(cells // 2):
        state, _ = stepper.step(state)
    exact = lamb_oseen(stepper.grids[0], 4.5, 0.25)
    return np.abs(state.omega[0] - exact).max() / exact.max()


def test_an_oseen_vortex_moves_and_decays_at_second_order():
    errors = [oseen_error(cells) for cells in (32, 64, 128)]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert errors[-1] < 0.005
    np.testing.assert_allclose(orders, 2.0, atol=0.1)


def vorticity_after(time_step, reynolds, duration):
    settings = FlowSettings(
        cells=(32, 32), spacing=0.125, corner=(-2.0, -2.0), levels=2, time_step=time_step, reynolds=reynolds
    )
    stepper = Stepper(settings, None)
    state = stepper.state(
        [
            3 * np.exp(-((grid.x[:, None] + 0.3) ** 2 + 2 * grid.y[None, :] ** 2) / 0.64)
            for grid in stepper.grids
        ]
    )
    for _ in range(round(duration / time_step)):
        state, _ = stepper.step(state)
    return state.omega[0]


@pytest.mark.parametrize(("reynolds", "duration", "order"), [(1.0, 0.4, 2), (1e6, 0.8, 3)])
def test_diffusion_is_second_and_advection_third_order_in_time(reynolds, duration, order):
    finals = [vorticity_after(dt, reynolds, duration) for dt in (0.1, 0.05, 0.025, 0.0125)]
    gaps = [np.abs(a - b).max() for a, b in pairwise(finals)]
    np.testing.assert_allclose(np.log2(np.divide(gaps[:-1], gaps[1:])), order, atol=0.2)
