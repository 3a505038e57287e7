"""Fractional operators: what they stand for, how they print, what they leave alone."""

from __future__ import annotations

import copy
import math
import pickle
import time

import numpy as np
import pytest
import sympy

from hiddenphysics.equation import Equation, FractionalDerivative, FractionalLaplacian, evaluate
from hiddenphysics.errors import EquationError

LEVY = "u_t + c*frac_lap(u, alpha) = 0"


def test_laplacian():
    equation = Equation.parse(LEVY)
    u, c, alpha = equation.field("u"), equation.parameter("c"), equation.parameter("alpha")
    assert equation.evolution == {"u": c * FractionalLaplacian(u, alpha)}
    assert (equation.fields, equation.parameters, equation.coordinates) == (("u",), ("c", "alpha"), ("x",))
    assert equation.linear
    assert equation.order == 0
    assert equation.fractional == ("frac_lap(u, alpha)",)


def test_derivative():
    equation = Equation.parse("u_t + D(u, y, alpha) + b*u_xx = 0")
    u, y, alpha = equation.field("u"), equation.coordinate("y"), equation.parameter("alpha")
    assert FractionalDerivative(u, y, alpha) in equation.evolution["u"].args
    assert (equation.coordinates, equation.order) == (("x", "y"), 2)


@pytest.mark.parametrize(
    ("fractional", "ordinary"),
    [
        ("D(u, x, 0)", "u"),
        ("D(u, x, 1)", "u_x"),
        ("D(u, x, 3.0)", "u_xxx"),
        ("frac_lap(u, 0)", "u"),
        ("frac_lap(u, 2)", "-lap(u)"),
        ("frac_lap(u, 4)", "lap(lap(u))"),
        ("frac_lap(u, 6)", "-lap(lap(lap(u)))"),
    ],
)
@pytest.mark.parametrize("coordinates", [("x", "y"), ("z", "y", "x")])
def test_whole_orders_are_ordinary_derivatives(fractional, ordinary, coordinates):
    whole, expected = (
        Equation.parse(f"u_t + {text} = 0", coordinates=coordinates) for text in (fractional, ordinary)
    )
    assert whole.evolution == expected.evolution
    assert whole.fractional == ()


@pytest.mark.parametrize("axes", ["x", "xy", "xyz"])
def test_the_highest_order_is_read_in_every_dimension(axes):
    equation = Equation.parse("u_t + frac_lap(u, 12) = 0", coordinates=tuple(axes))
    u, t = equation.field("u"), equation.coordinate("t")
    wave = sympy.cos(sum(k * equation.coordinate(name) for k, name in enumerate(axes, 1)))
    eigenvalue = equation.evolution["u"].subs(u, wave * sympy.exp(t)).doit() / (wave * sympy.exp(t))
    assert equation.order == 12
    assert sympy.simplify(eigenvalue) == sum(k**2 for k in range(1, len(axes) + 1)) ** 6


def test_an_odd_order_of_the_laplacian_stays_fractional():
    assert Equation.parse("u_t + frac_lap(u, 1) = 0").fractional == ("frac_lap(u, 1)",)


def test_the_order_may_be_a_constant_or_an_expression():
    given = Equation.parse(LEVY, constants={"alpha": 1.5})
    typed = Equation.parse("u_t + c*frac_lap(u, 3/2) = 0")
    assert given.evolution == typed.evolution
    assert given.parameters == ("c",)
    assert Equation.parse(LEVY, constants={"alpha": 2}).fractional == ()
    assert Equation.parse("u_t + frac_lap(u, 2*s) = 0").parameters == ("s",)
    with pytest.raises(EquationError, match="lies between 0 and 12"):
        Equation.parse(LEVY, constants={"alpha": -0.5})


def test_root_two_is_a_number():
    (atom,) = Equation.parse("u_t + frac_lap(u, sqrt(2)) = 0").evolution["u"].atoms(FractionalLaplacian)
    assert float(atom.order) == math.sqrt(2)


def test_fields_only_inside_are_fields():
    equation = Equation.parse("u_t + frac_lap(v, a) + D(w, x, b) = 0")
    assert equation.fields == ("u", "v", "w")
    assert equation.parameters == ("a", "b")


def test_the_names_may_still_be_parameters():
    equation = Equation.parse("u_t - D*u_xx + frac_lap*u + D*(u + u_x) = 0")
    assert equation.parameters == ("D", "frac_lap")
    assert Equation.parse("u_t + D*D(u, x, D) = 0").parameters == ("D",)


