"""Numbers out of expressions, against SymPy's own substitution."""

from __future__ import annotations

import jax
import jax.numpy as jnp
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u^n", [0.0, 0.0, 0.5**1.5]),
        ("sqrt(u)", [0.0, 0.0, np.sqrt(0.5)]),
        ("log(u)", [0.0, np.log(0.25), np.log(0.5)]),
        ("x^n", [0.0, 0.0, 0.5**1.5]),
    ],
)
def test_powers_and_logarithms_go_on_where_fields_and_places_are_negative(text, expected):
    # One number that is none, in the padding around the data, would be none everywhere in Fourier space.
    equation = Equation.parse(f"u_t = -{text} - n*u")
    at, n = jnp.array([-1.0, -0.25, 0.5]), equation.parameter("n")
    values = {equation.field("u"): at, sympy.Symbol("x", real=True): at, n: 1.5}
    found = evaluate(equation.evolution["u"], values, jnp) - 1.5 * at
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)
    exponent = jax.grad(lambda v: jnp.sum(evaluate(equation.evolution["u"], values | {n: v}, jnp)))(1.5)
    assert np.isfinite(exponent)


def test_a_root_of_a_negative_parameter_is_still_none():
    a = sympy.Symbol("a", real=True)
    with np.errstate(invalid="ignore"):
        assert np.isnan(evaluate(sympy.sqrt(a), {a: np.float64(-1.0)}, np))


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
