"""Derivative tables against fifty digits and against nested automatic differentiation, coincident points included."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.priors import Kernel, Matern, Periodic, RationalQuadratic, SquaredExponential

from .closed_forms import CASES, DISTANCES, Case, exact_table, nested_table

R = jnp.asarray(DISTANCES)


def case_of_each() -> list:
    """Every case with its name."""
    return [pytest.param(case, id=case.name) for case in CASES]


def table(case: Case, order: int | None = None) -> np.ndarray:
    return np.asarray(case.kernel.derivatives(R, case.order if order is None else order, case.named))


def largest_error(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest error, relative to the largest size of the derivative of that order."""
    assert found.shape == expected.shape
    return float(np.max(np.abs(found - expected) / np.max(np.abs(expected), axis=1, keepdims=True)))


@pytest.mark.parametrize("case", case_of_each())
def test_table_equals_fifty_digits(case: Case) -> None:
    assert largest_error(table(case), exact_table(case)) < 2e-14


@pytest.mark.parametrize("case", case_of_each())
def test_table_equals_nested_differentiation(case: Case) -> None:
    order = min(case.order, case.nested)
    assert largest_error(table(case, order), nested_table(case, order)) < 1e-12


@pytest.mark.parametrize("case", case_of_each())
def test_slope_in_the_learned_numbers_is_right_at_coincident_points_too(case: Case) -> None:
    """Reverse mode, as the likelihood uses it, against central differences of the (verified) table."""
    order = min(case.order, 4)

    def flat(parameters: dict[str, jax.Array]) -> jax.Array:
        return jnp.stack(case.kernel.derivatives(R, order, parameters)).ravel()

    natural = {name: jnp.asarray(value) for name, value in case.parameters}
    slopes = jax.jit(jax.jacrev(flat))(natural)
    for name, value in case.parameters:
        step = 1e-5 * value
        up, down = (flat(natural | {name: jnp.asarray(value + s * step)}) for s in (1, -1))
        expected = np.asarray((up - down) / (2 * step)).reshape(order + 1, -1)
        assert largest_error(np.asarray(slopes[name]).reshape(order + 1, -1), expected) < 1e-7


@pytest.mark.parametrize("case", case_of_each())
def test_correlation_is_one_at_zero_and_even(case: Case) -> None:
    parameters = case.named
    forth, back = (np.asarray(case.kernel.derivatives(s * R, case.order, parameters)) for s in (1.0, -1.0))
    assert forth[0, 0] == 1.0
    np.testing.assert_array_equal(back, forth * (-1.0) ** np.arange(case.order + 1)[:, None])


def plain(kernel: Kernel, order: int, **parameters: float) -> np.ndarray:
    return np.asarray(kernel.derivatives(R, order, parameters))


def test_rational_quadratic_of_large_alpha_is_the_squared_exponential() -> None:
    expected = plain(SquaredExponential(), 8, length=0.9)
    gaps = [
        largest_error(plain(RationalQuadratic(), 8, length=0.9, alpha=alpha), expected)
        for alpha in (1e5, 1e7)
    ]
    assert gaps[1] < 1e-5
    np.testing.assert_allclose(gaps[0] / gaps[1], 100.0, rtol=0.01)  # the distance falls as 1/α


def test_matern_approaches_the_squared_exponential_as_one_over_nu() -> None:
    expected = plain(SquaredExponential(), 4, length=0.9)
    gaps = [largest_error(plain(Matern(nu), 4, length=0.9), expected) for nu in (5.5, 10.5, 20.5)]
    assert gaps[2] < 0.2
    rates = np.log(np.divide(gaps[:-1], gaps[1:])) / np.log([10.5 / 5.5, 20.5 / 10.5])
    assert rates[0] > rates[1]  # 1.43 and 1.19: towards 1
    np.testing.assert_allclose(rates[1], 1.0, atol=0.25)


@pytest.mark.parametrize("turns", [1, -3])
def test_periodic_repeats(turns: int) -> None:
    kernel, numbers = Periodic(2.5), {"length": 0.8}
    here = np.asarray(kernel.derivatives(R, 8, numbers))
    there = np.asarray(kernel.derivatives(R + turns * 2.5, 8, numbers))
    assert largest_error(there, here) < 1e-13


def test_periodic_of_a_long_period_is_the_squared_exponential() -> None:
    """sin(πr/p) ≈ πr/p: a field that does not notice the ring."""
    kernel = Periodic(1e4)
    found = plain(kernel, 6, **kernel.start(0.9))
    assert largest_error(found, plain(SquaredExponential(), 6, length=0.9)) < 1e-5
