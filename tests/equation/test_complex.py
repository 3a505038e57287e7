"""Equations with `i` split into real ones."""

from __future__ import annotations

import cmath
from contextlib import suppress

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from hiddenphysics.equation import Equation, evaluate
from hiddenphysics.errors import EquationError

NLS = "i*h_t + a*h_xx + b*abs(h)^2*h = 0"


def split_nls(equation):
    re, im, x = equation.field("h_re"), equation.field("h_im"), equation.coordinate("x")
    a, b = equation.parameter("a"), equation.parameter("b")
    square = re**2 + im**2
    return {"h_re": a * im.diff(x, 2) + b * square * im, "h_im": -a * re.diff(x, 2) - b * square * re}


def test_schroedinger():
    equation = Equation.parse(NLS)
    assert equation.fields == ("h_re", "h_im")
    assert equation.complex_fields == {"h": ("h_re", "h_im")}
    assert equation.parameters == ("a", "b")
    assert equation.evolution == {name: sympy.expand(expr) for name, expr in split_nls(equation).items()}


def test_data_by_whole_or_by_parts():
    for fields in (["h"], ["h_re", "h_im"]):
        assert Equation.parse(NLS, fields=fields).fields == ("h_re", "h_im")


def test_parts_given_make_a_field_complex_without_i():
    equation = Equation.parse("h_t = h_xx + h - abs(h)^2*h", fields=["h_re", "h_im"])
    assert set(equation.evolution) == {"h_re", "h_im"}


def test_a_field_given_whole_is_real_beside_one_given_by_parts():
    zakharov = "i*E_t + E_xx = n*E; n_tt - n_xx = d(abs(E)^2, x, 2)"
    equation = Equation.parse(zakharov, fields=["E_re", "E_im", "n"])
    assert equation.fields == ("E_re", "E_im", "n")
    assert equation.time_orders == {"E_re": 1, "E_im": 1, "n": 2}
    assert Equation.parse(zakharov, fields=["E", "n"]).fields == ("E_re", "E_im", "n_re", "n_im")


def test_a_coefficient_that_is_never_differentiated_is_real():
    equation = Equation.parse("i*h_t + h_xx + V*h = 0", fields=["h", "V"])
    assert equation.fields == ("h_re", "h_im", "V")


def test_re_im_conj_and_part_names():
    equation = Equation.parse("h_t = re(h) + 2*i*im(h) + conj(h)")
    assert equation.evolution == {"h_re": -2 * equation.field("h_re"), "h_im": -equation.field("h_im")}
    same = Equation.parse("h_t = h_re + 2*i*h_im + conj(h)")
    assert same.evolution == equation.evolution


def test_arithmetic():
    equation = Equation.parse("h_t + 1/(1 + 2*i)*h + h^2 + exp(i*x) = 0")
    re, im, x = equation.field("h_re"), equation.field("h_im"), equation.coordinate("x")
    assert equation.evolution["h_re"] == sympy.expand((re + 2 * im) / 5 + re**2 - im**2 + sympy.cos(x))
    assert equation.evolution["h_im"] == sympy.expand((im - 2 * re) / 5 + 2 * re * im + sympy.sin(x))


def test_powers_agree_with_repeated_products():
    power = Equation.parse("h_t + i*h^-3 = 0")
    product = Equation.parse("h_t + i/(h*h*h) = 0")
    for name in ("h_re", "h_im"):
        assert sympy.simplify(power.evolution[name] - product.evolution[name]) == 0


def test_complex_factor_before_the_time_derivative():
    equation = Equation.parse("(i - g)*h_t = h_xx")
    re, im = equation.field("h_re"), equation.field("h_im")
    g, x = equation.parameter("g"), equation.coordinate("x")
    expected = (g * re.diff(x, 2) - im.diff(x, 2)) / (g**2 + 1)
    assert sympy.simplify(equation.evolution["h_re"] - expected) == 0


def test_complex_definition():
    equation = Equation.parse("i*q_t + q_xx = 0; h = i*q_x")
    x = equation.coordinate("x")
    assert equation.definitions == {
        "h_re": -equation.field("q_im").diff(x),
        "h_im": equation.field("q_re").diff(x),
    }


def _grow(inner):
    return st.one_of(
        st.builds("({} + {})".format, inner, inner),
        st.builds("({} - {})".format, inner, inner),
        st.builds("({}*{})".format, inner, inner),
        st.builds("({}/{})".format, inner, inner),
        st.builds("{}({})".format, st.sampled_from(["conj", "abs", "re", "im", "exp", "-"]), inner),
        st.builds("({})**{}".format, inner, st.sampled_from(["2", "3", "-1"])),
    )


PYTHON = {
    "conj": lambda z: complex(z).conjugate(),
    "re": lambda z: complex(z).real,
    "im": lambda z: complex(z).imag,
    "exp": cmath.exp,
    "abs": abs,
    "i": 1j,
}
EXPRESSIONS = st.recursive(st.sampled_from(["h", "h_x", "i", "a", "2"]), _grow, max_leaves=6)


@settings(deadline=None, max_examples=150)
@given(EXPRESSIONS)
def test_agrees_with_complex_numbers(text):
    """Python's own complex arithmetic is the referee of the split."""
    names = {"h": 0.7 - 0.4j, "h_x": -0.3 + 0.9j, "a": 1.3}
    try:
        equation = Equation.parse(f"h_t + {text} + a*h + 0*i = 0")
        expected = eval(text, {}, PYTHON | names) + names["a"] * names["h"]  # noqa: S307  our own text
    except (EquationError, ZeroDivisionError, OverflowError):
        return
    re, im, x = equation.field("h_re"), equation.field("h_im"), equation.coordinate("x")
    values = {re: 0.7, im: -0.4, re.diff(x): -0.3, im.diff(x): 0.9, equation.parameter("a"): 1.3}
    halves = [evaluate(equation.evolution[name], values, np) for name in ("h_re", "h_im")]
    assert complex(*halves) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    with suppress(EquationError):  # written out in real fields it may be too large to read
        assert Equation.parse(str(equation), coordinates=["x"]).evolution == equation.evolution
