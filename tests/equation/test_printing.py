"""Equations as text, LaTeX, SymPy and words."""

from __future__ import annotations

import copy
import pickle

import pytest
import sympy

from hiddenphysics.equation import Equation

BURGERS = "u_t + a*u*u_x - b*u_xx = 0"
VALUES = {"a": (1.038, 0.014), "b": (0.0976, 0.0031)}


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        (BURGERS, VALUES, "u_t + 1.038(14) u u_x - 0.0976(31) u_xx = 0"),
        (BURGERS, {"b": (-0.1, None)}, "u_t + a u u_x + 0.1 u_xx = 0"),
        (BURGERS, {"a": (-1.0, 0.1)}, "u_t - 1.00(10) u u_x - b u_xx = 0"),
        ("u_t = b*u_xx", {"b": (1 / 3, None)}, "u_t = 0.333333 u_xx"),
        ("u_t = b*u_xx", {"b": (-0.1, None)}, "u_t = -0.1 u_xx"),
        ("-a*u_x + u_t", {"a": (-2.0, None)}, "2 u_x + u_t = 0"),
        ("-a*u_x + u_t", {}, "-a u_x + u_t = 0"),
        ("u_t + u*a*u_x", VALUES | {"b": (1, None)}, None),
        ("u_t + u*a*u_x", {"a": (1.038, 0.014)}, "u_t + 1.038(14) u u_x = 0"),
        ("u_t + 2*a*u", {"a": (3.0, 0.5)}, "u_t + 2 · 3.00(50) u = 0"),
        ("u_t + 1/2*u", {}, "u_t + u/2 = 0"),
        ("u_t + u/a", {"a": (-3.0, 0.5)}, "u_t - u/3.00(50) = 0"),
        ("u_t + u/(2*a)*u_x", {"a": (3.0, 0.5)}, "u_t + u u_x/(2 · 3.00(50)) = 0"),
        ("u_t + u/(u_x/a)", {}, "u_t + u a/u_x = 0"),
        ("u_t + u/(1 + a*u)", {"a": (-3.0, 0.5)}, "u_t + u/(1 - 3.00(50) u) = 0"),
        ("u_t + a^2*u", {"a": (3.0, 0.5)}, "u_t + (3.00(50))^2 u = 0"),
        ("u_t + a^2*u", {"a": (3.0, None)}, "u_t + 3^2 u = 0"),
        ("u_t + a^2*u", {"a": (-3.0, None)}, "u_t + (-3)^2 u = 0"),
        ("u_t + u^n", {"n": (-2.0, 0.1)}, "u_t + u^(-2.00(10)) = 0"),
        ("u_t + u^(n + 1)", {"n": (2.0, None)}, "u_t + u^(2 + 1) = 0"),
        ("u_t + (u^2)^n", {}, "u_t + (u^2)^n = 0"),
        ("u_t + sin(-a*u)", {"a": (-1.5, 0.1)}, "u_t + sin(1.50(10) u) = 0"),
        ("u_t - a*(u + u_x)", {"a": (1.5, 0.1)}, "u_t - 1.50(10) (u + u_x) = 0"),
        ("u_t - -(u - -u_x)", {}, "u_t + (u + u_x) = 0"),
        ("u_t + d(a*u^2, x, 2) - lap(u)", {}, "u_t + d(a u^2, x, 2) - lap(u) = 0"),
        ("i*h_t + b*abs(h)^2*h", {"b": (1.0, 0.1)}, "i h_t + 1.00(10) abs(h)^2 h = 0"),
        ("u_t = k*u\nv_t=u; k > 0", {"k": (1e-9, 1e-10)}, "u_t = 1.00(10)e-09 u\nv_t = u"),
    ],
)  # fmt: skip
def test_render(text, values, expected):
    equation = Equation.parse(text)
    if expected is None:
        with pytest.raises(KeyError, match="no parameter 'b'"):
            equation.render(values)
        return
    assert equation.render(values) == expected


