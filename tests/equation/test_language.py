"""What the language means: each construct against the SymPy expression it stands for."""

from __future__ import annotations

import math

import pytest
import sympy

from hiddenphysics.equation import Equation


def evolution(text, field="u", **options):
    """N of `field`, and a dictionary of SymPy objects to write the expectation with."""
    equation = Equation.parse(text, **options)
    objects = {name: equation.field(name) for name in equation.fields}
    objects |= {name: equation.parameter(name) for name in equation.parameters}
    objects |= {name: equation.coordinate(name) for name in ("t", *equation.coordinates)}
    return equation.evolution[field], objects


def test_burgers():
    equation = Equation.parse("u_t + a*u*u_x - b*u_xx = 0")
    u, x = equation.field("u"), equation.coordinate("x")
    a, b = equation.parameter("a"), equation.parameter("b")
    assert equation.evolution["u"] == a * u * u.diff(x) - b * u.diff(x, 2)
    assert equation.fields == ("u",)
    assert equation.parameters == ("a", "b")
    assert equation.coordinates == ("x",)
    assert equation.order == 2
    assert not equation.linear
    assert equation.time_orders == {"u": 1}
    assert equation.bounds == {"a": (-math.inf, math.inf), "b": (-math.inf, math.inf)}
    assert u == sympy.Function("u", real=True)(sympy.Symbol("t", real=True), x)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u_t + u_xxxx", lambda u, x, **_: u.diff(x, 4)),
        ("u_t + d(u, x)", lambda u, x, **_: u.diff(x)),
        ("u_t + d(u, x, 3)", lambda u, x, **_: u.diff(x, 3)),
        ("u_t + d(u*u, x)", lambda u, x, **_: 2 * u * u.diff(x)),
        ("u_t + d(u^2/2, x)", lambda u, x, **_: u * u.diff(x)),
        ("u_t + d(u_x, x)", lambda u, x, **_: u.diff(x, 2)),
        ("u_t + u_x_x", lambda u, x, **_: u.diff(x, 2)),
        ("u_t + lap(u)", lambda u, x, **_: u.diff(x, 2)),
        ("d(u, t) + u", lambda u, **_: u),
        ("u_t = u_xx", lambda u, x, **_: -u.diff(x, 2)),
        ("2*u_t + u = u_x", lambda u, x, **_: (u - u.diff(x)) / 2),
        ("a*u_t + u_x", lambda u, x, a, **_: u.diff(x) / a),
        ("u_t + sin(x)*u_x = t", lambda u, x, t, **_: sympy.sin(x) * u.diff(x) - t),
        ("u_t + sin(a*u)", lambda u, a, **_: sympy.sin(a * u)),
        ("u_t + u^n*u_x", lambda u, x, n, **_: u**n * u.diff(x)),
        ("u_t + u**2", lambda u, **_: u**2),
        ("u_t + -u^2", lambda u, **_: -(u**2)),
        ("u_t + 2^-1*u", lambda u, **_: u / 2),
        ("u_t + 2^3^2*u", lambda u, **_: 512 * u),
        ("u_t + .5*u + 1e-3 + 2.*u", lambda u, **_: u * sympy.Rational(5, 2) + sympy.Rational(1, 1000)),
        ("u_t + 0.1*u + 0.2*u - 0.3*u", lambda **_: 0),
        ("u_t + pi*u", lambda u, **_: sympy.pi * u),
        ("u_t + e*u", lambda u, e, **_: e * u),
        ("u_t + exp(u) + log(u)", lambda u, **_: sympy.exp(u) + sympy.log(u)),
        ("u_t + tanh(u) + cos(u)", lambda u, **_: sympy.tanh(u) + sympy.cos(u)),
        ("u_t + sqrt(u) + abs(u)*sign(u_x)", lambda u, x, **_: sympy.sqrt(u) + abs(u) * sympy.sign(u.diff(x))),
        ("u_t + d(abs(u), x)", lambda u, x, **_: sympy.sign(u) * u.diff(x)),
        ("u_t − 2·u×u", lambda u, **_: -2 * u**2),
        ("u_t - d*u_xx", lambda u, x, d, **_: -d * u.diff(x, 2)),
        ("u_t + sin(pi/2)*u + cos(pi)", lambda u, **_: u - 1),
        ("u_t + (a + u)*(a - u)", lambda u, a, **_: a**2 - u**2),
        ("u_t + N*u + S*u_x", lambda u, x, N, S, **_: N * u + S * u.diff(x)),
    ],
)  # fmt: skip
def test_expression(text, expected):
    expr, objects = evolution(text)
    assert sympy.expand(expr - expected(**objects)) == 0


def test_numbers_that_functions_make_are_floats():
    expr, objects = evolution("u_t + sqrt(2)*u + 2^0.5 + exp(1)")
    assert float(expr.subs(objects["u"], 1)) == pytest.approx(2 * math.sqrt(2) + math.e, abs=1e-14)


def test_two_dimensions():
    expr, o = evolution("u_t + u_xy - lap(u)")
    u, x, y = o["u"], o["x"], o["y"]
    assert expr == u.diff(x, y) - u.diff(x, 2) - u.diff(y, 2)


