"""Smoothing and the regression that starts a fit, on fields whose derivatives and parameters are known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from hiddenphysics.equation import Equation, evaluate_by_name
from hiddenphysics.learning import Guess, SmoothedField, Source, first_guess, smooth, smoothed_snapshots
from hiddenphysics.learning.regression import Rows, Whitening, solve
from hiddenphysics.operators import Symbol
from hiddenphysics.priors import SquaredExponential

from .exact_fields import Solution, advection, heat, pendulum, sampled

GAP = 0.1
SYMBOLS = tuple(Symbol((n,)) for n in range(5))


@cache
def smoothed(solution: Solution, noise: float) -> SmoothedField:
    return smooth(sampled(solution, GAP, noise, seed=1), "u", SquaredExponential())


def sine_derivatives(x: np.ndarray, t: float) -> np.ndarray:
    """∂_x^n of the advected field at time t, n = 0 … 4."""
    y = x - 0.7 * t
    return np.stack([
        np.sin(y + 0.5 * np.pi * n) + 0.5 * 2.0**n * np.cos(2 * y + 0.5 * np.pi * n) for n in range(5)
    ])  # fmt: skip


def test_clean_data_give_derivatives_up_to_the_fourth() -> None:
    x = np.linspace(0.8, 5.4, 20)
    means = smoothed(advection, 0.0).means(SYMBOLS, x[:, None])
    assert means.shape == (2, 5, 20)
    for snapshot, t in enumerate((0.0, GAP)):
        expected = sine_derivatives(x, t)
        size = np.max(np.abs(expected), axis=1)
        error = np.max(np.abs(means[snapshot] - expected), axis=1) / size
        np.testing.assert_array_less(error, [1e-4, 1e-3, 3e-3, 1e-2, 4e-2])


def test_noisy_data_give_the_noise_and_a_smoother_field() -> None:
    noise = 0.05
    field = smoothed(advection, noise)
    assert 0.6 * noise < np.sqrt(field.values["noise.variance"]) < 1.5 * noise
    x = np.linspace(0.8, 5.4, 20)
    errors = field.means(SYMBOLS, x[:, None])[0, 0] - advection(0.0, x)
    assert np.sqrt(np.mean(errors**2)) < noise


def test_half_of_many_values_tells_the_lengths_and_all_of_them_the_field(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noise, x = 0.05, np.linspace(0.8, 5.4, 20)
    whole = smoothed(advection, noise)
    count = sum(one.values.size for one in whole.seen)
    monkeypatch.setattr("hiddenphysics.learning.smoothing.MANY", count - 1)
    field = smoothed.__wrapped__(advection, noise)
    assert sum(one.values.size for one in field.seen) == count
    assert field.values != whole.values
    for name, value in whole.values.items():
        np.testing.assert_allclose(np.log(field.values[name]), np.log(value), rtol=0.0, atol=1.0)
    errors = field.means(SYMBOLS, x[:, None])[0, 0] - advection(0.0, x)
    assert np.sqrt(np.mean(errors**2)) < noise


def test_each_snapshot_has_its_own_hyperparameters() -> None:
    field = smoothed(heat, 0.0)
    assert field.prior.names == (
        "z0.variance", "z0.length_x", "z1.variance", "z1.length_x", "noise.variance",
    )  # fmt: skip
    for snapshot in (0, 1):
        variance, (shape,) = field.hyper(snapshot)
        assert variance == field.values[f"z{snapshot}.variance"]
        assert shape == {"length": field.values[f"z{snapshot}.length_x"]}


# ---- regression --------------------


def regressed(text: str, solution: Solution) -> Guess:
    equation = Equation.parse(text, fields=["u"])
    source = smoothed_snapshots(sampled(solution, GAP, 0.0, seed=1), {"u": smoothed(solution, 0.0)})
    return first_guess(equation, source)


def test_heat() -> None:
    guess = regressed("u_t - b*u_xx = 0", heat)
    np.testing.assert_allclose(guess.estimate["b"], 1.0, rtol=0.03)


def test_advection() -> None:
    guess = regressed("u_t + a*u_x - b*u_xx = 0", advection)
    np.testing.assert_allclose(guess.estimate["a"], 0.7, rtol=0.03)
    np.testing.assert_allclose(guess.estimate["b"], 0.0, atol=0.01)


def test_a_parameter_inside_a_function() -> None:
    guess = regressed("u_t + sin(a*u) = 0", pendulum)
    np.testing.assert_allclose(guess.estimate["a"], 1.6, rtol=0.03)


def test_an_order_that_is_the_only_unknown() -> None:
    """u_t = u_xx is u_t + (−Δ)^{α/2} u = 0 with α = 2, the one of the tried orders that explains the change."""
    guess = regressed("u_t + frac_lap(u, alpha) = 0", heat)
    assert guess.estimate["alpha"] == 2.0


def test_the_scale_of_a_parameter_is_the_change_that_matters() -> None:
    """A step of `scale` changes the right-hand side by as much as the field changes."""
    one = regressed("u_t - b*u_xx = 0", heat)
    thousand = regressed("u_t - 1000*b*u_xx = 0", heat)
    np.testing.assert_allclose(thousand.scale["b"], one.scale["b"] / 1000, rtol=1e-9)
    np.testing.assert_allclose(thousand.estimate["b"], one.estimate["b"] / 1000, rtol=1e-9)
    assert 0.5 < one.scale["b"] < 2.0  # the whole change of the field comes from this one term, and b = 1


def test_the_scale_inside_a_function_is_that_of_the_place() -> None:
    """∂/∂a sin(a u) = u cos(a u): where a u turns the cosine, a step of another size alters the rate as much."""
    guess = regressed("u_t + sin(a*u) = 0", pendulum)
    here, there = guess.scale_at(guess.estimate)["a"], guess.scale_at({"a": 0.0})["a"]
    np.testing.assert_allclose(here, guess.scale["a"], rtol=1e-12)
    assert there < 0.9 * here  # at a = 0 the cosine is one everywhere


def test_terms_that_are_the_same_share_their_coefficient() -> None:
    """Of a u_xx + b u_xx only the sum is known; the smallest numbers are the answer, not a blow-up."""
    estimate = regressed("u_t - a*u_xx - b*u_xx = 0", heat).estimate
    np.testing.assert_allclose([estimate["a"], estimate["b"]], 0.5, rtol=0.03)


@pytest.mark.parametrize(
    "text",
    ["u_t + a*v_x = 0; v_t + b*u_x = 0", "u_t + a*sin(v) = 0; v_t + b*u_x = 0"],
    ids=["linear", "nonlinear"],
)
def test_parameters_of_hidden_fields_start_at_nothing(text: str) -> None:
    guess = regressed(text, heat)
    assert guess.estimate == {"a": 0.0, "b": 0.0}
    assert guess.scale == {"a": 1.0, "b": 1.0}


def test_a_start_lies_between_bounds_of_any_size() -> None:
    """A parameter inside a function, sought in other units: the bounds are far below one, and hold the truth."""
    guess = regressed("u_t + sin(1e7*a*u) = 0; 0 < a < 5e-7", pendulum)
    np.testing.assert_allclose(guess.estimate["a"], 1.6e-7, rtol=0.03)


def test_blocks_of_errors_whiten_as_their_whole_covariance_does() -> None:
    """Rows of two times, one after the other in turn: nothing connects them."""
    random = np.random.default_rng(0)
    owned = (np.array([0, 2, 4]), np.array([1, 3]))
    whole, blocks = np.zeros((5, 5)), []
    for own in owned:
        half = random.standard_normal((own.size, own.size + 2))
        whole[np.ix_(own, own)] = half @ half.T
        blocks.append((own, np.linalg.cholesky(half @ half.T)))
    rows, whitening = random.standard_normal((5, 2)), Whitening(tuple(blocks))
    white = whitening.apply(rows)
    np.testing.assert_allclose(white.T @ white, rows.T @ np.linalg.solve(whole, rows), rtol=1e-12)
    assert whitening.half_log_det == pytest.approx(0.5 * np.linalg.slogdet(whole)[1])


def test_a_hidden_field_is_another_one_at_another_time() -> None:
    """A pressure that is gone in the second gap, and looks like a larger a in the first: one that stays finds 0.9."""
    rng, wave = np.random.default_rng(0), np.linspace(0.0, 2 * np.pi, 20, endpoint=False)
    x, y = (axis.ravel() for axis in np.meshgrid(wave, wave[::2], indexing="ij"))
    points, times = np.tile(np.stack([x, y], axis=1), (2, 1)), np.repeat([0.0, 1.0], x.size)
    x, y = points.T
    u, u_x, u_y = np.sin(x) * np.cos(2 * y), np.cos(x) * np.cos(2 * y), -2 * np.sin(x) * np.sin(2 * y)
    p_x, p_y = 3 * u_x * (times == 0), 3 * u_y * (times == 0)
    v, v_x, v_y = np.cos(x + y), -np.sin(x + y), -np.sin(x + y)
    told = {"u": {(0, 0): u, (1, 0): u_x, (0, 1): u_y}, "v": {(0, 0): v, (1, 0): v_x, (0, 1): v_y}}
    rates = {"u": -0.7 * u_x - 0.3 * u_y - p_x, "v": -0.7 * v_x - 0.3 * v_y - p_y}
    rates = {name: rate + 1e-3 * rng.standard_normal(rate.size) for name, rate in rates.items()}

    def values(name: str, symbols: Sequence[Symbol]) -> np.ndarray | None:
        return np.stack([told[name][symbol.orders] for symbol in symbols]) if name in told else None

    text = "u_t + a*u_x + b*u_y + p_x = 0; v_t + a*v_x + b*v_y + p_y = 0; u_x + v_y = 0"
    source = Source(points, times, np.array([1.0, 1.0]), rates.get, values)
    guess = first_guess(Equation.parse(text, fields=("u", "v")), source)
    assert (guess.estimate["a"], guess.estimate["b"]) == pytest.approx((0.7, 0.3), abs=0.01)


@pytest.mark.parametrize(
    ("text", "truth", "low"),
    [
        ("u_t = b*u^2/(K^2 + u^2) - m*u", {"b": 1.2, "K": 0.6, "m": 0.55}, -np.inf),
        ("u_t = -a*b^2*u^2 - c*u", {"a": 1.0, "b": 2.0, "c": 1.0}, -np.inf),
        ("u_t = f*sin(w*u)", {"f": 1.0, "w": 1.5}, -np.inf),
        ("u_t = K^2*u", {"K": -0.6}, -1.0),
    ],
)
def test_a_sign_that_an_equation_does_not_see_is_plus(text: str, truth: dict[str, float], low: float) -> None:
    equation = Equation.parse(text)
    u = np.linspace(0.2, 1.8, 30)
    numbers = {str(equation.field("u")): u}
    rate = -evaluate_by_name(equation.evolution["u"], numbers | truth, np)
    rows = Rows.of(equation.system.rates, {"u": rate}, numbers, equation.parameters)
    high = 0.0 if low > -np.inf else np.inf
    found = solve(rows, Whitening(), np.tile([low, high], (len(truth), 1))).estimate
    assert all(value > 0 for value in found.values()) if high else found["K"] == pytest.approx(-0.6)
