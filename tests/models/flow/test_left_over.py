"""The flow's criticism of an equation: the right one stands, a wrong one is called so and its missing term named."""

import json

import numpy as np
import pytest

import hiddenphysics as hp
from benchmarks.zoo.cases import SPECIES, Case
from hiddenphysics.demo import burgers_recording, two_snapshots
from hiddenphysics.learning import Status
from hiddenphysics.models.flow import answer
from hiddenphysics.models.flow.left_over import left_over, scores
from hiddenphysics.models.flow.windows import gathered

pytestmark = pytest.mark.xdist_group("burgers at 0.3 %")  # one process: two files make the same fits

RIGHT, WRONG = "u_t + a*u*u_x - b*u_xx = 0", "u_t + c*u_x - b*u_xx = 0"


@pytest.fixture(scope="module")
def data():
    """Noise of 0.3 %: the wrong equation leaves several times that."""
    return two_snapshots(burgers_recording(), 0.003, 0)


@pytest.fixture(scope="module")
def right(data):
    return hp.identify(RIGHT, data, model="flow")


@pytest.fixture(scope="module")
def wrong(data):
    return hp.identify(WRONG, data, model="flow")


def test_the_right_equation_leaves_noise(right):
    assert right.status is Status.CONVERGED
    assert right.criticism.p_value > 0.001
    assert "looks like noise" in str(right)


def test_what_is_left_over_is_measured_minus_predicted(right, data):
    windows = gathered(right.equation, [data])
    (window,) = left_over(right.learned, windows)
    for stop, snapshot in zip(window, data, strict=True):
        mean, _ = right.predict("u", snapshot["x"], t=snapshot.t)
        size = np.sqrt(right.values["noise.variance"])
        np.testing.assert_allclose(stop.values["u"], (snapshot["u"] - mean) / size, atol=1e-6)
        slope, _ = right.predict("u_x", snapshot["x"], t=snapshot.t)
        np.testing.assert_allclose(stop.terms["u"]["u_x"] * size, slope, atol=1e-9)
        np.testing.assert_allclose(stop.own["u"][0] * size, -mean * slope, atol=1e-3)  # −∂(a u u_x)/∂a


def test_a_wrong_equation_is_a_misfit_and_says_what_is_missing(wrong, tmp_path):
    assert wrong.status is Status.MISFIT
    assert wrong.criticism.missing == "u*u_x"
    assert "The equation does not explain the data" in wrong.explanation
    assert "It looks like u*u_x: a term like that may be missing." in wrong.explanation
    # Numbers that are not to be trusted carry no small deviations.
    believed = np.sqrt(np.diagonal(wrong.learned.belief.covariance))
    assert wrong.parameters["c"].std > 5 * believed[0]
    told = json.loads(json.dumps(wrong.summary()))
    assert told["status"] == "misfit"
    assert told["criticism"]["missing"] == "u*u_x"
    loaded = hp.load(wrong.save(tmp_path / "wrong.nc"))
    assert loaded.criticism == wrong.criticism
    assert loaded.status is Status.MISFIT


def test_a_wrong_equation_is_a_misfit_within_half_the_noise():
    """At 1 % the left-overs by themselves say nothing (p = 0.09); with the state's part taken away they do."""
    fit = hp.identify(WRONG, two_snapshots(burgers_recording(), 0.01, 0), model="flow")
    assert fit.status is Status.MISFIT
    assert fit.criticism.missing == "u*u_x"
    assert fit.parameters["c"].std > 0.08


def test_growth_that_diffusion_is_to_stand_for_is_a_misfit():
    """Allen and Cahn's field wants a negative diffusivity, with which no search can settle."""
    (case,) = (Case(one, "wrong", 0) for one in SPECIES if one.name == "allen_cahn")
    fit = hp.identify(case.text, case.data(), model="flow")
    assert fit.status is Status.MISFIT
    assert fit.criticism.missing == "u"
    assert fit.parameters["D"].std == np.inf


def test_terms_are_asked_with_the_rows_that_the_last_round_had(monkeypatch):
    """Few values with known errors keep their rows; the features moved once more say the same of every candidate."""
    every = []

    def both(learned, windows, stops, say, rows):
        assert rows is not None
        every.append((scores(learned, windows, stops, say, rows), scores(learned, windows, stops, say)))
        return every[-1][0]

    monkeypatch.setattr(answer, "scores", both)
    few = two_snapshots(burgers_recording(), 0.003, 0).subsample((25, 24), 1)
    fit = hp.identify(RIGHT, few, model="flow")
    assert fit.criticism is not None
    (by_rows, by_features), *_ = every
    assert by_rows.keys() == by_features.keys()
    for term, score in by_features.items():
        assert by_rows[term] == pytest.approx(score, abs=0.02), term
