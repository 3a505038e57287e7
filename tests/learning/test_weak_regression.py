"""The first guess from whole recordings: exact solutions on a grid, noise up to the field's own size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import sympy
from numpy.polynomial.hermite_e import hermeval

from hiddenphysics.equation import Equation
from hiddenphysics.learning import WeakGuess, weak_guess
from hiddenphysics.learning.bumps import GridAxis, bump_blocks
from hiddenphysics.learning.weak_form import Integrand, WeakForm
from hiddenphysics.learning.weak_integrals import NoisyRecording, unbiased, white_noise
from hiddenphysics.simulate import exact

from .exact_fields import advection, heat

T = np.linspace(0.0, 1.0, 41)
X = 2 * np.pi * np.arange(64) / 64
Fields = dict[str, np.ndarray]


def on_grid(solution: Callable[..., np.ndarray], t: np.ndarray = T, x: np.ndarray = X) -> Fields:
    return {"u": np.stack([solution(time, x) for time in t])}


def noisy(fields: Mapping[str, np.ndarray], level: float, seed: int) -> Fields:
    """White noise of a part of each field's root mean square."""
    random = np.random.default_rng(seed)
    return {
        name: u + level * np.sqrt(np.mean(u**2)) * random.standard_normal(u.shape)
        for name, u in fields.items()
    }


def guessed(
    text: str, values: Fields, t: np.ndarray = T, x: np.ndarray = X, *, around: bool = True
) -> WeakGuess:
    found = weak_guess(Equation.parse(text), t, [x], values, periodic=(around,))
    assert found is not None
    return found


def deviations(found: WeakGuess, truth: Mapping[str, float]) -> np.ndarray:
    """(estimate − truth) in stated deviations."""
    errors = [found.guess.estimate[p] - value for p, value in truth.items()]
    return np.array(errors) / np.sqrt(np.diagonal(found.covariance))


# ---- what has a weak form --------------------


def inside(text: str, *measured: str) -> dict[tuple[int, ...], sympy.Expr] | None:
    form = WeakForm.of(Equation.parse(text), measured or ("u",))
    return None if form is None else {q.orders: q.inside for q in form.integrands}


u, v = (sympy.Function(name, real=True)(*sympy.symbols("t x", real=True)) for name in "uv")
x = sympy.Symbol("x", real=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u_t + a*u*u_x - b*u_xx = 0", {(1, 0): u, (0, 1): u**2 / 2, (0, 2): -u}),
        ("u_t + a*u^2*u_x + b*u_xxx = 0", {(1, 0): u, (0, 1): u**3 / 3, (0, 3): u}),
        ("u_t = a*d(u*u_x, x)", {(1, 0): u, (0, 2): -(u**2) / 2}),
        ("u_t = a*d(sin(x)*u_x, x)", {(1, 0): u, (0, 2): -u * sympy.sin(x), (0, 1): u * sympy.cos(x)}),
        ("u_t = a*x*u", {(1, 0): u, (0, 0): -x * u}),
        ("u_tt + g*u_t = c^2*u_xx", {(2, 0): u, (1, 0): u, (0, 2): -u}),
    ],
)
def test_derivatives_come_to_the_front(text: str, expected: Mapping[tuple[int, ...], sympy.Expr]) -> None:
    found = inside(text)
    assert found is not None
    for orders, product in expected.items():
        assert sympy.expand(found[orders] - product) == 0


def test_products_of_two_fields() -> None:
    text = "u_t + a*u*v_x + a*v*u_x = 0; v_t + b*u_x = 0"
    form = WeakForm.of(Equation.parse(text), ("u", "v"))
    assert form is not None
    assert Integrand((0, 1), u * v) in form.integrands
    assert WeakForm.of(Equation.parse(text), ("u",)) is None  # nobody measured v


