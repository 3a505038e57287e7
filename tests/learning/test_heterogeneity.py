"""Cochran's test: against its closed form, and its p-values over many draws."""

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from hiddenphysics.learning import Heterogeneity, heterogeneity


def drawn(seed: int, shift: float = 0.0, count: int = 5) -> Heterogeneity:
    """Two parameters of experiments with known information, the last of them shifted."""
    rng = np.random.default_rng(seed)
    roots = 0.3 * rng.uniform(-1, 1, (count, 2, 2)) + np.eye(2)
    information = roots @ np.swapaxes(roots, 1, 2)
    steps = np.stack([np.linalg.solve(root.T, rng.standard_normal(2)) for root in roots])
    steps[-1] += shift
    names = [f"run {k}" for k in range(count)]
    return heterogeneity(names, {"a": 1.0, "b": 2.0}, steps, information, np.ones(2))


def test_of_two_single_numbers_it_is_their_difference() -> None:
    """(d₁ − d₂)² / (σ₁² + σ₂²), by hand."""
    made = heterogeneity(
        ["one", "two"], {"a": 1.0}, np.array([[0.3], [-0.1]]), np.array([[[4.0]], [[25.0]]]), np.ones(1)
    )
    assert made.statistic == pytest.approx(0.4**2 / (0.25 + 0.04), rel=1e-12)
    assert made.degrees == 1
    assert made.p_value == pytest.approx(chi2.sf(made.statistic, 1), rel=1e-12)
    mean = (0.3 * 4 - 0.1 * 25) / 29
    assert made.shares[0].estimate["a"] == pytest.approx(1.0 + 0.3 - mean, rel=1e-12)
    assert made.shares[1].std["a"] == pytest.approx(0.2, rel=1e-12)


def test_p_values_are_uniform_where_experiments_agree() -> None:
    made = [drawn(seed) for seed in range(400)]
    assert {one.degrees for one in made} == {8}
    assert kstest([one.p_value for one in made], "uniform").pvalue > 0.01


def test_the_one_that_contradicts_is_named() -> None:
    made = drawn(0, shift=5.0)
    assert made.speaks_against
    assert "contradict" in made.sentence()
    assert "run 4" in made.sentence()
    assert made.widening > 1
    assert Heterogeneity.of_plain(made.plain()) == made


def test_trifles_are_no_contradiction() -> None:
    """Exact numbers differ by the last digits of whoever computed them."""
    steps, information = np.array([[1e-6], [-1e-6]]), np.full((2, 1, 1), 1e16)
    made = heterogeneity(["one", "two"], {"a": 1.0}, steps, information, np.ones(1))
    assert made.p_value < 1e-12
    assert not made.speaks_against


def test_a_parameter_that_one_experiment_alone_tells_has_no_contradiction() -> None:
    information = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
    made = heterogeneity(["one", "two"], {"a": 1.0, "b": 1.0}, np.ones((2, 2)), information, np.ones(2))
    assert (made.degrees, made.p_value) == (0, 1.0)
