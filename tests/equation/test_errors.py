"""Every refusal: what it says, and where it points."""

from __future__ import annotations

import pytest

from hiddenphysics.equation import Equation
from hiddenphysics.errors import EquationError


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        # grammar
        ("u_t + 2u = 0", r"write 2\*u", 7),
        ("u_t + u u_x = 0", r"write u\*u_x", 8),
        ("u_t + 2(u) = 0", r"write 2\*\(", 7),
        ("u_t + (u)(u) = 0", r"write \)\*\(", 9),
        ("u_t = (u + (2*u)", r"this \( is never closed", 6),
        ("u_t = (u; u_x)", r"this \( is never closed", 6),
        ("u_t = u)", r"this \) closes nothing", 7),
        ("u_t = u = 0", "at most one =", 8),
        ("u_t == u", "a single =", 5),
        ("u_t +", "ends too early", 5),
        ("u_t = u +; u_x", "ends too early", 9),
        ("u_t = u**^2", "a power is written", 9),
        ("u_t = u***2", "a power is written|got '\\*'", 9),
        ("u_t = ()", "expected an expression", 7),
        ("u_t = u, 2", "a comma stands only", 7),
        ("u_t = u < 2", "a bound is its own statement", 8),
        ("u_t = *u", r"after '=', got '\*'", 6),
        # characters
        ("u_t = ∂u", "write derivatives with a subscript", 6),
        ("u_t = u²", r"write \^2", 7),
        ("u_t = λ*u", "letter, lambda", 6),
        ("u_t = Δu", r"lap\(u\)", 6),
        ("u_t = |u|", r"abs\(", 6),
        ("u_t = u.x", "a point stands only inside a number", 7),
        ("u_t = [u]", r"use parentheses", 6),
        ("u_t = _u", "a name begins with a letter", 6),
        ("u_t = u__x", "one underscore", 7),
        ("u_t = u\0", r"U\+0000", 7),
        ("u_t = \ud800", r"U\+D800", 6),
        # names and functions
        ("u_t = sen(u)", "no function sen; did you mean sin", 6),
        ("u_t = ln(u)", "did you mean log", 6),
        ("u_t = frobnicate(u)", r"no function frobnicate\. Known are sin", 6),
        ("u_t = u(x)", r"u is no function: write u\*\(", 6),
        ("u_t = sin*u", r"write sin\(u\)", 6),
        ("u_t = sin(u, u)", "takes one argument, not 2", 6),
        ("u_t = d(u)", r"written d\(u, x\)", 6),
        ("u_t = d(u, xx)", "one of t, x; did you mean x", 11),
        ("u_t = d(u, 2)", "needs a coordinate", 11),
        ("u_t = d(u, x, 0)", "whole number from 1 to 12", 14),
        ("u_t = d(u, x, n)", "whole number from 1 to 12", 14),
        ("u_t = d(2*a, x)", "no field here", 8),
        ("u_t = lap(a + 1)", "no field here", 10),
        ("dudt = u_x", "write u_t for the derivative", 0),
        ("u_t = du/dx", "write u_x for the derivative", 6),
        ("u_t = a*ux", "write u_x for the derivative", 8),
        ("u_t = x_t", "derivative of x, which is no field", 6),
        # fractional operators
        ("u_t = frac_lap(u)", r"written frac_lap\(u, alpha\)", 6),
        ("u_t = frac_lap(u, x, a)", r"written frac_lap\(u, alpha\)", 6),
        ("u_t = D(u, 1.5)", r"written D\(u, x, alpha\); a product .* D\*\(", 6),
        ("u_t = D(u_xx + u)", r"a product with a parameter D is D\*\(", 6),
        ("u_t = fraclap(u, a)", "did you mean frac_lap", 6),
        ("u_t = frac_lap(u_x, a)", "acts on a field alone", 15),
        ("u_t = frac_lap(u*u, a)", "acts on a field alone", 15),
        ("u_t = D(2, x, a)", "D acts on a field alone", 8),
        ("u_t = D(x, x, a)", "D acts on a field alone", 8),
        ("u_t = D(u, t, a)", "D needs a coordinate here, one of x", 11),
        ("u_t = D(u, 2, a)", "D needs a coordinate here, one of x", 11),
        ("u_t = frac_lap(u, 12.5)", "frac_lap lies between 0 and 12", 18),
        ("u_t = frac_lap(u, -1)", "frac_lap lies between 0 and 12", 18),
        ("u_t = D(u, x, 13)", "order of D lies between 0 and 12", 14),
        ("u_t = D(u, x, u)", "order of D is a number or a parameter", 14),
        ("u_t = D(u, x, 1 + x)", "order of D is a number or a parameter", 14),
        ("u_t = frac_lap(u, t)", "order of frac_lap is a number or a parameter", 18),
        ("i*h_t = frac_lap(h, i)", "order of frac_lap is a number or a parameter", 20),
        ("u_t = frac_lap(u, frac_lap(u, a))", "order of frac_lap is a number or a parameter", 18),
        ("u_t = d(D(u, x, a), x)", r"raise the order instead, D\(u, x, alpha \+ 1\)", 6),
        ("u_t = lap(u*frac_lap(u, a))", "derivative of a fractional operator is not supported", 6),
        ("u_t = frac_lap(u, a) - frac_lap(u, a)", "parameter a cancels out", 18),
        ("u_t*frac_lap(u, a) = u", "multiplied by a field", 0),
        ("u_t = u_x; u = x*frac_lap(psi, 1.5)", "must be linear", 11),
        # mathematics
        ("u_xx + a*u = 0", "no time derivative: .*add u_t", 0),
        ("a + b = 0", "no time derivative", 0),
        ("u_t - x*u_xxt = 0", "multiplied by -x, which varies.* as in u_t - c[*]u_xxt", 0),
        ("u_t - u*u_xxt = 0", "u_t is multiplied by a field", 0),
        ("u_t = a*u_x - a*u_x", "parameter a cancels out", 6),
        ("a*u_t + a*u_x = 0", "parameter a cancels out", 0),
        ("u_t = b*(u + u_x) - b*u - b*u_x", "parameter b cancels out", 6),
        ("u*u_t = u_x", "multiplied by a field", 0),
        ("u_t^2 = u_x", "enters nonlinearly", 0),
        ("u_t = u_x; u*v_x + v_y = 0", r"only ties u and v together, and it is not linear", 11),
        ("u_t = u_x; x*v_x + u = 0", "coefficients vary.* or write an equation for v_t", 11),
        ("u_t = u_x; v_xx = u + sin(x)", "holds a term without any field", 11),
        ("u_t = c*u; c = 3", r"constants=\{'c': 3\}", 11),
        ("u_t = v_t", "1 evolution equation for 2 time derivatives", 0),
        ("u_t = u; u_t = u_x", "2 evolution equations for 1 time derivative", 9),
        ("u_t + v_t = u; 2*u_t + 2*v_t = v", "repeat each other", 15),
        ("u_t = u_t", "everything in it cancels", 0),
        ("u_t = u/0", "division by zero", 8),
        ("u_t = (a - a)^-1", "division by zero", 7),
        ("u_t = 1/(u*(u + 1) - u^2 - u)", "divides by zero", 0),
        ("u_t = sqrt(-1)", "not a finite real number", 6),
        ("u_t = (-8)^(1/3)", "not a finite real number", 7),
        ("u_t = log(0)*u", "not finite|not a finite", 6),
        ("u_t = sqrt(-u^2)", "not a real number", 6),
        ("u_t = exp(1000)", "not a finite real number", 6),
        ("u_t = exp(-1000)", "too small", 6),
        ("u_t = (-2)^a", "must be positive", 7),
        ("u_t = d(abs(u), x, 2)", "DiracDelta, which is not supported", 6),
        # definitions
        ("u_t = v_x; v_t = u; u = psi_y*psi_x", "must be linear", 20),
        ("u_t = u_x; u = x*psi_x", "must be linear", 11),
        ("u_t = u_x; u = psi_x + 1", "must be linear", 11),
        ("u_t = u_x; u = psi_x; u = chi_x", "u is defined twice", 22),
        ("u_t = u_x; u = psi_x; psi = chi_x", "u is defined by psi, itself defined", 11),
        # complex
        ("i*h_t = h^a", "integer power", 10),
        ("i*h_t = 2^h", "complex exponent", 10),
        ("i*h_t = sin(h)", "sin of a complex value", 8),
        # bounds
        ("u_t = b*u; b > a", "a bound compares one parameter", 11),
        ("u_t = b*u; b > 1 ; b < 0", "no value of b", 19),
        ("u_t = b*u; 2 > 1", "a bound compares one parameter", 11),
        # size
        ("u_t = 1e101*u", "too large or too small", 6),
        ("u_t = u^21", "at most 20", 8),
        ("u_t = u_" + "x" * 13, "higher order than 12", 6),
        ("u_t = " + "a" * 65, "65 characters", 6),
        ("u_t = " + "1" * 401, "401 digits", 6),
    ],
)
def test_error_points_and_explains(text, message, column):
    with pytest.raises(EquationError, match=message) as caught:
        Equation.parse(text)
    *_, shown, caret = str(caught.value).split("\n")
    assert caret == " " * (4 + column) + "^"
    assert (
        shown[4 : 4 + len(text)].rstrip()
        == "".join(c if c.isprintable() else " " for c in text)[:72].rstrip()
    )


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "no equation in the text"),
        ("# nothing", {}, "no equation in the text"),
        (7, {}, "not int"),
        ("u_t + v_y", {"coordinates": ["x"]}, "differentiates along y, the data have only x"),
        ("u_t + y*u", {"coordinates": ["x"]}, "uses y, the data have only x"),
        ("u_t + u_x", {"coordinates": []}, "the data have no coordinate"),
        ("u_t + u", {"coordinates": ["r"]}, "'r' is no spatial coordinate"),
        ("u_t + u", {"fields": ["v"]}, "data for 'v', but the equation has no such field"),
        ("temp_t + u", {"fields": ["temo"]}, "did you mean temp"),
        ("u_t + u", {"fields": ["u_x"]}, "read as a derivative of u"),
        ("u_t + u", {"fields": ["sin"]}, "'sin' cannot name a field"),
        ("u_t + u", {"fields": ["u v"]}, "cannot name a field"),
        ("u_t + u", {"fields": ["__import__"]}, "cannot name a field"),
        ("u_t + u", {"fields": ["x"]}, "'x' cannot name a field"),
        ("u_t + u", {"constants": {"c": 1}}, "constant 'c' does not appear"),
        ("u_t + speed*u_x", {"constants": {"sped": 1}}, "did you mean speed"),
        ("u_t + u_x", {"constants": {"u": 1}}, "is a field of the equation"),
        ("u_t + c*u", {"constants": {"c": "three"}}, "c is a number, not 'three'"),
        ("u_t + c*u", {"constants": {"c": float("nan")}}, "too large or too small"),
        ("u_t + c*u; c > 0", {"constants": {"c": -1}}, "constant c = -1 is outside 0 to inf"),
        ("u_t + b*u", {"bounds": {"c": (0, 1)}}, "bound for 'c', which is no parameter"),
        ("u_t + b*u; k > 0", {}, "bound for 'k', which is no parameter"),
        ("u_t + b*u", {"bounds": {"b": 3}}, "a pair of numbers or None"),
        ("u_t + b*u", {"bounds": {"b": (1, 0)}}, "no value of b lies between 1 and 0"),
        ("u_t + b*u", {"bounds": {"b": (float("nan"), 0)}}, "a pair of numbers"),
    ],
)
def test_error_without_a_place(text, options, message):
    with pytest.raises(EquationError, match=message):
        Equation.parse(text, **options)


def test_long_lines_are_clipped_around_the_place():
    text = "u_t = " + "+".join(["u"] * 200) + " + 2u" + " + u" * 200
    with pytest.raises(EquationError) as caught:
        Equation.parse(text)
    _, shown, caret = str(caught.value).split("\n")
    assert len(shown) <= 76
    assert shown[len(caret) - 1] == "u"


def test_the_right_line_is_shown():
    with pytest.raises(EquationError, match=r"\n    v_t = 2v\n {11}\^$"):
        Equation.parse("u_t = v\nv_t = 2v\nw_t = 0")