@pytest.mark.parametrize(
    "text",
    [
        "u_t + a*u_x^2 = 0",
        "u_t + a*sin(u) = 0",
        "u_t + a*u*u_xx = 0",
        "u_t + a*frac_lap(u, 1.5) = 0",
        "u_t = u*sin(a*x)",
        "u_t + a*u*u_x + b*u_x*abs(u) = 0",
    ],
)
def test_what_has_no_weak_form_is_left_to_others(text: str) -> None:
    assert WeakForm.of(Equation.parse(text), ("u",)) is None
    assert weak_guess(Equation.parse(text), T, [X], on_grid(heat), periodic=(True,)) is None


def test_advection_by_two_components_has_one_only_in_divergence_form() -> None:
    plain = "c_t + u*c_x + w*c_y = k*lap(c)"
    divergence = "c_t + d(u*c, x) + d(w*c, y) = k*lap(c)"
    assert WeakForm.of(Equation.parse(plain, fields=tuple("cuw")), tuple("cuw")) is None
    assert WeakForm.of(Equation.parse(divergence, fields=tuple("cuw")), tuple("cuw")) is not None


# ---- integrals --------------------


def test_integrals_are_those_of_the_derivative() -> None:
    """∫ φ ∂f = (−1)ⁿ ∫ ∂φ f with f = sin x: its derivatives are known, the sums are spectrally accurate."""
    axes = (GridAxis(41, float(T[1]), False), GridAxis(64, float(X[1]), True))
    values = np.sin(X) * np.exp(-T)[:, None]
    for block in bump_blocks(axes, (16.0, 16.0), 1, 100):
        for orders, derivative in (((0, 1), np.cos(X) * np.exp(-T)[:, None]), ((1, 2), values)):
            left, right = block.integrals(values, orders), block.integrals(derivative, (0, 0))
            np.testing.assert_allclose(left, right, atol=2e-6 * np.max(np.abs(right)))


def test_powers_of_noisy_values_are_hermite_polynomials() -> None:
    y = sympy.Symbol("y")
    at = np.linspace(-2.0, 2.0, 7)
    for power in range(7):
        ours = sympy.lambdify(y, unbiased(y**power, {y: 0.09}))(at)
        np.testing.assert_allclose(
            ours * np.ones(7), 0.3**power * hermeval(at / 0.3, np.eye(7)[power]), atol=1e-12
        )


def test_the_covariance_of_integrals_is_what_draws_of_noise_show() -> None:
    form = WeakForm.of(Equation.parse("u_t + a*u*u_x - b*u_xx = 0"), ("u",))
    assert form is not None
    axes = (GridAxis(41, float(T[1]), False), GridAxis(64, float(X[1]), True))
    clean = on_grid(advection)["u"]
    random = np.random.default_rng(0)

    def drawn() -> NoisyRecording:
        values = {"u": clean + 0.8 * random.standard_normal(clean.shape)}
        return NoisyRecording.of(form, ("x",), axes, (T, X), values, {"u": 0.8})

    first = drawn().blocks((12.0, 12.0))[0]
    draws = np.stack([drawn().blocks((12.0, 12.0))[0].values for _ in range(300)])
    truth = (
        NoisyRecording.of(form, ("x",), axes, (T, X), {"u": clean}, {"u": 1e-9})
        .blocks((12.0, 12.0))[0]
        .values
    )
    spread = np.std(draws, axis=0)
    stated = np.sqrt(np.einsum("qqkk->qk", first.covariance))
    np.testing.assert_allclose(stated.mean(axis=1), spread.mean(axis=1), rtol=0.08)
    bias = (draws.mean(axis=0) - truth) / (spread / np.sqrt(300))
    assert np.sqrt(np.mean(bias**2)) < 1.3


def test_noise_is_told_from_the_field() -> None:
    clean = on_grid(advection)["u"]
    assert white_noise(clean) < 1e-6
    for size in (0.01, 1.0):
        seen = white_noise(clean + size * np.random.default_rng(0).standard_normal(clean.shape))
        np.testing.assert_allclose(seen, size, rtol=0.05)


