"""Whether a recording repeats along its sides: waves on a circle, whole and cut, under noise."""

import numpy as np
import pytest

from hiddenphysics.models.flow.grids import GridRecording
from hiddenphysics.snapshots import Snapshot, Snapshots

TIMES = np.linspace(0, 4, 240)
X = np.linspace(-3, 3, 128, endpoint=False)


def travelling(x, t):
    """Waves of period 6."""
    k = 2 * np.pi / 6
    return np.sin(k * (x - t)) + 0.6 * np.cos(3 * k * (x + 0.4 * t)) + 0.3 * np.sin(5 * k * (x - 2 * t))


def recording(kept, noise, seed=0):
    random = np.random.default_rng(seed)
    x = X[:kept]
    values = [travelling(x, t) for t in TIMES]
    return Snapshots(
        Snapshot(t, x, u=u + noise * np.std(values) * random.standard_normal(kept))
        for t, u in zip(TIMES, values, strict=True)
    )


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_a_whole_turn_repeats_and_a_part_of_it_does_not(noise):
    for seed in range(5):
        (whole,) = GridRecording.of(recording(128, noise, seed)).periods()
        assert whole == pytest.approx(6.0, rel=1e-12)
        for kept in (80, 96, 115):
            assert GridRecording.of(recording(kept, noise, seed)).periods() == (None,)


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_every_side_is_judged_by_itself(noise):
    random = np.random.default_rng(0)
    x, y = np.linspace(-3, 3, 48, endpoint=False), np.linspace(0, 2.0, 32)
    at_x, at_y = (axis.ravel() for axis in np.meshgrid(x, y, indexing="ij"))
    made = [
        Snapshot(t, x=at_x, y=at_y, u=u + noise * random.standard_normal(u.size))
        for t in TIMES[::12]
        for u in [travelling(at_x, t) + 2 * at_y * np.cos(t)]
    ]
    grid = GridRecording.of(Snapshots(made))
    assert grid.values["u"].shape == (20, 48, 32)
    assert grid.periods() == (pytest.approx(6.0), None)


def test_values_come_in_the_order_of_the_axes_whatever_the_file_had():
    random = np.random.default_rng(1)
    order = random.permutation(128)
    shuffled = GridRecording.of(Snapshots(Snapshot(t, X[order], u=travelling(X, t)[order]) for t in TIMES))
    np.testing.assert_allclose(shuffled.axes[0], X)
    np.testing.assert_allclose(shuffled.values["u"], [travelling(X, t) for t in TIMES])


@pytest.mark.parametrize(
    "x",
    [np.sort(np.random.default_rng(2).uniform(-3, 3, 128)), X + 1e-3 * np.sin(X)],
    ids=["scattered", "unevenly spaced"],
)
def test_no_grid_is_none(x):
    assert GridRecording.of(Snapshots(Snapshot(t, x, u=travelling(x, t)) for t in TIMES)) is None
    moving = [Snapshot(t, X + 0.01 * n, u=travelling(X, t)) for n, t in enumerate(TIMES)]
    assert GridRecording.of(Snapshots(moving)) is None
