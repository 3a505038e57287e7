"""Covariances of fractional derivatives against brute-force spectral integrals and ordinary derivatives."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

from hiddenphysics.errors import ModelError
from hiddenphysics.gaussian import Observed, covariance, joint_covariance, variance
from hiddenphysics.operators import Factor, Operator, Order, Symbol
from hiddenphysics.priors import Process, SquaredExponential

from .spectral_integrals import line, plane

LIMIT = 4.0


def prior(*lengths: float, gamma: float = 1.0) -> dict[str, Process]:
    shapes = tuple({"length": jnp.asarray(length)} for length in lengths)
    return {"u": Process(SquaredExponential(), jnp.asarray(gamma), shapes)}


def riesz(order: float, dimensions: int = 1, whole: tuple[int, ...] | None = None) -> Symbol:
    factor = Factor(Order("alpha", jnp.asarray(order), LIMIT), tuple(range(dimensions)), False)
    return Symbol(whole or (0,) * dimensions, (factor,))


def weyl(order: float, along: int = 0, dimensions: int = 1, name: str = "beta") -> Symbol:
    return Symbol((0,) * dimensions, (Factor(Order(name, jnp.asarray(order), LIMIT), (along,), True),))


def see(symbol: Symbol, points: np.ndarray) -> Observed:
    return Observed(Operator.of("u", symbol, 1.0), jnp.asarray(points))


def between(symbol: Symbol, other: Symbol, x: np.ndarray, priors: dict[str, Process]) -> np.ndarray:
    """cov((T z)(x_i), (T' z)(0)) for points x (N, D)."""
    origin = np.zeros((1, x.shape[1]))
    return np.asarray(covariance(see(symbol, x), see(other, origin), priors))[:, 0]


# ---- one dimension --------------------


@dataclass(frozen=True)
class Case:
    """Two symbols on the line, and the power and phase that their product has."""

    name: str
    left: Symbol
    right: Symbol
    power: float
    phase: float


IDENTITY = Symbol((0,))
CASES = (
    Case("Riesz against value", riesz(1.41), IDENTITY, 1.41, 0.0),
    Case("Riesz against itself", riesz(0.7), riesz(0.7), 1.4, 0.0),
    Case("Riesz against slope", riesz(1.3), Symbol((1,)), 2.3, -1.0),
    Case("Weyl against value", weyl(1.7), IDENTITY, 1.7, 1.7),
    Case("value against Weyl", IDENTITY, weyl(1.7), 1.7, -1.7),
    Case("Weyl against itself", weyl(1.7), weyl(1.7), 3.4, 0.0),
    Case("Weyl against curvature", weyl(0.4), Symbol((2,)), 2.4, -1.6),
    Case("Weyl against another", weyl(0.4), weyl(1.1, name="gamma"), 1.5, -0.7),
    Case("Weyl after slope against Riesz", weyl(0.6) @ Symbol((1,)), riesz(0.9), 2.5, 1.6),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_on_the_line(case: Case) -> None:
    length = 0.8
    r = np.array([0.0, 1e-9, 0.3, -0.9, 2.2, -7.7, 13.0])
    found = between(case.left, case.right, r[:, None], prior(length))
    scale = line(case.power, 0.0, np.zeros(1), length)[0]
    np.testing.assert_allclose(found, line(case.power, case.phase, r, length), rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("order", [0.0, 1.0, 2.0, 3.0, 4.0])
def test_whole_orders_are_ordinary_derivatives(order: float) -> None:
    m, priors = int(order), prior(0.7, gamma=1.3)
    x = np.linspace(-3.0, 9.0, 13)[:, None]
    for other in (IDENTITY, Symbol((1,)), Symbol((2,))):
        expected = between(Symbol((m,)), other, x, priors)
        size = float(variance(see(Symbol((m + other.highest,)), x[:1]), priors)[0]) ** 0.5 * 3.0
        np.testing.assert_allclose(between(weyl(order), other, x, priors), expected, atol=1e-12 * size)
        if m % 2 == 0:
            sign = (-1.0) ** (m // 2)
            np.testing.assert_allclose(
                sign * between(riesz(order), other, x, priors), expected, atol=1e-12 * size
            )


def test_sides_exchanged_transpose_and_the_whole_is_positive() -> None:
    x = np.random.default_rng(3).uniform(-2, 2, (9, 1))
    one = Observed(
        Operator.collect([
            ("u", IDENTITY, jnp.ones(9)),
            ("u", weyl(1.6), jnp.asarray(np.cos(x[:, 0]))),
            ("u", riesz(0.8), 0.3),
            ("u", Symbol((1,)), -0.5),
        ]),
        jnp.asarray(x),
    )  # fmt: skip
    other = see(weyl(0.6, name="gamma"), x + 0.2)
    priors = prior(0.6, gamma=1.7)
    np.testing.assert_allclose(
        covariance(one, other, priors), covariance(other, one, priors).T, rtol=1e-12, atol=1e-12
    )
    joint = np.asarray(joint_covariance([one, other], priors))
    assert np.linalg.eigvalsh(joint)[0] > -1e-10 * np.linalg.eigvalsh(joint)[-1]
    np.testing.assert_allclose(variance(one, priors), np.diagonal(joint)[:9], rtol=1e-12)


def test_an_order_outside_its_range_is_not_a_number() -> None:
    for order in (-0.1, LIMIT + 0.1):
        assert np.all(np.isnan(between(riesz(order), IDENTITY, np.zeros((2, 1)), prior(1.0))))


def test_an_order_without_a_number_is_refused() -> None:
    order = Order("alpha", sympy.Symbol("alpha"), LIMIT)
    symbol = Symbol((0,), (Factor(order, (0,), False),))
    with pytest.raises(ModelError, match=r"unknown order alpha .* model='paper', .* or give the order"):
        between(symbol, IDENTITY, np.zeros((2, 1)), prior(1.0))


# ---- several dimensions --------------------

LENGTHS = (0.6, 1.1)
PLACES = np.array([[0.0, 0.0], [0.5, -0.4], [-1.9, 0.3], [1.0, 4.0], [-5.0, -6.0]])


def test_laplacian_in_the_plane_against_quadrature() -> None:
    """|ω|^α against 1, ∂_x and itself, at random orders."""
    for order in np.random.default_rng(5).uniform(0.2, 1.9, 3):
        for other, tau, power in (
            (Symbol((0, 0)), lambda x, y: 1.0 + 0.0 * x, order),
            (Symbol((1, 0)), lambda x, y: -1j * x, order),
            (riesz(order, 2), lambda x, y: 1.0 + 0.0 * x, 2 * order),
        ):
            found = between(riesz(order, 2), other, PLACES, prior(*LENGTHS))
            expected = plane(lambda x, y, p=power, t=tau: np.hypot(x, y) ** p * t(x, y), PLACES, LENGTHS)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_slopes_of_the_plane_in_order_and_length() -> None:
    """d/dα brings log |ω|, d/dℓ_x brings 1/ℓ − ℓ ω_x², under the integral."""
    order = 1.37

    def found(alpha: jax.Array, length: jax.Array) -> jax.Array:
        symbol = Symbol((0, 0), (Factor(Order("alpha", alpha, LIMIT), (0, 1), False),))
        shapes = ({"length": length}, {"length": jnp.asarray(LENGTHS[1])})
        priors = {"u": Process(SquaredExponential(), jnp.ones(()), shapes)}
        return covariance(see(symbol, PLACES), see(Symbol((0, 0)), np.zeros((1, 2))), priors)[:, 0]

    by_order, by_length = jax.jit(jax.jacfwd(found, argnums=(0, 1)))(
        jnp.asarray(order), jnp.asarray(LENGTHS[0])
    )
    size = np.abs(by_length).max()
    log = plane(lambda x, y: np.hypot(x, y) ** order * np.log(np.hypot(x, y)), PLACES, LENGTHS)
    np.testing.assert_allclose(by_order, log, rtol=0, atol=1e-10 * size)
    ell = LENGTHS[0]
    bent = plane(lambda x, y: np.hypot(x, y) ** order * (1 / ell - ell * x**2), PLACES, LENGTHS)
    np.testing.assert_allclose(by_length, bent, rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("lengths", [LENGTHS, (0.2, 2.0), (0.7, 1.2, 0.9)])
def test_order_two_is_the_laplacian(lengths: tuple[float, ...]) -> None:
    d = len(lengths)
    x = np.random.default_rng(1).uniform(-2, 2, (6, d))
    x[0] = 0.0
    seconds = [tuple(2 if a == b else 0 for b in range(d)) for a in range(d)]
    laplacian = Operator.collect(("u", Symbol(orders), -1.0) for orders in seconds)
    right = see(Symbol((0,) * d), x)
    expected = np.asarray(covariance(Observed(laplacian, jnp.asarray(x)), right, prior(*lengths)))
    found = covariance(see(riesz(2.0, d), x), right, prior(*lengths))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_one_sided_in_the_plane_is_a_product_of_lines() -> None:
    found = between(weyl(1.4, 1, 2) @ Symbol((1, 0)), Symbol((0, 1)), PLACES, prior(*LENGTHS))
    expected = line(1.0, 1.0, PLACES[:, 0], LENGTHS[0]) * line(2.4, 0.4, PLACES[:, 1], LENGTHS[1])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_both_kinds_meet_in_the_plane() -> None:
    beta = 0.8

    def tau(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        turned = np.abs(x) ** beta * np.exp(-0.5j * np.pi * beta * np.sign(x))
        return np.hypot(x, y) ** 1.2 * turned

    found = between(riesz(1.2, 2), weyl(beta, 0, 2), PLACES[:3], prior(*LENGTHS))
    expected = plane(tau, PLACES[:3], LENGTHS, angles=4000)  # |ω_x|^β has a kink in the angle
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_a_laplacian_over_some_coordinates_is_refused() -> None:
    some = Symbol((0, 0, 0), (Factor(Order.known(1.5), (0, 2), False),))
    with pytest.raises(ModelError, match="it acts along one of them or over all"):
        between(some, Symbol((0, 0, 0)), np.zeros((1, 3)), prior(1.0, 1.0, 1.0))
