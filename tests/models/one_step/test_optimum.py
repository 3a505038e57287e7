"""Whole identifications: coverage of the intervals, and a status for every way in which a fit can end."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.stats import binom, chi2

import hiddenphysics as hp
from hiddenphysics.learning import Status
from hiddenphysics.learning.optimiser import minimise
from hiddenphysics.models import Problem
from hiddenphysics.models.one_step import optimum, search
from tests.learning.exact_fields import heat, sampled

pytestmark = pytest.mark.xdist_group("fits")  # one process: the tests share fits

HEAT = "u_t - b*u_xx = 0"
TRUTH, GAP, NOISE = 1.0, 0.01, 0.01
SEEDS = 40
# Backward Euler turns b into (e^{bk²Δt} − 1)/(k²Δt): 0.5 % and 2 % for the two waves, against a deviation of 30 %.


@pytest.fixture(scope="module")
def results() -> list[hp.Result]:
    return [hp.identify(HEAT, sampled(heat, GAP, NOISE, seed), model="paper") for seed in range(SEEDS)]


def test_all_fits_converge_without_jitter(results: list[hp.Result]) -> None:
    assert {r.status for r in results} == {Status.CONVERGED}
    assert all(r.jitter == 0.0 for r in results)


def test_intervals_cover_the_truth_as_often_as_they_say(results: list[hp.Result]) -> None:
    for level in (0.5, 0.95):
        intervals = [r.parameters["b"].interval(level) for r in results]
        covered = sum(low <= TRUTH <= high for low, high in intervals)
        least, most = binom.ppf([0.005, 0.995], SEEDS, level)
        assert least <= covered <= most, level


def test_standardised_errors_have_unit_variance(results: list[hp.Result]) -> None:
    """Neither too narrow nor too wide: Σ z² of 40 fits within the 99 % range of χ²."""
    scores = [(r.parameters["b"].estimate - TRUTH) / r.parameters["b"].std for r in results]
    low, high = chi2.ppf([0.005, 0.995], SEEDS)
    assert low < np.sum(np.square(scores)) < high
    assert abs(np.mean(scores)) < 2.6 / np.sqrt(SEEDS)


def test_the_noise_is_found(results: list[hp.Result]) -> None:
    np.testing.assert_allclose(np.median([r.noise_std for r in results]), NOISE, rtol=0.1)


def test_the_evidence_is_the_likelihood_at_the_values(results: list[hp.Result]) -> None:
    result = results[0]
    task = result.problem
    np.testing.assert_allclose(result.evidence, task.log_units - task.negative_log_likelihood(result.values))
    slopes = result.problem.gradient(result.values)
    scale = {n: result.values[n] if n != "b" else result.parameters["b"].std for n in slopes}
    assert max(abs(slopes[n] * scale[n]) for n in slopes) < 0.05


# ---- how a fit can end --------------------


def test_a_bound_in_the_way_is_said() -> None:
    result = hp.identify(HEAT, sampled(heat, GAP, NOISE, 0), bounds={"b": (None, 0.2)}, model="paper")
    assert result.status == Status.AT_BOUND
    assert result.explanation.startswith("b ended at a bound")
    assert result.parameters["b"].estimate == 0.2
    assert result.parameters["b"].interval()[1] == 0.2


def test_a_bound_out_of_the_way_changes_nothing(results: list[hp.Result]) -> None:
    bounded = hp.identify(HEAT + "; b > -20", sampled(heat, GAP, NOISE, 0), model="paper")
    free = results[0].parameters["b"]
    np.testing.assert_allclose(bounded.parameters["b"].estimate, free.estimate, atol=0.01 * free.std)
    np.testing.assert_allclose(bounded.parameters["b"].std, free.std, rtol=0.01)
    assert bounded.status == Status.CONVERGED


def test_terms_that_cannot_be_told_apart_are_named() -> None:
    """a u_xx and c u_xx are one term: a + c is known, a − c is not."""
    result = hp.identify("u_t - a*u_xx - c*u_xx = 0", sampled(heat, 0.1, 1e-3, 0), model="paper")
    assert result.status == Status.WEAKLY_IDENTIFIED
    assert "The data do not determine a and c" in result.explanation
    assert result.parameters["a"].std == result.parameters["c"].std == np.inf
    total = result.parameters["a"].estimate + result.parameters["c"].estimate
    np.testing.assert_allclose(total, TRUTH, rtol=0.2)


def test_a_product_of_parameters_is_not_called_identified() -> None:
    """Only a·b is known: the likelihood is flat along a hyperbola, and ± 200 is no convergence."""
    fits = [
        hp.identify("u_t - a*b*u_xx = 0", sampled(heat, GAP, NOISE, seed), model="paper")
        for seed in (2, 3, 5)
    ]
    assert {result.status for result in fits} == {Status.WEAKLY_IDENTIFIED}


def test_stopping_early_is_not_called_converged(monkeypatch: pytest.MonkeyPatch) -> None:
    """One step of the optimiser from a bad start, and no Newton steps after it."""
    monkeypatch.setattr(search, "minimise", partial(minimise, max_iterations=1))
    monkeypatch.setattr(optimum, "SMALL", np.inf)
    result = hp.identify(HEAT, sampled(heat, GAP, NOISE, 0), model="paper")
    assert result.status in (Status.NOT_CONVERGED, Status.WEAKLY_IDENTIFIED)


def test_a_likelihood_without_numbers_fails_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Problem, "objective", lambda self, vector: (np.nan, np.full(len(vector), np.nan)))
    result = hp.identify(HEAT, sampled(heat, GAP, NOISE, 0), model="paper")
    assert result.status == Status.FAILED
    assert "could not be factored" in result.explanation
