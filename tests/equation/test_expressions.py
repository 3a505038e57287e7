"""Numbers out of expressions, against SymPy's own substitution."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from hiddenphysics.equation import Equation, atoms_of, evaluate


@pytest.mark.parametrize(
    "text",
    [
        "u_t + a*u*u_x - b*u_xx",
        "u_t + sin(a*u) + cos(x)*exp(-t) - log(2 + u^2) + tanh(u_x)",
        "u_t + sqrt(1 + u^2) + abs(u)*sign(u_x) - u^-3 + (2 + u^2)^(1/3)",
        "u_t + (1 + u^2)^a/(2 + cos(u)) + pi*u/3 + 2^u + 1/sqrt(3 + u)",
        "u_tt + u_t*u_x + 0.1*u - 7",
    ],
)
def test_agrees_with_sympy(text):
    equation = Equation.parse(text)
    expr = equation.evolution["u"]
    rng = np.random.default_rng(0)
    keys = atoms_of(expr) | {s for s in expr.free_symbols if isinstance(s, sympy.Symbol)}
    values = {
        key: rng.uniform(0.3, 1.5, 4) * rng.choice([-1, 1]) ** (key == equation.field("u")) for key in keys
    }
    evaluated = evaluate(expr, values, np)
    for k in range(4):
        # Derivatives first: substituting u alone would change them too.
        numbers = {key: value[k] for key, value in values.items()}
        outer = {key: value for key, value in numbers.items() if isinstance(key, sympy.Derivative)}
        expected = expr.xreplace(outer).xreplace(numbers)
        np.testing.assert_allclose(evaluated[k], float(expected), rtol=1e-13)


def test_integer_powers_of_negative_numbers_are_exact():
    x = sympy.Symbol("x", real=True)
    np.testing.assert_array_equal(evaluate(x**3, {x: np.array([-2.0])}, np), [-8.0])


def test_a_number_alone():
    assert evaluate(sympy.Rational(1, 10), {}, np) == 0.1
    assert evaluate(sympy.pi, {}, np) == np.pi


def test_missing_value_is_named():
    equation = Equation.parse("u_t + a*u_x")
    with pytest.raises(KeyError, match=r"no value for Derivative\(u\(t, x\), x\)"):
        evaluate(equation.evolution["u"], {equation.parameter("a"): 1.0}, np)


def test_unknown_node():
    x = sympy.Symbol("x", real=True)
    with pytest.raises(TypeError, match="evaluate knows no gamma"):
        evaluate(sympy.gamma(x), {x: 1.0}, np)
