"""Steps in time: as fine for many stops as for few, finer where more values would notice, and rough for derivatives."""

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


@pytest.mark.parametrize("gaps", [[0.1], [0.1] * 24, [0.1] * 7 + [0.3, 0.05] + [0.1] * 16])
@pytest.mark.parametrize("rough", [0.02, 0.05, 1.0])
def test_derivatives_reach_every_stop_in_steps_of_their_own(gaps, rough):
    times = np.cumsum([2.0, *gaps])[None]
    path = Path.through(times, 0.02, 1.0, rough=rough)
    stops, count = path.window(0).stops, len(gaps) + 1
    np.testing.assert_allclose(reached(path, "rough")[:count], times[0] - times[0, 0], atol=1e-9)
    steps = stops.rough.steps[1:count]
    assert np.max(path.lengths[0, stops.rough.which]) <= rough * (1 + 1e-6)
    assert np.all((steps >= 1) & (steps <= stops.fine.steps[1:count]))
    assert np.all(steps == 1) if rough == 1.0 else steps.sum() > len(gaps)


@pytest.fixture(scope="module")
def two():
    """Two snapshots a long gap apart, with fewer values than features: rows stay as they are."""
    task, at = problem([snapshots([0.0, 2.0], 12, 1e-4)], 1e-4)
    return task, at, 2.0 / 64


@pytest.mark.parametrize("steps", [1, 2, 8])
def test_what_derivatives_are_off_by_is_told(two, steps):
    """The referee moves all of them in the state's own steps; the sweep has one along a probe."""
    task, at, dt = two
    probe = task.probe(at)
    made, exact = (task.sweep(at.z, at.parameters, dt, rough, probe) for rough in (2.0 / steps, dt))
    there, here = (np.asarray(one.data.A)[0] @ probe for one in (made, exact))
    off = np.linalg.norm(there - here) / np.linalg.norm(here)
    assert off > 1e-5
    assert float(made.turned) == pytest.approx(off, rel=0.01)
    assert float(exact.turned) < 1e-4 * off + 1e-5
    # What is left over is that of the state, which goes its own way.
    assert float(made.misfit) == pytest.approx(float(exact.misfit), rel=1e-12)


def test_rough_derivatives_hardly_move_the_answer(two):
    task, at, dt = two
    rough, fine = (task.round(at, dt, rough=one) for one in (0.5, dt))
    assert rough.fine
    assert rough.rough > 4 * dt
    # The state is that of the truth, five deviations of the parameters from what these few values say.
    whole = np.linalg.norm(fine.step / fine.deviations)
    assert np.all(np.abs(rough.step - fine.step) < 0.02 * whole * fine.deviations)
    np.testing.assert_allclose(rough.deviations, fine.deviations, rtol=0.02)


def test_derivatives_that_leave_the_numbers_in_long_steps_get_shorter_ones(two):
    task, at, _ = two
    steep, dt = at._replace(parameters=np.array([15.0, 0.2])), 2.0 / 128
    made = task.sweep(steep.z, steep.parameters, dt, 2.0, task.probe(steep))
    assert np.isfinite(float(made.misfit))
    assert float(made.turned) > 1e6
    assert np.all(np.isfinite(task.round(steep, dt, rough=2.0).step))
