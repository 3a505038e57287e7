"""Columns with a prior beside flat ones: SciPy's multivariate normal and dense algebra as referees."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from hiddenphysics.gaussian import Border, Held, RestrictedLikelihood, evaluate, reduce
from hiddenphysics.priors import Group, Prior, SquaredExponential
from hiddenphysics.spectral import Features, Grid

K, P, NOISE = 11, 5, 0.3


def model(rows, rng, windows=2):
    A, B = rng.standard_normal((windows, rows, K)), rng.standard_normal((windows, rows, P))
    return A, B, rng.standard_normal((windows, rows))


def covariance_of(A, spectrum, noise):
    windows, rows, _ = A.shape
    K_all = np.zeros((windows * rows,) * 2)
    for w in range(windows):
        own = slice(w * rows, (w + 1) * rows)
        K_all[own, own] = (A[w] * spectrum) @ A[w].T + noise * np.eye(rows)
    return K_all


@pytest.mark.parametrize("rows", [8, 20])
def test_columns_that_all_carry_a_prior_make_a_plain_normal_density(rows):
    rng = np.random.default_rng(2)
    A, B, y = model(rows, rng)
    spectrum, precision, mean = (
        np.exp(rng.standard_normal(K)),
        np.exp(rng.normal(size=P)),
        rng.normal(size=P),
    )
    data = reduce(*map(jnp.asarray, (A, B, y)), jnp.asarray(2.0 * rows))
    at = evaluate(data, jnp.asarray(spectrum), NOISE, jnp.zeros((K, 1)), Held(precision, mean))
    flat, columns = y.ravel(), B.reshape(-1, P)
    whole = covariance_of(A, spectrum, NOISE) + (columns / precision) @ columns.T
    told = multivariate_normal(columns @ mean, whole).logpdf(flat)
    assert -float(at.value) == pytest.approx(told, rel=1e-10)
    gain = (columns / precision).T @ np.linalg.inv(whole)
    np.testing.assert_allclose(at.estimate, mean + gain @ (flat - columns @ mean), rtol=1e-8)


def likelihood(rows, rng, windows=2):
    """Two flat columns, three of two groups; one of these falls with the waves of its columns."""
    features = Features(Grid(((0.0, 1.0),), (16,)), (5,))
    prior = Prior((("u", SquaredExponential()),), ("x",), groups=(Group("offset"), Group("D", falls=True)))
    A, B, y = model(rows, rng, windows)
    data = reduce(*map(jnp.asarray, (A, B, y)), jnp.asarray(float(y.size)))
    border = Border(
        jnp.array([0, -1, 1, -1, 1]), jnp.array([0.0, 0.0, 0.5, 0.0, 1.5]), jnp.asarray(rng.normal(size=P))
    )
    theta = np.log([1.2, 0.3, 0.5, 0.7, 0.2, NOISE])
    return RestrictedLikelihood.of(prior, features, np.array([0.4]), data, border=border), theta, (A, B, y)


@pytest.mark.parametrize("rows", [8, 20])
def test_slopes_in_every_number_are_those_of_the_density(rows):
    made, theta, _ = likelihood(rows, np.random.default_rng(3))
    _, gradient, _ = made.scored(jnp.asarray(theta))
    h = 1e-5
    slopes = [
        (
            float(made.log_density(jnp.asarray(theta - h * e)))
            - float(made.log_density(jnp.asarray(theta + h * e)))
        )
        / (2 * h)
        for e in np.eye(theta.size)
    ]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


def test_expected_information_on_the_sizes_is_that_of_the_dense_covariance():
    made, theta, (A, B, _) = likelihood(20, np.random.default_rng(4), windows=1)
    columns = B.reshape(-1, P)
    flat = columns[:, [1, 3]]

    def whole(theta):
        held = made.held(jnp.asarray(theta))
        carried = np.array([0, 2, 4])
        own = columns[:, carried] / np.sqrt(np.asarray(held.precision)[carried])
        return covariance_of(A, np.asarray(made.spectrum(theta)), np.exp(theta[-1])) + own @ own.T

    inverse = np.linalg.inv(whole(theta))
    seen = inverse @ flat
    left = inverse - seen @ np.linalg.solve(flat.T @ seen, seen.T)
    h = 1e-5
    moved = [left @ (whole(theta + h * e) - whole(theta - h * e)) / (2 * h) for e in np.eye(theta.size)]
    dense = 0.5 * np.array([[np.sum(a * b.T) for b in moved] for a in moved])
    _, _, fisher = made.scored(jnp.asarray(theta))
    # One window: of several, what they say about each other's numbers through d is left out. So are the few degrees of
    # freedom that d takes from the noise's own share.
    np.testing.assert_allclose(np.asarray(fisher)[:-1, :-1], dense[:-1, :-1], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.asarray(fisher)[-1, 2:-1], dense[-1, 2:-1], rtol=1e-6)


def test_a_wide_prior_is_a_flat_column_up_to_its_volume():
    rng = np.random.default_rng(5)
    A, B, y = model(8, rng)
    data = reduce(*map(jnp.asarray, (A, B, y)), jnp.asarray(16.0))
    spectrum, nowhere = jnp.ones(K), jnp.zeros((K, 1))
    flat = evaluate(data, spectrum, NOISE, nowhere)
    tiny = 1e-9
    wide = evaluate(data, spectrum, NOISE, nowhere, Held(jnp.full(P, tiny), jnp.zeros(P)))
    volume = 0.5 * P * np.log(2 * np.pi / tiny)
    assert float(wide.value) - volume == pytest.approx(float(flat.value), abs=1e-6)
    np.testing.assert_allclose(wide.estimate, flat.estimate, rtol=1e-6)