def test_linear_in_the_field():
    assert Equation.parse("u_t + x*frac_lap(u, a) + sin(x) = 0").linear
    assert not Equation.parse("u_t + u*frac_lap(u, a) = 0").linear
    assert not Equation.parse("u_t + sin(D(u, x, a)) = 0").linear


def test_definition():
    equation = Equation.parse("u_t = u_x; u = 2*frac_lap(psi, 1.5)")
    psi = equation.field("psi")
    assert equation.definitions == {"u": 2 * FractionalLaplacian(psi, sympy.Rational(3, 2))}


def test_complex_fields_are_taken_apart():
    equation = Equation.parse("i*h_t = a*frac_lap(h, s) + D(h, x, 1.5)")
    re, im = equation.field("h_re"), equation.field("h_im")
    a, s, x = equation.parameter("a"), equation.parameter("s"), equation.coordinate("x")
    half = sympy.Rational(3, 2)
    assert equation.evolution == {
        "h_re": -a * FractionalLaplacian(im, s) - FractionalDerivative(im, x, half),
        "h_im": a * FractionalLaplacian(re, s) + FractionalDerivative(re, x, half),
    }


def test_inert_and_real():
    equation = Equation.parse(LEVY)
    u, x, alpha = equation.field("u"), equation.coordinate("x"), equation.parameter("alpha")
    node = FractionalLaplacian(u, alpha)
    assert node.is_real
    assert node.diff(x) == sympy.Derivative(node, x)  # no chain rule through the field
    assert node.diff(equation.parameter("c")) == 0
    assert FractionalLaplacian(u, sympy.Integer(2)).func is FractionalLaplacian


def test_values_are_looked_up():
    equation = Equation.parse("u_t + a*u*frac_lap(u, alpha) = 0")
    expr, u, a = equation.evolution["u"], equation.field("u"), equation.parameter("a")
    node = FractionalLaplacian(u, equation.parameter("alpha"))
    assert evaluate(expr, {u: 2.0, a: 3.0, node: 5.0}, np) == 30.0
    with pytest.raises(KeyError, match=r"no value for FractionalLaplacian\(u\(t, x\), alpha\)"):
        evaluate(expr, {u: 2.0, a: 3.0}, np)


# ---- printing --------------------


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("u_t + frac_lap(u, alpha)", {"alpha": (1.413, 0.012)}, "u_t + frac_lap(u, 1.413(12)) = 0"),
        ("u_t + frac_lap(u, alpha)", {}, "u_t + frac_lap(u, alpha) = 0"),
        (
            "u_t = a*u*D(u, x, b)",
            {"a": (-2.0, None), "b": (0.5, 0.01)},
            "u_t = -2 u D(u, x, 0.500(10))",
        ),
    ],
)
def test_render(text, values, expected):
    assert Equation.parse(text).render(values) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LEVY, r"u_{t} + c (-\Delta)^{\alpha/2} u = 0"),
        ("u_t + frac_lap(u, 1.5)", r"u_{t} + (-\Delta)^{1.5/2} u = 0"),
        ("u_t + frac_lap(u, a + 1)", r"u_{t} + (-\Delta)^{\left(a + 1\right)/2} u = 0"),
        ("u_t + D(u, x, alpha)", r"u_{t} + D_x^{\alpha} u = 0"),
        ("u_t + D(u, x, a)*u_x", r"u_{t} + \left(D_x^{a} u\right) u_{x} = 0"),
        ("u_t + frac_lap(u, a)^2", r"u_{t} + \left((-\Delta)^{a/2} u\right)^{2} = 0"),
        ("u_t + D_1^2*u_x", r"u_{t} + D_{1}^{2} u_{x} = 0"),
    ],
)
def test_latex(text, expected):
    assert Equation.parse(text).latex() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LEVY, LEVY),
        ("u_t = D(u, x, 1.7)", "u_t - D(u, x, 1.7) = 0"),
        ("u_t + u*frac_lap(u, 2*s + 1/3)^2", "u_t + u*frac_lap(u, 2*s + 1/3)^2 = 0"),
        ("u_t + frac_lap(u, pi/2)", "u_t + frac_lap(u, 0.5*pi) = 0"),
        ("u_t + a/D(u, x, b*(a + 1))", "u_t + a/D(u, x, a*b + b) = 0"),
    ],
)
def test_canonical_text(text, expected):
    equation = Equation.parse(text)
    assert "\n".join(equation.statements()) == expected
    assert Equation.parse(str(equation)).evolution == equation.evolution
    assert Equation.parse(str(equation)).bounds == equation.bounds


