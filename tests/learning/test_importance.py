"""Weights of draws and Pareto's k: closed forms, and draws whose tails are known."""

import numpy as np
import pytest
from scipy.stats import norm, t

from hiddenphysics.learning import RELIABLE, importance_weights


@pytest.mark.parametrize("k", [0.2, 0.5, 0.9])
def test_k_is_that_of_pareto_distributed_weights(k):
    """Weights (1 − v)^−k are Pareto's with the shape k; the fit draws it a little towards 0.5."""
    v = (np.arange(4000) + 0.5) / 4000
    assert importance_weights(-k * np.log1p(-v)).pareto_k == pytest.approx(k, abs=0.1)


def test_draws_from_the_density_itself_weigh_the_same():
    made = importance_weights(np.full(64, 3.0))
    np.testing.assert_allclose(made.weights, 1 / 64)
    assert made.pareto_k == -np.inf


def test_weighted_draws_have_the_moments_of_what_they_stand_for():
    """Of Student's t with 8 degrees from a normal 1.5 times as wide: mean 0, variance 8/6; draws by quantiles."""
    x = 1.5 * norm.ppf((np.arange(2000) + 0.5) / 2000)
    made = importance_weights(t.logpdf(x, 8) - norm.logpdf(x, scale=1.5))
    assert made.weights @ x == pytest.approx(0.0, abs=1e-6)
    assert made.weights @ x**2 == pytest.approx(8 / 6, rel=0.05)
    assert made.pareto_k < RELIABLE


def test_draws_that_miss_the_tails_say_so():
    """Of a normal from one s times as wide p/q has moments up to 1/(1 − s²): k comes near 1 − s² with many draws."""
    x = norm.ppf((np.arange(4000) + 0.5) / 4000)

    def k(s):
        return importance_weights(norm.logpdf(s * x) - norm.logpdf(s * x, scale=s)).pareto_k

    assert k(0.3) > RELIABLE
    assert k(0.9) < 0.5 < k(0.6)


def test_what_is_no_number_counts_for_nothing():
    made = importance_weights(np.array([0.0, np.nan, -np.inf, 0.0]))
    np.testing.assert_allclose(made.weights, [0.5, 0.0, 0.0, 0.5])


def test_weights_are_those_of_arviz():
    arviz = pytest.importorskip("arviz")
    x = np.random.default_rng(0).standard_t(3, 500)
    ratio = t.logpdf(x, 3, scale=1.5) - t.logpdf(x, 3)
    logs, k = arviz.psislw(ratio - ratio.max())
    made = importance_weights(ratio)
    assert made.pareto_k == pytest.approx(float(k), abs=1e-6)
    np.testing.assert_allclose(made.weights, np.exp(logs), rtol=1e-6)
