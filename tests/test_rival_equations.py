"""Equations compared by evidence: the right one wins, units do not matter, what cannot be fitted says why."""

import json

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.demo import burgers_recording, two_snapshots
from hiddenphysics.errors import ModelError
from hiddenphysics.snapshots import Snapshot, Snapshots

pytestmark = pytest.mark.xdist_group("burgers at 0.3 %")  # one process: two files make the same fits

RIGHT, WRONG = "u_t + a*u*u_x - b*u_xx = 0", "u_t + c*u_x - b*u_xx = 0"


@pytest.fixture(scope="module")
def data():
    return two_snapshots(burgers_recording(), 0.003, 0)


@pytest.fixture(scope="module")
def compared(data):
    return hp.compare([WRONG, RIGHT], data)


def test_the_right_equation_wins(compared):
    first, second = compared.equations
    assert first.equation == RIGHT
    assert first.evidence - second.evidence > 20
    assert first.weight > 0.999
    assert second.verdict == "misfit"
    assert compared.best.status == "converged"
    assert "is preferred to the next by a factor of 10^" in str(compared)


def test_the_table_and_the_plain_data_say_the_same(compared):
    table = compared.to_dataframe()
    assert table["equation"].tolist() == [RIGHT, WRONG]
    assert np.isclose(table["a"][0], compared.best.parameters["a"].estimate)
    told = json.loads(json.dumps(compared.plain()))
    assert told["equations"][0]["weight"] == compared.equations[0].weight


def test_other_units_leave_the_comparison_as_it_is(data, compared):
    scaled = Snapshots(Snapshot(1e3 * s.t, 1e-3 * s["x"], u=1e2 * s["u"]) for s in data)
    other = hp.compare([WRONG, RIGHT], scaled)
    ahead = [one.equations[0].evidence - one.equations[1].evidence for one in (compared, other)]
    assert np.isclose(*ahead, rtol=1e-4)


def test_what_cannot_be_fitted_is_in_the_table_with_its_reason(data):
    compared = hp.compare([RIGHT, "u_t = D*w_xx"], data)
    assert compared.equations[1].verdict == "refused"
    assert "w" in compared.equations[1].refused


@pytest.mark.parametrize(
    ("equations", "model", "said"),
    [
        ([RIGHT], "flow", "Several equations are needed"),
        (RIGHT, "flow", "Several equations are needed"),
        ([RIGHT, WRONG], "auto", "Evidences compare only under one model"),
        (["u_t = ", "v_t = "], "flow", "None of the equations could be fitted"),
    ],
)
def test_what_cannot_be_compared_is_refused(data, equations, model, said):
    with pytest.raises(ModelError, match=said):
        hp.compare(equations, data, model=model)