# ---- where an unknown order may lie --------------------


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("u_t + frac_lap(u, alpha) = 0", {"alpha": (0, 4)}),
        ("u_t + D(u, x, alpha) = 0; alpha > 1", {"alpha": (1, 4)}),
        ("u_t + D(u, x, alpha) = 0; 1 < alpha < 2", {"alpha": (1, 2)}),
        ("u_t + frac_lap(u, 2*s) = 0", {"s": (0, 2)}),
        ("u_t + c*D(u, x, 3 - s) = 0", {"c": (-math.inf, math.inf), "s": (-1, 3)}),
        ("u_t + frac_lap(u, a) + D(u, x, a + 1) = 0", {"a": (0, 3)}),
        ("u_t + frac_lap(u, a*b) = 0", {"a": (-math.inf, math.inf), "b": (-math.inf, math.inf)}),
        ("u_t + a*u_x = 0; u = frac_lap(psi, s)", {"a": (-math.inf, math.inf), "s": (0, 4)}),
    ],
)
def test_an_unknown_order_has_bounds(text, bounds):
    assert dict(Equation.parse(text).bounds) == bounds


def test_keyword_bounds_of_an_order():
    assert dict(Equation.parse(LEVY, bounds={"alpha": (None, 2)}).bounds)["alpha"] == (0, 2)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "u_t + frac_lap(u, alpha) = 0; alpha > -1",
            r"-1 to inf of alpha leave 0 to 4: .* Type 0 < alpha < 4",
        ),
        ("u_t + D(u, x, alpha) = 0; 1 < alpha < 6", r"1 to 6 of alpha leave 0 to 4: .* Type 1 < alpha < 4"),
        ("u_t + frac_lap(u, 2*s) = 0; s < 3", r"of s leave 0 to 2: the order of a fractional operator lies"),
        ("u_t + frac_lap(u, s) + D(u, x, s - 5) = 0", "no value of s lies between 5 and 4"),
        ("u_t + frac_lap(u, -0.5) = 0", "the order of frac_lap lies between 0 and 12"),
        ("u_t + D(u, x, 12.5) = 0", "the order of D lies between 0 and 12"),
    ],
)
def test_orders_and_bounds_without_sense_are_refused(text, sentence):
    with pytest.raises(EquationError, match=sentence):
        Equation.parse(text)


def test_explain():
    words = Equation.parse("u_t + frac_lap(u, alpha) + u_x = 0; alpha > 0").explain()
    assert (
        "Order 1 in space beside the non-local operators, 1 in time\nNon-local: frac_lap(u, alpha)" in words
    )
    assert "Linear in the fields" in words
    assert "local" not in Equation.parse("u_t + frac_lap(u, 2) = 0").explain()


def test_pickle_and_copy():
    equation = Equation.parse("i*h_t = a*frac_lap(h, s) + D(h, x, 1.5); s > 0")
    assert pickle.loads(pickle.dumps(equation)) == equation  # noqa: S301  our own bytes
    assert copy.deepcopy(equation) == equation


# ---- hostile --------------------


@pytest.mark.parametrize(
    "text",
    [
        "u_t = " + " + ".join(f"frac_lap(u, 12)*frac_lap(v, 12)*{k}" for k in range(1, 150)),
        "u_t = " + "*".join(["frac_lap(u, 12)"] * 60),
        "u_t = " + "+".join(f"frac_lap(u{k}, 12)" for k in range(500)),
        "u_t = frac_lap(u, " + "*".join(f"(a{k} + 1)" for k in range(40)) + ")",
        "u_t = " + "frac_lap(u, " * 200 + "a" + ")" * 200,
        "u_t = " + "*".join(["D(u, x, a)^20"] * 400),
        "u_t = frac_lap(u, 1e99999)",
        "u_t = frac_lap(u, exp(exp(exp(9))))",
    ],
)
def test_large_text_is_refused_at_once(text):
    start = time.process_time()
    with pytest.raises(EquationError):
        Equation.parse(text, coordinates=("x", "y", "z"))
    assert time.process_time() - start < 2
