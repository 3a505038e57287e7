"""Steps in time: as fine for many stops as for few, and finer where more values would notice."""

import numpy as np
import pytest

from hiddenphysics.models.flow.gauss_newton import run
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
