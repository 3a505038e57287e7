"""The equation, taken apart for the spectral method."""

from fractions import Fraction

import numpy as np
import pytest
import sympy

from hiddenphysics.equation import Equation
from hiddenphysics.errors import ModelError
from hiddenphysics.simulate import Flow
from hiddenphysics.simulate.spectral.split import split


def test_constant_coefficients_are_linear_and_the_rest_is_not():
    parts = split(Equation.parse("u_t + a*u*u_x - b*u_xx + (1 + c)*u + x*u_x + t*u + f*sin(x) = 0"))
    found = {str(term.atom): str(term.coefficient) for term in parts.linear if term.atom.is_Derivative}
    assert found == {"Derivative(u(t, x), (x, 2))": "b"}
    assert sum(term.coefficient for term in parts.linear if not term.atom.is_Derivative) == -1 - sympy.Symbol(
        "c", real=True
    )
    assert {str(symbol) for symbol in parts.rest[0].free_symbols} == {"a", "f", "t", "x"}
    assert not parts.coupled


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
    parts = split(Equation.parse(text))
    assert (parts.state, parts.coupled) == (state, coupled)


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
    assert split(Equation.parse(f"u_t - u_xx + {rest} = 0")).padding == padding


@pytest.mark.parametrize(("n", "degree"), [(16, 2), (15, 2), (16, 3), (15, 3)])
def test_products_do_not_alias(n, degree):
    flow = Flow.of(f"u_t + u^{degree} = 0", box=(0, 2 * np.pi), shape=n)
    rng = np.random.default_rng(0)
    modes = flow.grid.to_modes(rng.standard_normal((1, n)))
    fine = Flow.of(f"u_t + u^{degree} = 0", box=(0, 2 * np.pi), shape=8 * n)
    exact = fine.rest(flow.grid.pad(modes, fine.grid), {})
    np.testing.assert_allclose(flow.rest(modes, {}), flow.grid.truncate(exact, fine.grid), atol=1e-14)


def test_fields_without_time_derivative_are_refused():
    with pytest.raises(ModelError, match="no time derivative of p"):
        Flow.of("u_t + u*u_x + p_x = 0", box=(0, 1), shape=8)
