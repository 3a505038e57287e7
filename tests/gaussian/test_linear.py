"""The linear Gaussian model against plain NumPy and finite differences."""

import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.gaussian import Belief, evaluate, evidence, posterior, reduce

RNG = np.random.default_rng(1)
K, P, NOISE = 12, 2, 0.3


def model(rows):
    A, B = RNG.standard_normal((2, rows, K)), RNG.standard_normal((2, rows, P))
    return A, B, RNG.standard_normal((2, rows)), np.exp(RNG.standard_normal(K))


def referee(A, B, y, spectrum, noise):
    """Negative restricted log likelihood of independent windows with common fixed effects, by dense algebra."""
    K_all = np.zeros((y.size, y.size))
    rows = y.shape[1]
    for w in range(len(A)):
        K_all[w * rows : (w + 1) * rows, w * rows : (w + 1) * rows] = (A[w] * spectrum) @ A[
            w
        ].T + noise * np.eye(rows)
    B, y = B.reshape(-1, B.shape[-1]), y.ravel()
    information = B.T @ np.linalg.solve(K_all, B)
    d = np.linalg.solve(information, B.T @ np.linalg.solve(K_all, y))
    r = y - B @ d
    logs = np.linalg.slogdet(K_all)[1] + np.linalg.slogdet(information)[1]
    return 0.5 * (r @ np.linalg.solve(K_all, r) + logs + (y.size - P) * np.log(2 * np.pi)), d, information


@pytest.mark.parametrize("rows", [9, 20])
def test_restricted_likelihood_and_its_derivatives(rows):
    A, B, y, spectrum = model(rows)
    data = reduce(*map(jnp.asarray, (A, B, y)), jnp.asarray(2.0 * rows))
    directions = jnp.asarray(RNG.standard_normal((K, 2)))
    found = evaluate(data, jnp.asarray(spectrum), jnp.asarray(NOISE), directions)
    value, d, information = referee(A, B, y, spectrum, NOISE)
    assert float(found.value) == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(found.estimate, d, rtol=1e-8)
    np.testing.assert_allclose(found.information, information, rtol=1e-8)
    h = 1e-5
    slope = [
        (referee(A, B, y, spectrum + h * e, NOISE)[0] - referee(A, B, y, spectrum - h * e, NOISE)[0])
        / (2 * h)
        for e in np.eye(K)
    ]
    np.testing.assert_allclose(found.in_spectrum, slope, rtol=1e-5, atol=1e-7)
    by_noise = (referee(A, B, y, spectrum, NOISE + h)[0] - referee(A, B, y, spectrum, NOISE - h)[0]) / (2 * h)
    assert float(found.in_noise) == pytest.approx(by_noise, rel=1e-5)


def test_a_column_that_says_nothing_spoils_no_other():
    """A parameter before a term that is 0 everywhere: it stays, and the others get what they would get without it."""
    A, B, y, spectrum = model(9)
    silent = np.concatenate([B, np.zeros((2, 9, 1))], axis=2)
    alone, beside = (
        evaluate(
            reduce(*map(jnp.asarray, (A, columns, y)), jnp.asarray(18.0)),
            jnp.asarray(spectrum),
            jnp.asarray(NOISE),
            jnp.zeros((K, 1)),
        )
        for columns in (B, silent)
    )
    np.testing.assert_allclose(beside.estimate, [*alone.estimate, 0.0], rtol=1e-10)
    np.testing.assert_allclose(beside.in_spectrum, alone.in_spectrum, rtol=1e-10)
    assert np.isfinite(float(beside.value))


def test_rows_of_padding_change_nothing():
    A, B, y, spectrum = model(9)
    padded = [np.concatenate([v, np.zeros((2, 6, *v.shape[2:]))], axis=1) for v in (A, B, y)]
    values = [
        float(
            evaluate(
                reduce(*map(jnp.asarray, v), jnp.asarray(18.0)),
                jnp.asarray(spectrum),
                NOISE,
                jnp.zeros((K, 1)),
            ).value
        )
        for v in ((A, B, y), padded)
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_evidence_without_fixed_effects_is_the_gaussian_density():
    from scipy.stats import multivariate_normal

    A, _, y, spectrum = model(9)
    data = reduce(jnp.asarray(A), jnp.zeros((2, 9, 0)), jnp.asarray(y), jnp.asarray(18.0))
    expected = -sum(
        multivariate_normal(np.zeros(9), (A[w] * spectrum) @ A[w].T + NOISE * np.eye(9)).logpdf(y[w])
        for w in range(2)
    )
    assert float(evidence(data, jnp.asarray(spectrum), jnp.asarray(NOISE))) == pytest.approx(
        expected, rel=1e-9
    )


def test_belief_has_the_variance_of_its_draws_and_the_bound_of_its_information():
    A, B, y, spectrum = model(20)
    data = reduce(*map(jnp.asarray, (A, B, y)), jnp.asarray(40.0))
    _, _, information = referee(A, B, y, spectrum, NOISE)
    covariance = np.linalg.inv(information)
    belief = Belief(
        np.asarray(data.A),
        np.asarray(data.B),
        np.asarray(data.rest)[:P, :P],
        spectrum,
        NOISE,
        np.asarray(data.known),
        covariance,
    )
    np.testing.assert_allclose(belief.bound(NOISE), covariance, rtol=1e-8)
    mean, slope = posterior(data, jnp.asarray(spectrum), jnp.asarray(NOISE))
    np.testing.assert_allclose(belief.slope(0), slope[0], rtol=1e-8)
    z, parameters = belief.draws(0, np.asarray(mean[0]), np.zeros(P), 40000, np.random.default_rng(2))
    in_z, in_p = RNG.standard_normal((3, K)), RNG.standard_normal((3, P))
    drawn = z @ in_z.T + parameters @ in_p.T
    np.testing.assert_allclose(drawn.var(axis=0), belief.variance(0, in_z, in_p), rtol=0.05)


@pytest.mark.parametrize("rows", [9, 20])
def test_average_information_is_that_of_the_quadratic_forms(rows):
    """½ yᵀP dK₁ P dK₂ P y by dense algebra, with rows that the features reach and with further ones."""
    A, B, y, spectrum = model(rows)
    data = reduce(*map(jnp.asarray, (A, B, y)), jnp.asarray(2.0 * rows))
    directions = RNG.standard_normal((K, 2))
    found = evaluate(data, jnp.asarray(spectrum), jnp.asarray(NOISE), jnp.asarray(directions), averaged=True)
    every = np.zeros((2 * rows, 2 * K))
    for w in range(2):
        every[w * rows : (w + 1) * rows, w * K : (w + 1) * K] = A[w]
    flat, values = B.reshape(-1, P), y.ravel()
    inverse = np.linalg.inv((every * np.tile(spectrum, 2)) @ every.T + NOISE * np.eye(2 * rows))
    inside = np.linalg.inv(flat.T @ inverse @ flat)
    restricted = inverse - inverse @ flat @ inside @ flat.T @ inverse
    changes = [(every * np.tile(d, 2)) @ every.T for d in directions.T] + [np.eye(2 * rows)]
    moved = np.stack([change @ restricted @ values for change in changes])
    np.testing.assert_allclose(found.fisher, 0.5 * moved @ restricted @ moved.T, rtol=1e-7)
