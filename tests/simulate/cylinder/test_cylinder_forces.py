"""Force statistics on signals with known answers, and shedding of the real thing on a coarse grid."""

import dataclasses

import numpy as np
import pytest

from hiddenphysics.errors import ModelError
from hiddenphysics.simulate.cylinder import FlowSettings, Stepper, circle, force_statistics, outside_bands
from hiddenphysics.simulate.cylinder.stages import kicked

TIME = np.arange(0, 40, 0.02)
PHASE = 2 * np.pi * 0.165 * TIME
GOOD = force_statistics(TIME, 1.35 + 0.009 * np.sin(2 * PHASE), 0.33 * np.sin(PHASE + 0.4))


def test_statistics_of_a_known_signal():
    assert GOOD.periods == 5
    assert GOOD.strouhal == pytest.approx(0.165, rel=1e-5)
    assert GOOD.mean_drag == pytest.approx(1.35, abs=1e-4)
    assert GOOD.drag_amplitude == pytest.approx(0.009, rel=1e-3)
    assert GOOD.mean_lift == pytest.approx(0, abs=1e-3)
    assert GOOD.lift_amplitude == pytest.approx(0.33, rel=1e-4)


def test_a_signal_in_the_bands_is_accepted_and_one_outside_is_named():
    assert outside_bands(GOOD) == []
    (sentence,) = outside_bands(dataclasses.replace(GOOD, mean_drag=1.5))
    assert sentence == "mean drag is 1.5, outside 1.32 to 1.38."


def test_too_short_a_history_is_refused():
    with pytest.raises(
        ModelError, match=r"rises through zero 1 times between t = 0 and 3\.98; .* at least 2"
    ):
        force_statistics(TIME[:200], TIME[:200], TIME[:200] - 2)


def test_ten_cells_across_the_cylinder_shed_near_the_accepted_numbers():
    """A fifth of the resolution: the Strouhal number and drag come within a few percent all the same."""
    stepper = Stepper(FlowSettings(cells=(90, 40), spacing=0.1, time_step=0.1), circle(0.1))
    state = stepper.state(kicked(stepper.grids))
    time, forces = [], []
    for _ in range(450):
        state, force = stepper.step(state)
        time.append(state.time)
        forces.append(force)
    drag, lift = np.array(forces[250:]).T
    statistics = force_statistics(np.array(time[250:]), drag, lift)
    assert 0.15 < statistics.strouhal < 0.175
    assert 1.3 < statistics.mean_drag < 1.4
    assert 0.3 < statistics.lift_amplitude < 0.42
    assert abs(statistics.mean_lift) < 0.01
