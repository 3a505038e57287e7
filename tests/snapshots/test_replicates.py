"""Several measurements at one point and time: their mean, with the weight of their number."""

from __future__ import annotations

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import read


def rows(counts: list[int], sigma: float, seed: int = 0) -> dict[str, np.ndarray]:
    """Measurements of sin(x + t) at len(counts) points and two times, so many at each, in random order."""
    generator = np.random.default_rng(seed)
    x = np.tile(np.repeat(np.linspace(0.0, 3.0, len(counts)), counts), 2)
    t = np.repeat([0.0, 1.0], len(x) // 2)
    order = generator.permutation(len(x))
    u = np.sin(x + t) + sigma * generator.standard_normal(len(x))
    return {"t": t[order], "x": x[order], "u": u[order]}


def test_the_means_are_the_means() -> None:
    import pandas as pd

    data = rows([3] * 6, 0.1)
    found = read(data)
    means = pd.DataFrame(data).groupby(["t", "x"])["u"].mean()
    for snapshot in found:
        assert snapshot.columns == ("u",)  # all were measured equally often: one noise for all
        np.testing.assert_allclose(snapshot["u"], means.loc[snapshot.t].loc[snapshot["x"]], rtol=1e-14)
    assert "12 points had 3 measurements at one time, which were averaged" in found.notes[0]
    assert "the learned noise is that of means of 3" in found.notes[0]


def test_the_weight_follows_the_count() -> None:
    """Learned noise plus known error is σ²/k for every k: the referee is σ, which the spread of replicates tells."""
    counts = [1, 2, 5] * 200
    found = read(rows(counts, 0.3))
    learned = 0.3**2 / 5
    for snapshot in found:
        k = np.array(counts)[np.argsort(np.argsort(snapshot["x"]))]
        np.testing.assert_allclose(learned + snapshot["u_std"] ** 2, 0.3**2 / k, rtol=0.05)
        # The means scatter as they are said to: χ² over its degrees of freedom is 1 ± √(2/600).
        scatter = (snapshot["u"] - np.sin(snapshot["x"] + snapshot.t)) ** 2 / (
            learned + snapshot["u_std"] ** 2
        )
        assert scatter.mean() == pytest.approx(1.0, abs=4 * np.sqrt(2 / 600))
    assert "up to 5 measurements" in found.notes[0]
    assert "Values measured less often got a known error" in found.notes[0]
    assert "u_std is 0 at some points" in found.notes[1]


def test_known_errors_of_replicates_are_those_of_the_mean() -> None:
    data = rows([2, 2, 2], 0.1) | {"u_std": np.full(12, 0.4)}
    np.testing.assert_allclose(read(data)[0]["u_std"], 0.4 / np.sqrt(2))


def test_copies_tell_nothing_new() -> None:
    once = {"t": np.repeat([0.0, 1.0], 3), "x": np.tile([0.0, 1.0, 2.0], 2), "u": np.arange(6.0)}
    twice = {name: np.concatenate([column, column[:2]]) for name, column in once.items()}
    assert read(twice)[0].columns == ("u",)
    for one, two in zip(read(once), read(twice), strict=True):
        np.testing.assert_array_equal(one["u"], two["u"])
        np.testing.assert_array_equal(one["x"], two["x"])


def test_missing_replicates_are_left_out_of_the_mean() -> None:
    data = {"t": np.zeros(4), "x": np.array([0.0, 0.0, 1.0, 2.0]), "u": np.array([1.0, np.nan, 2.0, 3.0])}
    np.testing.assert_array_equal(read(data, missing="drop")[0]["u"], [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match=r"u at t = 0 is NaN or infinite at 1 point"):
        read(data)


def test_a_snapshot_made_by_hand_takes_each_point_once() -> None:
    with pytest.raises(DataError, match=r"Average repeated measurements"):
        hp.Snapshot(t=0.0, x=[0.0, 0.0, 1.0], u=[1.0, 2.0, 3.0])
