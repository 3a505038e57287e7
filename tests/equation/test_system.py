"""The equation as a first-order system: its state, its linear part, and the rest."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

from hiddenphysics.equation import Equation
from hiddenphysics.errors import ModelError
from hiddenphysics.spectral import Motion


def test_constant_coefficients_are_linear_and_the_rest_is_not():
    system = Equation.parse("u_t + a*u*u_x - b*u_xx + (1 + c)*u + x*u_x + t*u + f*sin(x) = 0").system
    (linear,) = system.linear
    coefficients = {symbol.orders: coefficient for _, symbol, coefficient in linear}
    assert str(coefficients.pop((2,))) == "b"
    assert coefficients == {(0,): -1 - sympy.Symbol("c", real=True)}
    assert {str(symbol) for symbol in system.rest[0].free_symbols} == {"a", "f", "t", "x"}
    assert not system.coupled


@pytest.mark.parametrize(
    ("text", "state", "coupled"),
    [
        ("u_t + u_x = 0", ("u",), False),
        ("u_tt - u_xx + b*sin(a*u) = 0", ("u", "u_t"), True),
        ("u_tt + g*u_t - u_xx = 0", ("u", "u_t"), True),
        ("i*h_t + a*h_xx + b*abs(h)^2*h = 0", ("h_re", "h_im"), True),
        ("u_t - u_xx + u*v = 0; v_t - v_xx - u*v = 0", ("u", "v"), False),
    ],
)
def test_the_state_is_of_first_order_in_time(text, state, coupled):
    system = Equation.parse(text).system
    assert (system.state, system.coupled) == (state, coupled)


@pytest.mark.parametrize(
    ("rest", "padding"),
    [
        ("0", Fraction(1)),
        ("sin(x)", Fraction(1)),
        ("u*u_x", Fraction(3, 2)),
        ("u^2*u_x", Fraction(2)),
        ("u^3", Fraction(2)),
        ("u^4", Fraction(5, 2)),
        ("u^9", Fraction(3)),
        ("sin(u)", Fraction(2)),
    ],
)
def test_products_are_padded_by_their_degree(rest, padding):
    assert Equation.parse(f"u_t - u_xx + {rest} = 0").system.padding == padding


@pytest.mark.parametrize(("n", "degree"), [(16, 2), (15, 2), (16, 3), (15, 3)])
def test_products_do_not_alias(n, degree):
    motion = Motion.of(f"u_t + u^{degree} = 0", box=(0, 2 * np.pi), shape=n)
    rng = np.random.default_rng(0)
    modes = motion.grid.to_modes(rng.standard_normal((1, n)))
    fine = Motion.of(f"u_t + u^{degree} = 0", box=(0, 2 * np.pi), shape=8 * n)
    exact = fine.rest(motion.grid.pad(modes, fine.grid), {})
    np.testing.assert_allclose(motion.rest(modes, {}), motion.grid.truncate(exact, fine.grid), atol=1e-14)


def test_fields_without_time_derivative_are_refused():
    with pytest.raises(ModelError, match="no time derivative of p"):
        Motion.of("u_t + u*u_x + p_x = 0", box=(0, 1), shape=8)


def test_a_system_is_built_once():
    equation = Equation.parse("u_tt - u_xx + b*sin(a*u) = 0")
    assert equation.system is equation.system
    assert equation.system.velocities == ("u_t",)
    assert (equation.system.source("u_t"), equation.system.source("u")) == ("u", "u")
    assert str(equation.system.rates["u"]) == "-u_t(t, x)"


def test_potentials_are_operators_on_latents():
    text = "u_t + p_x - b*lap(u) = 0; v_t + p_y - b*lap(v) = 0; u = psi_y; v = -psi_x"
    system = Equation.parse(text, fields=("u", "v")).system
    latents = system.latents(("u", "v"))
    assert system.idle == ("p", "psi")
    assert [(name, symbol.orders, int(c)) for name, symbol, c in latents["v"]] == [("psi", (1, 0), -1)]
    assert latents["p"].latents == ("p",)