def test_laplacian_follows_the_coordinates_of_the_data():
    expr, o = evolution("u_t - lap(u)", coordinates=("x", "y", "z"))
    assert expr == -sum(o["u"].diff(c, 2) for c in (o["x"], o["y"], o["z"]))


def test_names_with_subscripts_that_are_no_derivatives():
    equation = Equation.parse("u_1_t + lambda_1*u_1_x + nu_ref*h_re_xx; h_re_t = 0")
    assert equation.fields == ("u_1", "h_re")
    assert equation.parameters == ("lambda_1", "nu_ref")


def test_python_keywords_are_names():
    assert Equation.parse("u_t + lambda*u + class*u_x + None").parameters == ("lambda", "class", "None")


def test_statements_comments_and_order():
    equation = Equation.parse(
        "# reaction; diffusion\nv_t = k*u_xx # first\n\n;;u_t = c*v ; c > 0\r\n0 < k <= 1"
    )
    assert equation.fields == ("v", "u")
    assert equation.parameters == ("k", "c")
    assert equation.bounds == {"k": (0, 1), "c": (0, math.inf)}


def test_a_bounded_name_is_never_a_derivative():
    equation = Equation.parse("u_t + c_x*u_x", bounds={"c_x": (0, None)})
    assert equation.parameters == ("c_x",)
    assert Equation.parse("u_t + c_x*u_x; c_x < 2*pi").bounds["c_x"] == (-math.inf, 2 * math.pi)
    assert Equation.parse("u_t + c_x*u_x", constants={"c_x": 2}).evolution["u"].free_symbols <= {
        equation.coordinate("x"),
        equation.coordinate("t"),
    }


def test_bounds_in_text_and_keywords_intersect():
    equation = Equation.parse("u_t + b*u; b >= 0; -1 < b", bounds={"b": (None, 5)})
    assert equation.bounds["b"] == (0, 5)


def test_constants():
    expr, o = evolution("u_t - c^2*u_xx + k*u", constants={"c": 3, "k": 0.1})
    assert expr == -9 * o["u"].diff(o["x"], 2) + o["u"] / 10
    assert Equation.parse("u_t + c*u; c > 0", constants={"c": 3}).parameters == ()


def test_fields_with_data_are_fields_anywhere():
    equation = Equation.parse("u_t + k*u_xx", fields=["u", "k"])
    assert equation.fields == ("u", "k")
    assert equation.parameters == ()
    assert set(equation.evolution) == {"u"}


def test_one_field_may_be_named_alone():
    assert Equation.parse("temp_t + k*temp_xx", fields="temp").given == ("temp",)


def test_no_space_at_all():
    equation = Equation.parse("u_t = k*u", coordinates=())
    assert equation.field("u").args == (equation.coordinate("t"),)


def test_second_order_in_time():
    expr, o = evolution("u_tt + g*u_t - c*u_xx = 0")
    assert expr == o["g"] * o["u"].diff(o["t"]) - o["c"] * o["u"].diff(o["x"], 2)
    mixed = Equation.parse("u_tt = v; v_t = u_t")
    assert mixed.time_orders == {"u": 2, "v": 1}
    assert mixed.evolution["v"] == -mixed.field("u").diff(mixed.coordinate("t"))


def test_coupled_time_derivatives_are_disentangled():
    equation = Equation.parse("u_t + m*v_t = u; u_t - m*v_t = v_x")
    u, v, m, x = equation.field("u"), equation.field("v"), equation.parameter("m"), equation.coordinate("x")
    assert sympy.simplify(equation.evolution["u"] + (u + v.diff(x)) / 2) == 0
    assert sympy.simplify(equation.evolution["v"] + (u - v.diff(x)) / (2 * m)) == 0


NAVIER_STOKES = """
u_t + l1*(u*u_x + v*u_y) + p_x - l2*lap(u) = 0
v_t + l1*(u*v_x + v*v_y) + p_y - l2*lap(v) = 0
u = psi_y
v = -psi_x
"""


def test_definitions_by_a_potential():
    equation = Equation.parse(NAVIER_STOKES, fields=["u", "v"])
    psi, x, y = equation.field("psi"), equation.coordinate("x"), equation.coordinate("y")
    assert equation.definitions == {"u": psi.diff(y), "v": -psi.diff(x)}
    assert set(equation.evolution) == {"u", "v"}
    assert equation.fields == ("u", "v", "p", "psi")
    assert equation.parameters == ("l1", "l2")


def test_definition_with_a_parameter_and_without_another_use():
    equation = Equation.parse("psi_t = psi_xx; u = k*psi_x")
    assert equation.definitions["u"] == equation.parameter("k") * equation.field("psi").diff(
        equation.coordinate("x")
    )


@pytest.mark.parametrize(
    ("text", "linear", "order"),
    [
        ("u_t + a*u_xx + sin(x)", True, 2),
        ("u_t + u^2", False, 0),
        ("u_t + u*u_xxx", False, 3),
        ("u_t", True, 0),
    ],
)
def test_linear_and_order(text, linear, order):
    equation = Equation.parse(text)
    assert (equation.linear, equation.order) == (linear, order)
