"""What the verb refuses before anything is computed, each with a sentence."""

from __future__ import annotations

import numpy as np
import pytest

import hiddenphysics as hp
from tests.learning.exact_fields import heat, sampled

DATA = sampled(heat, 0.1, 0.0, seed=0)
HEAT = "u_t - b*u_xx = 0"


def test_one_snapshot_is_too_few() -> None:
    with pytest.raises(
        hp.DataError, match="one snapshot was given; 2 are needed because the equation is seen in the"
    ):
        hp.problem(HEAT, [DATA[0]])


def test_three_snapshots_are_too_many() -> None:
    three = [*DATA, DATA[1].replace(t=0.5)]
    with pytest.raises(
        hp.DataError, match=r"3 snapshots were given, from t = 0 to 0\.5; .*--times 0 0\.1, or data\.at"
    ):
        hp.problem(HEAT, three)


def test_an_unknown_model_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        hp.ModelError, match="The model 'flux' was asked for; known are auto, flow, midpoint, paper"
    ):
        hp.problem(HEAT, DATA, model="flux")


def test_nothing_to_identify() -> None:
    with pytest.raises(hp.ModelError, match=r"no unknown parameter, .*as in u_t - b\*u_xx = 0"):
        hp.problem("u_t - 2*u_xx = 0", DATA)
    with pytest.raises(hp.ModelError, match="no unknown parameter"):
        hp.problem(HEAT, DATA, constants={"b": 1.0})


def test_more_unknowns_than_values() -> None:
    x = np.array([0.0, 1.0])
    few = [hp.Snapshot(t=t, x=x, u=np.sin(x + t)) for t in (0.0, 0.1)]
    with pytest.raises(
        hp.DataError, match=r"4 values were given for 5 unknowns \(a, b, u\.variance, .*more points"
    ):
        hp.identify("u_t + a*u_x - b*u_xx = 0", few, model="paper")
