"""The paper's linearisation: which factor of every product stays, and what is frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pytest
import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation import Equation, derivative_symbol, field_name, frozen_atoms
from hiddenphysics.models.paper import lagged
from hiddenphysics.operators import Symbol

Terms = Mapping[tuple[str, tuple[int, ...]], str]
"""{(latent, orders): coefficient}, the coefficient in the words of the equation: frozen fields by name."""


@dataclass(frozen=True)
class Case:
    """One equation of a system, and its linear part and remainder as a person would write them."""

    name: str
    text: str
    terms: Terms
    remainder: str = "0"
    field: str = "u"
    given: tuple[str, ...] = ()


CASES = (
    Case(
        "Burgers",
        "u_t + a*u*u_x - b*u_xx = 0",
        {("u", (1,)): "a*u", ("u", (2,)): "-b"},
    ),
    Case(
        "Korteweg-de Vries",
        "u_t + a*u*u_x + b*u_xxx = 0",
        {("u", (1,)): "a*u", ("u", (3,)): "b"},
    ),
    Case(
        "Kuramoto-Sivashinsky",
        "u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0",
        {("u", (1,)): "a*u", ("u", (2,)): "b", ("u", (4,)): "c"},
    ),
    Case(
        "Schroedinger, real part",
        "i*h_t + a*h_xx + b*abs(h)^2*h = 0",
        {("h_im", (0,)): "b*h_re^2 + b*h_im^2", ("h_im", (2,)): "a"},
        field="h_re",
    ),
    Case(
        "Schroedinger, imaginary part",
        "i*h_t + a*h_xx + b*abs(h)^2*h = 0",
        {("h_re", (0,)): "-b*h_re^2 - b*h_im^2", ("h_re", (2,)): "-a"},
        field="h_im",
    ),
    Case("a tie keeps its own field", "u_t + a*u*v = 0; v_t - b*u*v = 0", {("u", (0,)): "a*v"}),
    Case(
        "the same tie in the other equation",
        "u_t + a*u*v = 0; v_t - b*u*v = 0",
        {("v", (0,)): "-b*u"},
        field="v",
    ),
    Case(
        "a tie of strangers keeps the first by name",
        "u_t + v*w = 0; v_t = a*v; w_t = w",
        {("v", (0,)): "w"},
    ),
    Case(
        "the lower power wins over the own field",
        "u_t + a*u^2*v = 0; v_t = v_xx",
        {("v", (0,)): "a*u^2"},
    ),
    Case(
        "the higher derivative wins over the own field",
        "u_t + a*u*v_x = 0; v_t = v_xx",
        {("v", (1,)): "a*u"},
    ),
    Case("a squared slope keeps one factor", "u_t + a*u_x^2 = 0", {("u", (1,)): "a*u_x"}),
    Case(
        "mixed powers keep one of the highest derivatives",
        "u_t + a*u^3*u_x*u_xx^2 = 0",
        {("u", (2,)): "a*u^3*u_x*u_xx"},
    ),
    Case(
        "products are multiplied out",
        "u_t + a*d(u*u_x, x) = 0",
        {("u", (1,)): "a*u_x", ("u", (2,)): "a*u"},
    ),
    Case("a quotient freezes its denominator", "u_t + a*u_xx/u = 0", {("u", (2,)): "a/u"}),
    Case("a function of the field is frozen", "u_t + sin(a*u) = 0", {}, "sin(a*u)"),
    Case("a function times a derivative", "u_t + a*sin(u)*u_x = 0", {("u", (1,)): "a*sin(u)"}),
    Case("functions of sums stay as typed", "u_t + exp(a + u)*u_x = 0", {("u", (1,)): "exp(a + u)"}),
    Case(
        "a source and explicit time",
        "u_t - b*u_xx = a*sin(x)*cos(t) + 2",
        {("u", (2,)): "-b"},
        "-a*sin(x)*cos(t) - 2",
    ),
    Case("coordinates are coefficients", "u_t + a*x*t*u_x = 0", {("u", (1,)): "a*x*t"}),
    Case("a measured coefficient field", "u_t + a*c*u_x = 0", {("u", (1,)): "a*c"}, given=("c",)),
    Case(
        "the slope of a measured coefficient field",
        "u_t + a*d(c*u, x) = 0",
        {("u", (0,)): "a*c_x", ("u", (1,)): "a*c"},
        given=("c",),
    ),
    Case("a measured source", "u_t - b*u_xx = a*q^2", {("u", (2,)): "-b"}, "-a*q^2", given=("q",)),
)


def in_words(expression: sympy.Expr) -> sympy.Expr:
    """Replace ``u(t, x)`` by the symbol u and its derivative by the symbol u_x, as they are typed."""

    def word(atom: sympy.Expr) -> sympy.Symbol:
        orders = derivative_symbol(atom, ("x", "y")).orders
        suffix = "x" * orders[0] + "y" * orders[1]
        return sympy.Symbol(field_name(atom) + (f"_{suffix}" if suffix else ""))

    plain = expression.xreplace({atom: word(atom) for atom in frozen_atoms(expression)})
    return plain.xreplace({s: sympy.Symbol(s.name) for s in plain.free_symbols})


def typed(text: str) -> sympy.Expr:
    names = sympy.symbols("a b c q t u v w x u_x u_xx c_x h_re h_im")
    return sympy.sympify(text.replace("^", "**"), locals={s.name: s for s in names})


def split(case: Case) -> tuple[Equation, dict[tuple[str, tuple[int, ...]], sympy.Expr], sympy.Expr]:
    equation = Equation.parse(case.text, fields=case.given)
    unknown = [f for f in equation.fields if f not in case.given]
    operator, remainder = lagged(equation.evolution[case.field], equation.coordinates, unknown, case.field)
    return equation, {(f, s.orders): c for f, s, c in operator}, remainder


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_kept_and_what_is_frozen(case: Case) -> None:
    _, found, remainder = split(case)
    assert set(found) == set(case.terms)
    for key, coefficient in found.items():
        assert sympy.expand(in_words(coefficient) - typed(case.terms[key])) == 0, key
    assert sympy.expand(in_words(remainder) - typed(case.remainder)) == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_putting_the_frozen_state_back_gives_the_equation(case: Case) -> None:
    """Σ c_j T_j h + remainder = N(h): linearised where it is evaluated, nothing is lost."""
    equation, terms, remainder = split(case)
    whole = remainder
    for (field, orders), coefficient in terms.items():
        value = equation.field(field)
        for name, count in zip(equation.coordinates, orders, strict=True):
            value = sympy.diff(value, equation.coordinate(name), count) if count else value
        whole += coefficient * value
    assert sympy.expand(whole - equation.evolution[case.field]) == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_linear_equation_keeps_nothing_frozen(case: Case) -> None:
    equation, terms, remainder = split(case)
    unknown_in_coefficients = {
        field_name(atom)
        for atom in frozen_atoms(*terms.values(), remainder)
        if field_name(atom) not in case.given
    }
    if equation.linear:
        assert not unknown_in_coefficients


# ---- the atoms it works with --------------------


def test_names_symbols_and_frozen_atoms() -> None:
    equation = Equation.parse("u_t + a*u*u_xxy + sin(u_y) = 0")
    assert equation.coordinates == ("x", "y")
    u, x, y = equation.field("u"), equation.coordinate("x"), equation.coordinate("y")
    derivative = u.diff(x, 2, y)
    assert (field_name(u), field_name(derivative)) == ("u", "u")
    assert derivative_symbol(derivative, equation.coordinates) == Symbol((2, 1))
    assert derivative_symbol(u, equation.coordinates) == Symbol((0, 0))
    assert frozen_atoms(equation.evolution["u"]) == {u, derivative, u.diff(y)}
    assert frozen_atoms(sympy.sin(u.diff(y))) == {u.diff(y)}  # the field inside a derivative is not asked for
    assert isinstance(u, AppliedUndef)