# ---- parameters --------------------


@pytest.mark.parametrize("around", [True, False])
@pytest.mark.parametrize(
    ("text", "solution", "truth"),
    [
        ("u_t - b*u_xx = 0", heat, {"b": 1.0}),
        ("u_t - b^2*u_xx = 0; b > 0", heat, {"b": 1.0}),
        ("u_t + a*u_x - b*u_xx = 0", advection, {"a": 0.7, "b": 0.0}),
        ("u_tt - k*u_xx = 0", advection, {"k": 0.49}),
    ],
)
def test_clean_values_give_the_parameters(
    text: str, solution: Callable[..., np.ndarray], truth: Mapping[str, float], around: bool
) -> None:
    found = guessed(text, on_grid(solution), around=around)
    np.testing.assert_allclose([found.guess.estimate[p] for p in truth], list(truth.values()), atol=2e-5)
    assert np.all(np.abs(deviations(found, truth)) < 10.0)


def test_errors_of_the_sums_fall_with_the_grid() -> None:
    errors = []
    for count in (41, 81):
        t = np.linspace(0.0, 1.0, count)
        found = guessed("u_tt - k*u_xx = 0", on_grid(advection, t), t)
        errors.append(abs(found.guess.estimate["k"] - 0.49))
    assert errors[0] > 10 * errors[1]


def test_errors_fall_with_the_noise() -> None:
    errors = [
        abs(guessed("u_t - b*u_xx = 0", noisy(on_grid(heat), level, 1)).guess.estimate["b"] - 1.0)
        for level in (0.5, 0.05, 0.005, 0.0005)
    ]
    ratios = np.divide(errors[:-1], errors[1:])
    np.testing.assert_allclose(ratios, 10.0, rtol=0.5)


def test_stated_deviations_are_those_of_the_errors() -> None:
    """Forty draws, noise as large as the field; the mean square of errors in deviations is 1 ± 0.22."""
    truth = {"a": 0.7, "b": 0.0}
    drawn = [
        deviations(guessed("u_t + a*u_x - b*u_xx = 0", noisy(on_grid(advection), 1.0, seed)), truth)
        for seed in range(40)
    ]
    assert np.max(np.abs(drawn)) < 4.0
    root = np.sqrt(np.mean(np.square(drawn), axis=0))
    assert np.all((root > 0.6) & (root < 1.6))


def test_noise_in_the_columns_does_not_draw_towards_zero() -> None:
    """The soliton of Korteweg and de Vries in noise of its own size: the mean of draws is the truth."""
    t, x = np.linspace(0.0, 4.0, 81), np.linspace(-10.0, 20.0, 200)
    clean = on_grid(lambda time, place: exact.soliton(time, place, speed=2.0), t, x)
    draws = [
        guessed("u_t + a*u*u_x + b*u_xxx = 0", noisy(clean, 1.0, s), t, x, around=False) for s in range(8)
    ]
    truth = {"a": 6.0, "b": 1.0}
    means = np.mean([[d.guess.estimate[p] for p in truth] for d in draws], axis=0)
    spread = np.mean([np.sqrt(np.diagonal(d.covariance)) for d in draws], axis=0)
    assert np.all(np.abs(means - [6.0, 1.0]) < 3.0 * spread / np.sqrt(8))
    assert np.all(spread < [0.3, 0.15])


def test_a_parameter_that_no_value_tells_has_no_small_deviation() -> None:
    silent = guessed("u_t + a*u_x = 0", {"u": np.zeros((41, 64))})
    assert silent.covariance[0, 0] > 1e6


