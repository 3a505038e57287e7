"""The dense smoothing against SciPy's normal density, and its gradient against differences."""

import jax.numpy as jnp
import numpy as np
from scipy.stats import multivariate_normal

import hiddenphysics as hp
from hiddenphysics.learning import climb
from hiddenphysics.learning.smoothing import _value_and_gradient, prior_of, seen_in


def snapshots():
    random = np.random.default_rng(4)
    made = []
    for t, n in ((0.0, 7), (0.5, 5)):
        x = np.sort(random.uniform(0, 3, n))
        made.append(hp.Snapshot(t=t, x=x, u=np.sin(x) + t, u_std=np.full(n, 0.1 + t)))
    return hp.Snapshots(made)


def by_scipy(data, vector):
    """Every snapshot a normal vector of its own: γ² exp(−r²/2ℓ²), noise, and the known errors."""
    natural = np.exp(vector)
    total = 0.0
    for k, s in enumerate(data):
        variance, length = natural[2 * k : 2 * k + 2]
        apart = s["x"][:, None] - s["x"][None]
        K = variance * np.exp(-0.5 * (apart / length) ** 2) + np.diag(natural[-1] + s.stds["u"] ** 2)
        total -= multivariate_normal(np.zeros(len(s)), K).logpdf(s["u"])
    return total


def test_the_likelihood_is_that_of_independent_snapshots():
    data = snapshots()
    prior = prior_of(data, hp.SquaredExponential())
    vector = np.log([1.2, 0.8, 0.7, 1.1, 0.05])
    value, slope = _value_and_gradient(prior, jnp.asarray(vector), seen_in(data, "u"))
    np.testing.assert_allclose(float(value), by_scipy(data, vector), rtol=1e-10)
    h = 1e-5
    differences = [
        (by_scipy(data, vector + h * e) - by_scipy(data, vector - h * e)) / (2 * h) for e in np.eye(5)
    ]
    np.testing.assert_allclose(slope, differences, rtol=1e-6, atol=1e-7)


def test_a_search_starts_from_the_best_rung():
    rungs = [np.array([x]) for x in (-3.0, 0.5, 4.0)]
    assert climb(rungs, lambda v: float((v[0] - 1.0) ** 2), lambda v: v[0]) == 0.5
    # Where a rung has no value it is no start.
    assert climb(rungs, lambda v: np.nan if v[0] == 0.5 else abs(v[0]), lambda v: v[0]) == -3.0