def test_render_shows_constants():
    assert Equation.parse("u_t + c^2*u + c*u_x", constants={"c": 3}).render({}) == "u_t + 3^2 u + 3 u_x = 0"


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        (BURGERS, VALUES, r"u_{t} + 1.038(14)\, u u_{x} - 0.0976(31)\, u_{xx} = 0"),
        ("u_t + lambda_1*u/nu", {}, r"u_{t} + \frac{\lambda_{1} u}{\nu} = 0"),
        ("u_t + 2*k*u", {"k": (1e-9, 1e-10)}, r"u_{t} + 2 \cdot 1.00(10) \times 10^{-9}\, u = 0"),
        ("u_t + speed*sin(u)^2", {}, r"u_{t} + \mathrm{speed} \sin\left(u\right)^{2} = 0"),
        ("u_t + d(u^2, x)^2", {}, r"u_{t} + \left(\partial_{x}\left(u^{2}\right)\right)^{2} = 0"),
        ("u_t + d(u, x, 3)", {}, r"u_{t} + \partial_{x}^{3}\left(u\right) = 0"),
        ("u_t + lap(u) + sqrt(u)", {}, r"u_{t} + \nabla^2 \left(u\right) + \sqrt{u} = 0"),
        ("h_t + i*conj(h)*abs(h)", {}, r"h_{t} + i \overline{h} \left|h\right| = 0"),
        (
            "u_t = d(D(x)*u_x, x) + f(u)",
            {},
            r"u_{t} = \partial_{x}\left(D\left(x\right) u_{x}\right) + f\left(u\right)",
        ),
        ("u_t + D(u, x, alpha)", {}, r"u_{t} + D_x^{\alpha} u = 0"),
        ("h_re_t + sign(h_re)", {}, r"h_{re,t} + \operatorname{sign}\left(h_{re}\right) = 0"),
    ],
)
def test_latex(text, values, expected):
    assert Equation.parse(text).render_latex(values) == expected


def test_latex_without_values_keeps_names():
    assert Equation.parse(BURGERS).latex() == "u_{t} + a u u_{x} - b u_{xx} = 0"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BURGERS, BURGERS),
        ("u_t = 0", "u_t = 0"),
        ("u_tt = c*u_xx; 0 < c < 0.5", "u_tt - c*u_xx = 0\n0 < c < 0.5"),
        ("u_t = b*psi_x; u = psi_y; b > -1.5", "u_t - b*psi_x = 0\nu = psi_y\nb > -1.5"),
        ("u_t = k*u; k < 3", "u_t - k*u = 0\nk < 3"),
        ("u_t + u/3 - 0.125*u^3/a", "u_t + u/3 - 0.125*u^3/a = 0"),
        ("u_t + 1/(a + u)^2/sqrt(u)", "u_t + 1/(a^2*sqrt(u) + 2*a*u^1.5 + u^2.5) = 0"),
        ("3*u_t + 2", "u_t + 2/3 = 0"),
    ],
)
def test_canonical_text(text, expected):
    equation = Equation.parse(text)
    assert str(equation) == expected
    again = Equation.parse(expected)
    assert again.evolution == equation.evolution
    assert again.bounds == equation.bounds
    assert again.definitions == equation.definitions


def test_sympy():
    equation = Equation.parse("u_t = psi_xx; u = psi_x")
    u, psi = equation.field("u"), equation.field("psi")
    t, x = equation.coordinate("t"), equation.coordinate("x")
    assert equation.sympy() == [sympy.Eq(u.diff(t) - psi.diff(x, 2), 0), sympy.Eq(u, psi.diff(x))]


def test_explain():
    text = "u_t + l1*u*u_x + k*p_x = c*u_xx; u = psi_x; l1 > 0; c < 4"
    equation = Equation.parse(text, fields=["u", "k"], constants={"c": 3})
    assert equation.explain() == (
        "Equations\n"
        "  u_t + l1*u*u_x + k*p_x - 3*u_xx = 0\n"
        "  u = psi_x\n"
        "Fields\n"
        "  u: evolving, defined by potentials, with data\n"
        "  k: given coefficient, with data\n"
        "  p: hidden (no data)\n"
        "  psi: potential, hidden (no data)\n"
        "Parameters\n"
        "  l1 > 0\n"
        "Constants\n"
        "  c = 3\n"
        "Coordinates: t, x\n"
        "Order 2 in space, 1 in time\n"
        "Nonlinear in the fields"
    )


def test_explain_complex_and_ranges():
    words = Equation.parse("i*h_t + a*h_xx + b*p_x*h + q*h; p_t = 0; 0 < a < 1; b < 2; q>0").explain()
    assert "h_im: evolving, imaginary part of h" in words
    assert "a between 0 and 1\n  b < 2\n  q > 0" in words
    assert "p: without an equation of its own" in Equation.parse("u_t = p_x").explain()
    assert "Linear in the fields" in Equation.parse("u_t = u").explain()


def test_equal_and_hashed_by_value():
    one, two = (Equation.parse(BURGERS, bounds={"b": (0, None)}) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one != Equation.parse(BURGERS)
    assert len({one, two}) == 1


def test_pickle_and_copy():
    equation = Equation.parse("i*h_t = c*h_xx + k*h; k > 0", fields=["h_re", "h_im"], constants={"c": 2.5})
    assert pickle.loads(pickle.dumps(equation)) == equation  # noqa: S301  our own bytes
    assert copy.deepcopy(equation) == equation


def test_lookup_names_what_there_is():
    equation = Equation.parse(BURGERS)
    with pytest.raises(KeyError, match="no field 'v'; it has u"):
        equation.field("v")
    with pytest.raises(KeyError, match="no coordinate 'y'; it has t, x"):
        equation.coordinate("y")
    with pytest.raises(KeyError, match="no parameter 'c'; it has a, b"):
        equation.parameter("c")
