"""Numbers as they are typed, and as they are written with their uncertainty.

Typed numbers are exact, functions of numbers are floating point, and all are of bounded size. Exact arithmetic on
huge numbers and SymPy's numeric evaluation of towers such as exp(exp(exp(9))) are the two ways a short text could
take forever. Neither happens: literals have a range, functions of numbers are floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import partial

import sympy

from hiddenphysics.equation.source import PlacedError

MAX_MAGNITUDE = 1e100  # a number lies between 1/this and this, or is 0

_REAL_FUNCTIONS = {
    "sin": (sympy.sin, math.sin),
    "cos": (sympy.cos, math.cos),
    "exp": (sympy.exp, math.exp),
    "log": (sympy.log, math.log),
    "tanh": (sympy.tanh, math.tanh),
    "sqrt": (sympy.sqrt, math.sqrt),
}

_ROUND_OFF = 1e-14  # a standard deviation below this fraction of its value is lost in the value's round-off
_PLAIN = range(-5, 7)  # decimal exponents of the value that are written without e


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


def fold_numbers(expr: sympy.Expr, at: int | None) -> sympy.Expr:
    """Make floats of the roots that SymPy draws out, `sqrt(2*u)` to `sqrt(2)*sqrt(u)`, as `sqrt(2)` typed is one."""
    numbers = {
        node: fold(partial(float, node), at, str(node))
        for node in expr.atoms(sympy.Pow, sympy.Function)
        if node.is_number and not (node.is_Pow and node.exp.is_Integer)
    }
    return expr.xreplace(numbers) if numbers else expr


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


def three_digits(value: float) -> float:
    """Return the three significant digits that are written of a number of which nobody knows how far it is off.

    Examples
    --------
    >>> three_digits(516.288), three_digits(12345.6), three_digits(0.0781098)
    (516.0, 12300.0, 0.0781)
    """
    return float(f"{value:.3g}")


def format_uncertain(value: float, std: float | None) -> str:
    """Write `value` with two significant digits of its standard deviation: 1.038(14) means 1.038 ± 0.014.

    Without a usable `std` (None, NaN, 0 or lost in the round-off of `value`) the value has six significant
    digits and no bracket; an infinite one shows as `(inf)`.

    Examples
    --------
    >>> format_uncertain(1.0379, 0.0142), format_uncertain(12.4, 31), format_uncertain(1234, 151)
    ('1.038(14)', '12(31)', '1230(150)')
    >>> format_uncertain(1.234e-9, 4.5e-10), format_uncertain(0.1, None)
    ('1.23(45)e-09', '0.1')
    """
    deviation = _deviation(value, std)
    if deviation is None:
        return f"{value:.6g}"
    if math.isinf(deviation):
        return f"{value:.6g}(inf)"
    power, (mantissa, spread), last = _scaled(value, deviation)
    return _digits(mantissa, spread, last) + (f"e{power:+03d}" if power else "")


def format_plus_minus(value: float, std: float | None) -> str:
    """Write `value ± std` as a person would: two digits of the deviation, the value down to the same digit.

    Digits before the point are never rounded away: 885 ± 110, not 890 ± 110. What `format_uncertain` writes without a
    bracket has no ± here, and an infinite deviation leaves three digits.

    Examples
    --------
    >>> format_plus_minus(885.123, 112.0), format_plus_minus(0.973541, 0.0327)
    ('885 ± 110', '0.974 ± 0.033')
    >>> format_plus_minus(1.234e-9, 4.5e-10), format_plus_minus(0.1, None)
    ('(1.23 ± 0.45)e-09', '0.1')
    """
    deviation = _deviation(value, std)
    if deviation is None:
        return f"{value:.6g}"
    if math.isinf(deviation):
        return f"{three_digits(value):.6g} ± inf"
    power, (mantissa, spread), last = _scaled(value, deviation)
    text = f"{_shown(mantissa, last)} ± {_shown(_round(spread, last), last)}"
    return f"({text})e{power:+03d}" if power else text


def format_interval(low: float, high: float, std: float) -> str:
    """Write the ends of an interval down to the second digit of the deviation, as `format_plus_minus` writes the value.

    Examples
    --------
    >>> format_interval(0.90938, 1.0377, 0.0327), format_interval(0.0, float("inf"), float("inf"))
    ('[0.909, 1.038]', '[0, inf]')
    """
    largest = max((abs(end) for end in (low, high) if math.isfinite(end)), default=0.0)
    deviation = _deviation(largest, std)
    if deviation is None or math.isinf(deviation):
        return f"[{low:.6g}, {high:.6g}]"
    power, _, last = _scaled(largest, deviation)
    exponent = f"e{power:+03d}" if power else ""
    ends = (
        _shown(Decimal(repr(float(end))).scaleb(-power), last) + exponent
        if math.isfinite(end)
        else f"{end:g}"
        for end in (low, high)
    )
    return f"[{', '.join(ends)}]"


def _deviation(value: float, std: float | None) -> float | None:
    """Return the deviation to write: None for None, NaN, 0, and what is lost in the value's round-off."""
    if std is None or math.isnan(std) or not math.isfinite(value) or abs(std) <= _ROUND_OFF * abs(value):
        return None
    return abs(std)


def _scaled(value: float, deviation: float) -> tuple[int, tuple[Decimal, Decimal], int]:
    """Return a power of ten to write behind both, 0 for none, both divided by it, and the place of the last digit."""
    exact, spread = Decimal(repr(float(value))), Decimal(repr(float(deviation)))
    last = _last_digit(spread)
    # Whichever is larger decides: 0.001(31.0) and 31.0(0.001) are both written around their leading digit.
    leading = max(exact.adjusted() if exact else last, spread.adjusted())
    if leading in _PLAIN and last < _PLAIN.stop:
        return 0, (exact, spread), last
    return leading, (exact.scaleb(-leading), spread.scaleb(-leading)), last - leading


def _shown(value: Decimal, last: int) -> str:
    """`value` down to 10^last, and to ones at least."""
    shown = f"{_round(value, min(last, 0)):f}"
    return shown.removeprefix("-") if not any(digit in "123456789" for digit in shown) else shown


def _last_digit(spread: Decimal) -> int:
    """Power of ten of the second significant digit, after rounding (0.0996 rounds to 0.10)."""
    return Decimal(f"{spread:.1e}").adjusted() - 1


def _digits(value: Decimal, spread: Decimal, last: int) -> str:
    """`value` rounded to 10^last, `spread` in units of the last digit shown."""
    rounded = _round(value, last)
    if last >= 0:
        return f"{int(rounded)}({int(_round(spread, last))})"
    shown = int(_round(spread, last).scaleb(-last))
    return f"{rounded:f}({shown})"


def _round(value: Decimal, last: int) -> Decimal:
    return value.scaleb(-last).quantize(Decimal(1), rounding=ROUND_HALF_EVEN).scaleb(last)


def format_factor(ahead: float) -> str:
    """Write e^ahead, by which one log evidence is ahead of another, as a person would.

    >>> format_factor(1.0), format_factor(27.6)
    ('2.7', '10^12')
    """
    return f"{math.exp(ahead):.2g}" if ahead < 10 else f"10^{ahead / math.log(10):.0f}"
