"""Random motion: laws of the increments, and honest errors of the histograms."""

import numpy as np
import pytest

from hiddenphysics.errors import DataError
from hiddenphysics.simulate.exact import fractional_heat_kernel, heat_gaussian
from hiddenphysics.simulate.random_motion import (
    brownian_path,
    displacement_density,
    levy_path,
    stable_variates,
)
from hiddenphysics.snapshots import read


def test_brownian_motion_spreads_as_the_square_root_of_time():
    path = brownian_path(200_000, 0.01, seed=3)
    for lag in (1, 4):
        moves = np.diff(path[::lag])
        assert np.var(moves) == pytest.approx(0.01 * lag, rel=5 * np.sqrt(2 / len(moves)))


@pytest.mark.parametrize("alpha", [0.8, 1.0, np.sqrt(2), 2.0])
def test_stable_variates_have_their_characteristic_function(alpha):
    x = stable_variates(200_000, alpha, seed=1)
    for omega in (0.3, 1.0, 2.5):
        assert np.mean(np.cos(omega * x)) == pytest.approx(
            np.exp(-(omega**alpha)), abs=5 / np.sqrt(2 * len(x))
        )


def test_the_same_seed_moves_the_same_way():
    np.testing.assert_array_equal(levy_path(100, 0.01, 1.5, seed=7), levy_path(100, 0.01, 1.5, seed=7))
    assert not np.array_equal(levy_path(100, 0.01, 1.5, seed=7), levy_path(100, 0.01, 1.5, seed=8))


@pytest.mark.parametrize("alpha", [0.0, 2.1])
def test_orders_outside_the_range_are_refused(alpha):
    with pytest.raises(DataError, match="at most 2"):
        stable_variates(10, alpha, seed=0)


@pytest.mark.parametrize("motion", ["brownian", "levy"])
@pytest.mark.parametrize("overlapping", [False, True])
def test_the_density_lies_within_its_stated_errors(motion, overlapping):
    alpha, steps = np.sqrt(2), 300_000
    path = brownian_path(steps, 0.01, 5) if motion == "brownian" else levy_path(steps, 0.01, alpha, 5)
    data = displacement_density(path, 0.01, window=0.3, bins=60, overlapping=overlapping)
    assert data.u.shape == (5, 60)
    scores = []
    for t, u, std in zip(data.t.values, data.u.values, data.u_std.values, strict=True):
        x = data.x.values
        exact = heat_gaussian(t, x, 0.5) if motion == "brownian" else fractional_heat_kernel(t, x, alpha)
        scores.append((u - exact) / std)
    spread = np.sqrt(np.mean(np.square(scores), axis=1))
    np.testing.assert_allclose(spread[0], 1.0, atol=0.35)
    if overlapping:
        assert (spread < 1.35).all()
    else:
        np.testing.assert_allclose(spread, 1.0, atol=0.35)


def test_stated_errors_over_many_paths():
    found = [
        displacement_density(brownian_path(4000, 0.01, s), 0.01, window=0.2, bins=10) for s in range(200)
    ]
    measured = np.std([f.u.values for f in found], axis=0)
    stated = np.mean([f.u_std.values for f in found], axis=0)
    np.testing.assert_allclose(measured, stated, rtol=0.2)
    assert np.mean(measured / stated) == pytest.approx(1, abs=0.03)


def test_the_error_is_no_field_of_the_data():
    data = displacement_density(brownian_path(1000, 0.01, 0), 0.01, window=0.3, bins=20)
    assert read(data).fields == ("u",)