def test_in_the_plane() -> None:
    """u_t + a u_x + c u_y = b Δu: two travelling waves that decay."""
    x = 2 * np.pi * np.arange(32) / 32
    t, p, q = np.meshgrid(T, x, x, indexing="ij")
    clean = {"u": np.exp(-0.2 * t) * np.sin(p - t) + np.exp(-0.4 * t) * np.cos(p + q - 1.5 * t)}
    equation, truth = Equation.parse("u_t + a*u_x + c*u_y = b*lap(u)"), {"a": 1.0, "c": 0.5, "b": 0.2}
    for around in ((True, True), (False, True)):
        exactly = weak_guess(equation, T, [x, x], clean, periodic=around)
        roughly = weak_guess(equation, T, [x, x], noisy(clean, 1.0, 0), periodic=around)
        assert exactly is not None
        assert roughly is not None
        np.testing.assert_allclose(
            [exactly.guess.estimate[n] for n in truth], list(truth.values()), atol=1e-5
        )
        assert np.all(np.abs(deviations(roughly, truth)) < 3.0)
        assert np.all(np.sqrt(np.diagonal(roughly.covariance)) < 0.1)


def test_the_scale_is_the_change_that_matters() -> None:
    one, thousand = (guessed(f"u_t - {n}*b*u_xx = 0", on_grid(heat)).guess for n in (1, 1000))
    np.testing.assert_allclose(thousand.scale["b"], one.scale["b"] / 1000, rtol=1e-6)
    np.testing.assert_allclose(one.scale["b"], 1.0, rtol=1e-3)  # the whole change comes from this one term


def test_grids_that_are_uneven_or_too_small_are_left_to_others() -> None:
    equation, values = Equation.parse("u_t - b*u_xx = 0"), on_grid(heat)["u"]
    assert weak_guess(equation, T**2, [X], {"u": values}, periodic=(True,)) is None
    assert weak_guess(equation, T[:12], [X], {"u": values[:12]}, periodic=(True,)) is None
    assert weak_guess(equation, T[:13], [X], {"u": values[:13]}, periodic=(True,)) is not None
    high = Equation.parse("u_t - b*d(u, x, 7) = 0")
    assert weak_guess(high, T, [X], {"u": values}, periodic=(True,)) is None


# ---- the recordings that others learn from --------------------

RECORDINGS = {
    "burgers": ("u_t + a*u*u_x - b*u_xx = 0", {"a": 1.0, "b": 0.1}, (0.05, 0.15)),
    "kdv": ("u_t + a*u*u_x + b*u_xxx = 0", {"a": 6.0, "b": 1.0}, (0.03, 0.08)),
    "kuramoto_sivishinky": (
        "u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0",
        {"a": 1.0, "b": 1.0, "c": 1.0},
        (0.03, 0.04, 0.04),
    ),
    "nls": ("i*h_t + a*h_xx + b*abs(h)^2*h = 0", {"a": 0.5, "b": 1.0}, (0.025, 0.015)),
}


@pytest.mark.parametrize("name", RECORDINGS)
@pytest.mark.parametrize("window", [False, True])
def test_recordings_in_noise_of_their_own_size(
    name: str, window: bool, shared: Callable[[str], Path]
) -> None:
    """Bounds are three deviations, as measured over a dozen draws; twice that in a window of 0.4 of the box."""
    text, truth, bounds = RECORDINGS[name]
    content = scipy.io.loadmat(shared(f"data/{name}.mat"))
    t, x = (content[next(k for k in keys if k in content)].ravel() for keys in (("t", "tt"), ("x",)))
    u = content["uu"] if "uu" in content else content["usol"]
    u = u if u.shape[0] == t.size else u.T
    seen = slice(int(0.3 * x.size), int(0.7 * x.size)) if window else slice(None)
    fields = {"h_re": u.real, "h_im": u.imag} if name == "nls" else {"u": u.real}
    values = {field: each[:, seen] for field, each in noisy(fields, 1.0, 0).items()}
    found = guessed(text, values, t, x[seen], around=not window)
    errors = np.abs([found.guess.estimate[p] / value - 1.0 for p, value in truth.items()])
    assert np.all(errors < np.multiply(bounds, 2.5 if window else 1.0))
    assert np.all(np.abs(deviations(found, truth)) < 3.5)
