"""Numbers: exact where they are typed, floating point where a function makes them; always of bounded size.

Exact arithmetic on huge numbers and SymPy's numeric evaluation of towers such as exp(exp(exp(9))) are the two
ways a short text could take forever. Neither happens: literals have a range, functions of numbers are floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import sympy

from hiddenphysics.equation.limits import MAX_MAGNITUDE
from hiddenphysics.equation.source import PlacedError

_REAL_FUNCTIONS = {
    "sin": (sympy.sin, math.sin),
    "cos": (sympy.cos, math.cos),
    "exp": (sympy.exp, math.exp),
    "log": (sympy.log, math.log),
    "tanh": (sympy.tanh, math.tanh),
    "sqrt": (sympy.sqrt, math.sqrt),
}


def literal(text: str, at: int) -> sympy.Rational:
    """`0.1` is exactly 1/10, so that sums of decimals cancel exactly."""
    value = float(text)
    mantissa = text.lower().partition("e")[0]
    if value == 0 and not any(c in "123456789" for c in mantissa):
        return sympy.Integer(0)
    _check_range(value, at, text)
    return _rational(Fraction(text))


def number(value: float, at: int | None = None, shown: str = "") -> sympy.Rational:
    """Take the shortest decimal that reads back as `value`, exactly; integers become Integer."""
    if value == 0:
        return sympy.Integer(0)
    _check_range(value, at, shown or repr(value))
    return _rational(Fraction(repr(float(value))))


def constant(name: str, value: float) -> sympy.Rational:
    """Read a value given by the user, `constants={"c": 3}`."""
    try:
        return number(float(value))
    except (TypeError, ValueError):
        raise PlacedError(None, f"the constant {name} is a number, not {value!r:.60}") from None


def fold_function(name: str, argument: sympy.Expr, at: int) -> sympy.Rational:
    """Make a function of a number a number."""
    symbolic, numeric = _REAL_FUNCTIONS[name]
    exact = symbolic(argument)
    if exact.is_Rational:  # sin(pi) is 0, not 1e-16
        return exact
    shown = f"{name}({argument})"
    value = fold(lambda: numeric(float(argument)), at, shown)
    if value == 0:  # not exactly 0, as seen above: it has underflowed
        raise PlacedError(at, f"{shown:.60} is too small a number")
    return value


def fold_power(base: sympy.Expr, exponent: sympy.Expr, at: int) -> sympy.Rational:
    """Make a number to the power of a number that is no integer a number."""
    return fold(lambda: math.pow(float(base), float(exponent)), at, f"{base}^({exponent})")


def fold(compute: Callable[[], float], at: int | None, shown: str) -> sympy.Rational:
    """Compute a number in floating point; refuse what is not finite or not real."""
    try:
        return number(compute(), at, shown)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise PlacedError(at, f"{shown:.60} is not a finite real number") from None


def _rational(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def _check_range(value: float, at: int | None, shown: str) -> None:
    if not 1 / MAX_MAGNITUDE <= abs(value) <= MAX_MAGNITUDE:  # also false for NaN
        raise PlacedError(
            at, f"the number {shown:.60} is too large or too small (1e-100 to 1e100 are supported)"
        )
