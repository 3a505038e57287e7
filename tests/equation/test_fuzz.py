"""Random text: nothing but EquationError comes out; what is read prints and reads back the same."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hiddenphysics.equation import Equation, atoms_of, evaluate
from hiddenphysics.errors import EquationError

relaxed = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))

WORDS = (
    "u v h a b lambda_1 u_t u_x u_xx v_t v_xy h_t u_xt t x y i pi e "
    "d( lap( frac_lap( D( sin( exp( sqrt( abs( re( conj("
)
SIGNS = "( ) , + - * / ^ ** = == < > ; # 0 1 2 0.5 1e-3 1e999 9 − · . _ __ '"
TOKENS = st.sampled_from([*WORDS.split(), *SIGNS.split(), "\n"])


@relaxed
@given(st.text())
def test_arbitrary_text(text):
    with suppress(EquationError):
        Equation.parse(text)
    with suppress(EquationError):
        Equation.parse("u_t = " + text)


@relaxed
@given(st.lists(TOKENS, max_size=25), st.sampled_from(["", " "]))
def test_text_of_tokens(tokens, gap):
    with suppress(EquationError):
        Equation.parse(gap.join(tokens))
    with suppress(EquationError):
        Equation.parse("u_t + a*u_x = " + gap.join(tokens))


PLAIN = ["u", "u_x", "u_xx", "v", "v_x", "a", "b", "x", "t", "pi", "2", "0.5", "1e-3", "3"]
FRACTIONAL = ["frac_lap(u, a)", "frac_lap(v, 1.5)", "frac_lap(v, 4)", "D(u, x, b)", "D(v, x, a/3 + 1)"]
ATOMS = st.sampled_from(PLAIN + FRACTIONAL)


def _grow(inner):
    return st.one_of(
        st.builds("({}) + ({})".format, inner, inner),
        st.builds("({}) - ({})".format, inner, inner),
        st.builds("({})*({})".format, inner, inner),
        st.builds("({})/({})".format, inner, inner),
        st.builds("-({})".format, inner),
        st.builds("({})^{}".format, inner, st.sampled_from(["2", "3", "-1", "a", "0.5", "(1/3)"])),
        st.builds(
            "{}({})".format, st.sampled_from(["sin", "exp", "tanh", "sqrt", "abs", "log", "cos"]), inner
        ),
        st.builds("d({}, x)".format, inner),
    )


EXPRESSIONS = st.recursive(ATOMS, _grow, max_leaves=8)


def read(text):
    """The equation, or None where the expression has no meaning (a division by zero, a cancelled parameter)."""
    try:
        return Equation.parse(text, fields=["u", "v"])
    except EquationError:
        return None


@relaxed
@given(EXPRESSIONS, EXPRESSIONS)
def test_canonical_text_reads_back(one, two):
    equation = read(f"u_t + {one} = 0; v_t + u = {two} + v")
    if equation is not None:
        again = Equation.parse(str(equation), fields=["u", "v"], coordinates=equation.coordinates)
        assert again.evolution == equation.evolution


def _number(expr, values):
    """The value of `expr` where symbols and atoms hash to numbers by their printed names."""
    keys = atoms_of(expr) | expr.free_symbols
    with np.errstate(all="ignore"):
        return complex(evaluate(expr, {key: complex(values[str(key)]) for key in keys}, np))


@relaxed
@given(EXPRESSIONS, st.floats(0.4, 1.6), st.floats(0.4, 1.6))
def test_rendered_numbers_mean_the_same(expression, a, b):
    """`render` with plain numbers, read back with `*` for spaces, is the equation with those constants."""
    text = f"u_t + {expression} + a*b*u + v = 0"
    equation = read(text)
    if equation is None:
        return
    values = {"a": float(f"{a:.6g}"), "b": float(f"{b:.6g}")}
    shown = equation.render({name: (values[name], None) for name in equation.parameters})
    typed = shown.replace(" · ", "*").replace(", ", ",")
    for sign in "+-=":
        typed = typed.replace(f" {sign} ", f"{sign}")
    typed = typed.replace(" ", "*")
    try:
        fixed = Equation.parse(text, fields=["u", "v"], constants={n: values[n] for n in equation.parameters})
        again = Equation.parse(typed, fields=["u", "v"])
    except EquationError:  # a number may make a constant part infinite or complex
        return
    assert again.evolution["u"] == fixed.evolution["u"] or _close(again, fixed)


def _close(one, two):
    names = {
        str(key) for e in (one, two) for key in atoms_of(e.evolution["u"]) | e.evolution["u"].free_symbols
    }
    values = {name: 0.7 + 0.13 * k for k, name in enumerate(sorted(names))}
    both = [_number(e.evolution["u"], values) for e in (one, two)]
    return not np.isfinite(both).all() or np.isclose(*both, rtol=1e-9)
