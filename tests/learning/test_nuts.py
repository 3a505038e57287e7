"""The sampler against closed forms, and R-hat against ArviZ."""

import numpy as np
import pytest

from hiddenphysics.learning.nuts import Posterior, r_hat, sample


def silent(_sentence):
    return None


def test_a_normal_is_drawn_as_it_is():
    """Mean and covariance within their Monte Carlo error, although distances are measured with another covariance."""
    truth = np.array([[2.0, 1.2], [1.2, 1.0]])
    precision, mean = np.linalg.inv(truth), np.array([3.0, -1.0])

    def density(x):
        away = x - mean
        return -0.5 * away @ precision @ away, -precision @ away

    made = sample(density, mean, np.diag([1.0, 2.0]), chains=4, warm=100, draws=500, seed=1, check=silent)
    draws = made.draws.reshape(-1, 2)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=0.2)
    np.testing.assert_allclose(np.cov(draws.T), truth, rtol=0.25)
    assert np.all(made.r_hat < 1.02)
    assert made.diverged == 0


def test_a_skewed_density_is_not_made_normal():
    """log of a Gamma(2): mean ψ(2), variance ψ′(2), and longer to the left."""

    def density(x):
        return float(2 * x[0] - np.exp(x[0])), np.array([2 - np.exp(x[0])])

    made = sample(
        density,
        np.array([np.log(2.0)]),
        np.array([[0.5]]),
        chains=4,
        warm=100,
        draws=700,
        seed=0,
        check=silent,
    )
    draws = made.draws.ravel()
    assert draws.mean() == pytest.approx(0.42278, abs=0.08)
    assert draws.var() == pytest.approx(0.64493, rel=0.25)
    assert np.mean((draws - draws.mean()) ** 3) < -0.2


def test_r_hat_is_that_of_arviz():
    arviz = pytest.importorskip("arviz")
    random = np.random.default_rng(0)
    good, bad = random.standard_normal((4, 300)), random.standard_normal((4, 300)) + np.arange(4)[:, None]
    for draws in (good, bad, good * np.arange(1, 5)[:, None]):
        assert r_hat(draws) == pytest.approx(float(arviz.rhat(draws)), rel=1e-6)
    assert r_hat(good) < 1.02 < r_hat(bad)


def test_a_density_that_ends_next_to_its_optimum_still_has_a_covariance():
    """Clean data: half a step further nothing can be factored, and its slopes are no numbers."""

    def density(vector):
        if vector[1] < -0.01:
            return np.nan, np.full(2, np.nan)
        return -0.5 * float(vector @ vector), -vector

    posterior = Posterior(density, np.zeros(2), np.eye(1))
    proper, covariance = posterior.proper(1, np.array([[-np.inf, np.inf]]))
    assert proper(np.array([0.0, -1.0]))[0] == -np.inf
    assert np.all(np.linalg.eigvalsh(covariance) > 0)
    assert covariance[0, 0] == pytest.approx(1.0, rel=1e-6)
