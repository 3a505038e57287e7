"""Unknown functions in the text: what they stand for, how they print, what is refused."""

import copy

import numpy as np
import pytest
import sympy

from hiddenphysics.equation import Equation
from hiddenphysics.errors import EquationError
from hiddenphysics.result.function_estimate import FunctionEstimate, basis_of

TEXT = "u_t = d(D(x)*u_x, x) + f(u)"
RANGES = {"x": (-2.0, 4.0), "u": (-1.0, 1.5)}


@pytest.fixture(scope="module")
def equation():
    return Equation.parse(TEXT, fields=("u",), coordinates=("x",), ranges=RANGES)


def test_coefficients_are_parameters_and_are_not_shown(equation):
    assert [one.call for one in equation.functions] == ["D(x)", "f(u)"]
    assert set(equation.parameters) == {c for one in equation.functions for c in one.coefficients}
    assert equation.numbers == ()
    assert equation.render({}) == "u_t = d(D(x) u_x, x) + f(u)"


def test_the_expression_is_the_basis_times_the_coefficients(equation):
    """By SymPy at numbers, against `basis` at the same: both for D(x), with its derivative, and for f(u)."""
    rng = np.random.default_rng(0)
    numbers = dict(zip(equation.parameters, rng.standard_normal(len(equation.parameters)), strict=True))
    D, f = equation.functions
    x, u, u_x, u_xx, h = 0.7, 0.4, -0.3, 1.1, 1e-5

    def value(one, at):
        return float((basis_of(one, np.array([at])) @ [numbers[c] for c in one.coefficients])[0])

    slope = (value(D, x + h) - value(D, x - h)) / (2 * h)
    expected = -(value(D, x) * u_xx + slope * u_x + value(f, u))
    field, axis = equation.field("u"), equation.coordinate("x")
    told = equation.evolution["u"].subs({equation.parameter(p): v for p, v in numbers.items()})
    told = told.subs(field.diff(axis, 2), u_xx).subs(field.diff(axis), u_x).subs(field, u).subs(axis, x)
    assert float(sympy.N(told)) == pytest.approx(expected, rel=1e-7)


def test_the_simplest_has_constants_and_lines(equation):
    assert equation.simplest.parameters == ("D_0", "f_0", "f_1")
    plain = Equation.parse("u_t = a*u_xx")
    assert plain.simplest is plain


@pytest.mark.parametrize(
    ("words", "limits"),
    [
        ("D > 0", (0.0, np.inf)),
        ("D > 0.25", (0.25, np.inf)),
        ("D < -1", (-np.inf, -1.0)),
        ("0.5 < D < 2", (0.5, 2.0)),
    ],
)
def test_one_with_bounds_stays_within_them(words, limits):
    """Whatever its coefficients: the expression, by SymPy at numbers, is what the estimate draws, within its band."""
    equation = Equation.parse(f"u_t = D(x)*u_xx; {words}", fields=("u",), ranges={"x": (-2.0, 4.0)})
    (D,) = equation.functions
    assert D.limits == limits
    assert words in str(equation)
    assert equation.simplest.parameters == ("D_0",)
    assert copy.deepcopy(equation) == equation
    again = Equation.parse(
        "u_t = D(x)*u_xx", fields=("u",), bounds=equation.given_bounds, ranges=equation.ranges
    )
    assert again.functions == equation.functions
    mean = np.random.default_rng(0).normal(size=len(D.coefficients))
    mean[0] = np.abs(mean[0])
    estimate = FunctionEstimate(D, mean, 0.04 * np.eye(len(mean)), 0.0)
    places = np.linspace(-2.0, 4.0, 7)
    numbers = {equation.parameter(name): value for name, value in zip(D.coefficients, mean, strict=True)}
    told = -equation.evolution["u"].coeff(equation.field("u").diff(equation.coordinate("x"), 2)).subs(numbers)
    expected = [float(sympy.N(told.subs(equation.coordinate("x"), place))) for place in places]
    np.testing.assert_allclose(estimate.mean_and_std(places)[0], expected, rtol=1e-10)
    low, high = estimate.interval(places)
    assert np.all(low < estimate.mean_and_std(places)[0])
    assert np.all((low > limits[0]) & (high < limits[1]))


def test_between_two_bounds_the_simplest_is_a_constant_that_the_equation_is_linear_in():
    equation = Equation.parse("u_t = D(x)*u_xx; 0.5 < D < 2", fields=("u",)).simplest
    slope = -equation.evolution["u"].diff(equation.parameter("D_0"))
    assert slope == equation.field("u").diff(equation.coordinate("x"), 2)
    assert equation.bounds["D_0"] == (0.0, 1.5)


@pytest.mark.parametrize("words", ["D > 0", "0 < D < 0.4"])
def test_the_deviation_of_one_with_bounds_is_that_of_draws(words):
    """Small deviations: of 20 000 draws of the coefficients, to within 2 %."""
    (D,) = Equation.parse(f"u_t = D(x)*u_xx; {words}", fields=("u",)).functions
    rng = np.random.default_rng(1)
    mean, half = np.append(0.3, 0.2 * rng.normal(size=20)), 0.003 * rng.normal(size=(21, 21))
    estimate, place = FunctionEstimate(D, mean, half @ half.T, 0.0), 0.37
    draws = mean + rng.normal(size=(20_000, 21)) @ half.T
    shrunk, part = np.exp(-draws[:, 1:] @ basis_of(D, np.array([place]))[0, 1:]), draws[:, 0] / D.width
    values = draws[:, 0] / (part + (1 - part) * shrunk)
    assert estimate.mean_and_std([place])[1][0] == pytest.approx(values.std(), rel=0.02)


def test_it_can_be_copied_and_compared(equation):
    assert copy.deepcopy(equation) == equation
    assert Equation.parse(TEXT, fields=("u",), coordinates=("x",)) != equation


def test_a_known_order_of_arguments_stays_a_fractional_derivative():
    assert Equation.parse("u_t = D(u, x, 1.5)").functions == ()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("u_t = f(w)*u_xx", "f is a function of w, which is no field and no coordinate here"),
        ("u_t = u_xx + f(u, x)", "has one argument, a coordinate, t or a field"),
        ("u_t = u_xx + f(u + 1)", "by its bare name"),
        ("u_t = f(x)*u_xx + f(u)", "f is a function of x elsewhere"),
        ("u_t = f(x)*u_xx + f_3*u", "f_3 names a coefficient of f"),
        ("i*h_t = h_xx + f(h)", "a function of a complex field"),
    ],
)
def test_what_has_no_meaning_is_refused(text, sentence):
    with pytest.raises(EquationError, match=sentence):
        Equation.parse(text)
