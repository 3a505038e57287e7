"""Values far off: pointed at by every fit, and left out where asked."""

from __future__ import annotations

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.errors import ModelError
from hiddenphysics.learning import Criticism, Status, mixture

HEAT, NOISE = "u_t - D*u_xx = 0", 0.01


def pair(every: int = 0, by: float = 10.0, seed: int = 0) -> hp.Snapshots:
    """2 × 160 values of two waves that decay, with noise; every n-th of them is off by ten deviations."""
    random = np.random.default_rng(seed)
    snapshots = []
    for t in (0.0, 0.5):
        x = np.sort(random.uniform(0, 2 * np.pi, 160))
        u = np.exp(-t) * np.sin(x) + 0.6 * np.exp(-4 * t) * np.sin(2 * x + 1)
        u += NOISE * random.standard_normal(x.size)
        if every:
            where = np.arange(3, x.size, every)
            u[where] += by * NOISE * random.choice([-1.0, 1.0], where.size)
        snapshots.append(hp.Snapshot(t=t, x=x, u=u))
    return hp.Snapshots(snapshots)


@pytest.fixture(scope="module")
def undisturbed() -> hp.Result:
    return hp.identify(HEAT, pair(), model="flow")


def test_the_mixture_finds_who_is_far_off_and_leaves_noise_alone() -> None:
    random = np.random.default_rng(3)
    e = random.standard_normal(400)
    assert not mixture(e).is_clear
    e[::20] += 10 * random.choice([-1.0, 1.0], 20)
    found = mixture(e)
    assert found.is_clear
    assert found.deviation == pytest.approx(1.0, rel=0.15)
    assert found.share == pytest.approx(0.05, abs=0.04)
    assert set(np.flatnonzero(found.chance > 0.5)) >= set(range(0, 400, 20))
    assert not mixture(np.zeros(5)).is_clear


def test_a_twentieth_of_the_points_ten_deviations_off_move_nothing(undisturbed: hp.Result) -> None:
    """The bar: less than one deviation. Without the option the deviation is twice as large, and the noise."""
    robust = hp.identify(HEAT, pair(every=20), model="flow", noise="robust")
    before, after = undisturbed.parameters["D"], robust.parameters["D"]
    assert abs(after.estimate - before.estimate) < before.std
    assert after.std < 1.2 * before.std
    assert robust.noise_std == pytest.approx(NOISE, rel=0.2)
    (note,) = robust.snapshots.notes
    # All sixteen, and no more than three in a hundred of the others.
    assert 16 <= int(note.split()[0]) <= 16 + 0.03 * 304
    assert "of 320 points hold a value far off and were left out" in str(robust)
    assert robust.status is Status.CONVERGED


def test_evidence_decides_where_nobody_does(undisturbed: hp.Result) -> None:
    same = hp.identify(HEAT, pair(), model="flow", noise="auto")
    assert same.parameters["D"].estimate == pytest.approx(undisturbed.parameters["D"].estimate, rel=1e-9)
    assert not same.snapshots.notes
    assert hp.identify(HEAT, pair(every=20), model="flow", noise="auto").snapshots.notes


def test_two_values_far_off_are_hinted_at(undisturbed: hp.Result) -> None:
    """They raised the noise twentyfold without a word."""
    fit = hp.identify(HEAT, pair(every=157, by=80.0), model="flow")
    assert fit.criticism is not None
    assert fit.criticism.far_off >= 2
    assert "noise='robust'" in str(fit)
    assert "noise='robust'" not in str(undisturbed)
    assert Criticism.of_plain(fit.criticism.plain()) == fit.criticism


def test_other_kinds_of_noise_are_refused() -> None:
    with pytest.raises(ModelError, match="noise='cauchy' was given; known are gaussian, robust, auto"):
        hp.identify(HEAT, pair(), noise="cauchy")
