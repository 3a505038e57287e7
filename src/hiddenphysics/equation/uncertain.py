"""Numbers with their uncertainty in the last digits: 1.038(14) means 1.038 ± 0.014."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal

_ROUND_OFF = 1e-14
_PLAIN = range(-5, 7)  # decimal exponents of the value that are written without e


def format_uncertain(value: float, std: float | None) -> str:
    """Write `value` with two significant digits of its standard deviation.

    Without a usable `std` (None, NaN, 0 or lost in the round-off of `value`) the value has six significant
    digits and no bracket; an infinite one shows as `(inf)`.

    Examples
    --------
    >>> format_uncertain(1.0379, 0.0142), format_uncertain(12.4, 31), format_uncertain(1234, 151)
    ('1.038(14)', '12(31)', '1230(150)')
    >>> format_uncertain(1.234e-9, 4.5e-10), format_uncertain(0.1, None)
    ('1.23(45)e-09', '0.1')
    """
    if std is None or math.isnan(std) or not math.isfinite(value) or abs(std) <= _ROUND_OFF * abs(value):
        return f"{value:.6g}"
    if math.isinf(std):
        return f"{value:.6g}(inf)"
    exact, spread = Decimal(repr(float(value))), Decimal(repr(abs(float(std))))
    last = _last_digit(spread)
    # Whichever is larger decides: 0.001(31.0) and 31.0(0.001) are both written around their leading digit.
    leading = max(exact.adjusted() if exact else last, spread.adjusted())
    if leading in _PLAIN and last < _PLAIN.stop:
        return _digits(exact, spread, last)
    return f"{_digits(exact.scaleb(-leading), spread.scaleb(-leading), last - leading)}e{leading:+03d}"


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
