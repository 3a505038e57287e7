"""The likelihood of a small problem, its derivatives and its posterior, against a referee written out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.models import Problem
from hiddenphysics.models.one_step import posterior
from hiddenphysics.models.one_step.places import place

from .referee import block, burgers_covariance, euler_terms, negative_log_likelihood

RANDOM = np.random.default_rng(3)
X0, X1 = RANDOM.uniform(-2.0, 2.0, 5), RANDOM.uniform(-2.0, 2.0, 6)
U0, U1 = np.sin(X0) + 0.1 * RANDOM.standard_normal(5), np.sin(X1 - 0.2) + 0.1 * RANDOM.standard_normal(6)
LAG = 0.2
VALUES = {"a": 0.9, "b": 0.15, "u.variance": 1.4, "u.length_x": 0.8, "noise.variance": 0.02}
DATA = [hp.Snapshot(t=1.0, x=X0, u=U0), hp.Snapshot(t=1.0 + LAG, x=X1, u=U1)]
Y = np.concatenate([U1, U0])


@pytest.fixture(scope="module")
def task() -> Problem:
    return hp.problem("u_t + a*u*u_x - b*u_xx = 0", DATA)


def test_names_and_size(task: Problem) -> None:
    assert task.names == tuple(VALUES)
    assert task.size == 11


def test_value_equals_the_referee(task: Problem) -> None:
    expected = negative_log_likelihood(burgers_covariance(VALUES, X1, X0, U0, LAG), Y)
    np.testing.assert_allclose(task.negative_log_likelihood(VALUES), expected, rtol=1e-12)
    value, _ = task.objective(task.unknowns.vector(VALUES))
    np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_gradient_equals_differences_of_the_referee(task: Problem) -> None:
    gradient = task.gradient(VALUES)
    for name, value in VALUES.items():
        step = 1e-5 * value
        up, down = (
            negative_log_likelihood(burgers_covariance(VALUES | {name: value + s * step}, X1, X0, U0, LAG), Y)
            for s in (1, -1)
        )
        np.testing.assert_allclose(gradient[name], (up - down) / (2 * step), rtol=1e-6)


def test_objective_has_the_gradient_of_the_unconstrained_vector(task: Problem) -> None:
    """Positive numbers live as logarithms: d/d log θ = θ d/dθ."""
    _, slopes = task.objective(task.unknowns.vector(VALUES))
    natural = task.gradient(VALUES)
    expected = [natural[n] * (1.0 if n in ("a", "b") else VALUES[n]) for n in task.names]
    np.testing.assert_allclose(slopes, expected, rtol=1e-12)


def test_hessian_equals_differences_of_the_gradient(task: Problem) -> None:
    vector = task.unknowns.vector(VALUES)
    hessian, jitter = task.hessian(vector, np.ones(vector.size))
    assert jitter == 0.0
    step = 1e-5
    rows = [
        (task.objective(vector + step * e)[1] - task.objective(vector - step * e)[1]) / (2 * step)
        for e in np.eye(len(vector))
    ]
    np.testing.assert_allclose(hessian, rows, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-12)


# ---- posterior --------------------


def test_posterior_equals_the_formula_between_the_snapshots(task: Problem) -> None:
    """Mean C K⁻¹ y and variance P − C K⁻¹ Cᵀ of u a quarter of the gap before the later snapshot."""
    x, frozen, lag = np.array([-1.0, 0.3, X0[0]]), np.array([0.2, -0.4, 0.7]), 0.25 * LAG
    hyper = VALUES["u.variance"], VALUES["u.length_x"]
    wanted = euler_terms(lag, VALUES["a"], VALUES["b"], frozen)
    after = [(0, np.ones_like(X1))]
    before = euler_terms(LAG, VALUES["a"], VALUES["b"], U0)
    cross = np.hstack([block(wanted, x, after, X1, *hyper), block(wanted, x, before, X0, *hyper)])
    K = burgers_covariance(VALUES, X1, X0, U0, LAG)
    prior = block(wanted, x, wanted, x, *hyper)
    spread = prior - cross @ np.linalg.solve(K, cross.T)

    quantity = task.step.quantity("u")
    here = place(x[:, None], {"u(t, x)": frozen}, lag, 1.0 + LAG)
    mean, std = posterior.mean_and_std(task, VALUES, quantity, here)
    np.testing.assert_allclose(mean, cross @ np.linalg.solve(K, Y), rtol=1e-10)
    np.testing.assert_allclose(std, np.sqrt(np.diagonal(spread)), rtol=1e-9)

    draws = posterior.draws(task, VALUES, quantity, here, count=40_000, seed=1)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=5 * std.max() / 200)
    np.testing.assert_allclose(np.cov(draws.T), spread, atol=5 * spread.max() / 200 * np.sqrt(2))


# ---- mean, source and time --------------------


def test_sources_functions_and_explicit_time_enter_the_mean() -> None:
    """u_t + sin(a u) − b u_xx = x t, N taken at the later time: u⁰ = z − Δt b z_xx + Δt (sin(a u⁰) − x t¹)."""
    task = hp.problem("u_t + sin(a*u) - b*u_xx = x*t", DATA)
    later = 1.0 + LAG
    mean = LAG * (np.sin(VALUES["a"] * U0) - X0 * later)
    K = burgers_covariance(VALUES | {"a": 0.0}, X1, X0, U0, LAG)
    expected = negative_log_likelihood(K, Y - np.concatenate([np.zeros(6), mean]))
    np.testing.assert_allclose(task.negative_log_likelihood(VALUES), expected, rtol=1e-12)


# ---- words --------------------


def test_values_must_be_complete(task: Problem) -> None:
    for values in (VALUES | {"c": 1.0}, {"a": 1.0}):
        with pytest.raises(
            hp.ModelError, match=r"needed are exactly a, b, u\.variance, u\.length_x, noise\.variance"
        ):
            task.negative_log_likelihood(values)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan])
def test_positive_numbers_must_be_positive(task: Problem, bad: float) -> None:
    with pytest.raises(hp.ModelError, match=r"u\.length_x = .* was given; it must be positive"):
        task.negative_log_likelihood(VALUES | {"u.length_x": bad})
