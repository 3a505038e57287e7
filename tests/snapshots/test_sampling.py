"""Thinning and noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import Snapshot, Snapshots

N = 200
X = np.linspace(-1.0, 1.0, N)
DATA = Snapshots([Snapshot(t=t, x=X, h=np.exp(X) + 1j * np.sin(X + t), u=3 * X) for t in (0.0, 0.5)])

seeds = st.integers(0, 2**32)
counts = st.integers(2, N)


@given(counts, counts, seeds)
def test_subsample_is_a_subset_with_its_values(first: int, second: int, seed: int) -> None:
    drawn = DATA.subsample([first, second], seed)
    assert [len(s) for s in drawn] == [first, second]
    for whole, part in zip(DATA, drawn, strict=True):
        rows = np.searchsorted(whole["x"], part["x"])
        assert len(set(rows)) == len(part)
        np.testing.assert_array_equal(whole.points[rows], part.points)
        np.testing.assert_array_equal(whole.values[:, rows], part.values)


@given(seeds)
def test_same_seed_same_draw(seed: int) -> None:
    for first, again in zip(DATA.subsample(50, seed), DATA.subsample(50, seed), strict=True):
        np.testing.assert_array_equal(first.points, again.points)
    for first, again in zip(DATA.with_noise(0.1, seed), DATA.with_noise(0.1, seed), strict=True):
        np.testing.assert_array_equal(first.values, again.values)


def test_other_points_in_each_snapshot_and_for_other_seeds() -> None:
    a, b = DATA.subsample(50, seed=1)
    assert not np.array_equal(a.points, b.points)
    assert not np.array_equal(a.points, DATA.subsample(50, seed=2)[0].points)


@pytest.mark.parametrize("level", [0.01, 0.3])
def test_noise_has_the_level_of_each_field_over_all_snapshots(level: float) -> None:
    x = np.arange(20_000.0)
    many = Snapshots([Snapshot(t=t, x=x, u=np.sqrt(x), v=np.sin(x + t)) for t in (0.0, 1.0)])
    noise = np.concatenate(
        [a.values - b.values for a, b in zip(many.with_noise(level, 3), many, strict=True)], axis=1
    )
    spread = np.concatenate([s.values for s in many], axis=1).std(axis=1)
    # 40 000 draws: the standard deviation is known to 1 / sqrt(80 000) = 0.35 %; four of those.
    np.testing.assert_allclose(noise.std(axis=1), level * spread, rtol=0.015)
    assert abs(np.corrcoef(noise)[0, 1]) < 0.02
    np.testing.assert_allclose(noise.mean(axis=1) / noise.std(axis=1), 0.0, atol=0.02)


def test_noise_of_level_zero_changes_nothing() -> None:
    for a, b in zip(DATA.with_noise(0.0, 1), DATA, strict=True):
        np.testing.assert_array_equal(a.values, b.values)


@pytest.mark.parametrize(
    ("match", "number", "seed"),
    [
        ("201 points were asked .* t = 0, which has 200", 201, 0),
        ("1 points were asked .* ask for 2 to 200", 1, 0),
        ("3 numbers of points were given for 2 snapshots", [5, 5, 5], 0),
        ("number of points to draw is 2.5", 2.5, 0),
        ("seed is -1", 5, -1),
        ("seed is None", 5, None),
    ],
)
def test_subsample_refusals(match: str, number: int, seed: int) -> None:
    with pytest.raises(DataError, match=match):
        DATA.subsample(number, seed)


@pytest.mark.parametrize("level", [-0.1, np.nan, np.inf])
def test_noise_refusals(level: float) -> None:
    with pytest.raises(DataError, match=r"noise level is .*as in 0.05 for 5 %"):
        DATA.with_noise(level, 0)


def test_where_keeps_the_points_and_their_values() -> None:
    kept = DATA.where(lambda x: abs(x) > 0.5)
    for whole, part in zip(DATA, kept, strict=True):
        rows = np.abs(X) > 0.5
        np.testing.assert_array_equal(part.points, whole.points[rows])
        np.testing.assert_array_equal(part.values, whole.values[:, rows])
    assert (kept.fields, kept.times.tolist()) == (DATA.fields, DATA.times.tolist())


def test_where_in_two_dimensions_cuts_a_disc() -> None:
    x, y = (axis.ravel() for axis in np.meshgrid(X[::10], X[::10]))
    plane = Snapshots([Snapshot(t=t, x=x, y=y, u=x + y) for t in (0.0, 1.0)])
    cut = plane.where(lambda x, y: x**2 + y**2 > 0.25)
    assert len(cut[0]) == len(cut[1]) == int((x**2 + y**2 > 0.25).sum()) < len(x)
    assert (cut[0]["x"] ** 2 + cut[0]["y"] ** 2).min() > 0.25


@pytest.mark.parametrize(
    ("match", "predicate"),
    [
        ("keeps 0 of the 200 points at t = 0; at least 2", lambda x: x > 7),
        ("keeps 1 of the 200 points", lambda x: x >= 1),
        (r"type float64 and shape \(200,\); one boolean for each of the 200 points", lambda x: x),
        (r"type bool and shape \(\)", lambda x: True),
    ],
)
def test_where_refusals(match: str, predicate: Callable[..., object]) -> None:
    with pytest.raises(DataError, match=match):
        DATA.where(predicate)
