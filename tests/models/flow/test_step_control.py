"""Steps in time: as fine for many stops as for few, and finer where more values would notice."""

import numpy as np
import pytest

from hiddenphysics.models.flow.gauss_newton import run
from hiddenphysics.models.flow.path import Path
from tests.models.flow.problems import problem, snapshots

GAP, NOISE = 0.2, 0.005


def rounds_of(gaps, points=30):
    times = GAP * np.arange(gaps + 1)
    task, at = problem([snapshots(times, points, NOISE)], NOISE)
    return task, list(run(task, at, task.longest_step, lambda stage: None, most=2))


@pytest.fixture(scope="module")
def eight():
    return rounds_of(8)


@pytest.mark.parametrize("gaps", [9, 10, 15])
def test_more_stops_get_steps_as_fine(eight, gaps):
    """Of equal gaps: the error adds up over stops, and more values notice less of it each."""
    few, (*_, last_of_few) = eight
    task, (*_, last) = rounds_of(gaps)
    assert last.fine
    assert last_of_few.fine
    assert last.dt <= 1.01 * last_of_few.dt
    # As two steps in a gap at least, whatever the error says.
    assert task.longest_step <= 0.501 * GAP
    # The error itself, measured with the steps it was left with.
    error = float(task.sweep(last.at.z, last.at.parameters, last.dt).step_error) / 15
    assert error <= task.tolerance(last.at, last.misfit, cold=False)
    assert task.count > few.count


def test_the_accepted_error_per_value_falls_with_their_number(eight):
    task, (*_, last) = eight
    many, _ = problem([snapshots(GAP * np.arange(9), 120, NOISE)], NOISE)
    each = [one.tolerance(last.at, 0.0, cold=False) / np.sqrt(one.count) for one in (task, many)]
    assert each[0] / each[1] == pytest.approx(np.sqrt(many.count / task.count), rel=1e-12)
    # No parameter moves by more than that many deviations: the norm over all values is in units of the noise.
    assert each[0] * np.sqrt(task.count) == pytest.approx(0.05 * np.sqrt(task.noise(last.at)), rel=1e-12)


def reached(path, leg, window=0):
    """Times that a way has come to at every stop, from the first one on."""
    way, lengths = path.window(window), path.window(window).lengths
    leg = getattr(way.stops, leg)
    return np.cumsum(leg.steps * lengths[leg.which])


@pytest.mark.parametrize("gaps", [[0.1] * 24, [0.1] * 25, [0.1] * 7 + [0.3, 0.05] + [0.1] * 16])
@pytest.mark.parametrize("dt", [0.1, 0.06, 0.02])
def test_one_step_in_a_gap_is_compared_with_one_over_two(gaps, dt):
    times = np.cumsum([2.0, *gaps])[None]
    path = Path.through(times, dt, 1.0, two_gaps=True)
    stops, count = path.window(0).stops, len(gaps) + 1
    since = times[0] - times[0, 0]
    np.testing.assert_allclose(reached(path, "fine")[:count], since, atol=1e-9)
    compared = stops.compared[:count]
    np.testing.assert_allclose(reached(path, "coarse")[:count][compared], since[compared], atol=1e-9)
    assert compared[-1]
    assert np.max(path.lengths[0, stops.fine.which]) <= dt * (1 + 1e-6)
    # Half as many steps up to every stop that both ways reach.
    steps, half = np.cumsum(stops.fine.steps)[:count], np.cumsum(stops.coarse.steps)[:count]
    np.testing.assert_array_equal(steps[compared], 2 * half[compared])
    one = stops.fine.steps[1:count] == 1
    assert one.sum() >= 20 if dt == 0.1 else not one.any()
