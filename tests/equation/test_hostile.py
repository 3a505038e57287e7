"""Text made to hurt: refused with an EquationError, or read, in bounded time and without running out of stack."""

from __future__ import annotations

import sys
import time
from contextlib import suppress

import pytest

from hiddenphysics.equation import Equation
from hiddenphysics.errors import EquationError


def dense_system(size, factor):
    rows = ("+".join(f"{factor(j, k)}*u{j}_t" for j in range(size)) + f" = u{k}" for k in range(size))
    return "\n".join(rows)


HOSTILE = {
    "code": "__import__('os').system('x')",
    "attribute": "u.__class__.__bases__",
    "ten megabytes": "(" * 10_000_000,
    "null bytes": "u_t = \0" * 1000,
    "brackets": "u_t = " + "(" * 4900 + "u" + ")" * 4900,
    "open brackets": "u_t = " + "(" * 9000,
    "calls": "u_t = " + "sin(" * 1900 + "u" + ")" * 1900,
    "minus": "u_t = " + "-" * 9000 + "u",
    "tower": "u_t = 9^9^9^9*u",
    "long tower": "u_t = " + "^".join(["9"] * 4000),
    "huge power": "u_t = 2^(10^9)",
    "huge literal": "u_t = 1e999999",
    "tiny literal": "u_t = 1e-999999",
    "zero with exponent": "u_t = 0e999999",
    "powers of powers": "u_t = ((10^20)^20)^20*u",
    "nested powers": "u_t = ((((u + u_x)^20)^20)^20)^20",
    "million": "u_t = d(u^1000000, x)",
    "multinomial": "u_t = (u + v + w)^200; v_t = 0; w_t = 0",
    "small multinomial": "u_t = (u + u_x + u_xx + u_xxx)^20",
    "products of sums": "u_t = " + "*".join(f"(u + a{k})" for k in range(200)),
    "long name": "a" * 5000 + "_t = 0",
    "statements": "\n".join(f"u{k}_t = 0" for k in range(900)),
    "hundred statements": "\n".join(f"u{k}_t + u{k}*u{k + 1}_x" for k in range(100)),
    "terms": "u_t = " + "+".join(["u_x"] * 2400),
    "different terms": "u_t = " + "+".join(f"a{k}*u" for k in range(1100)),
    "factors": "u_t = " + "*".join(f"a{k}" for k in range(1700)),
    "derivatives of factors": "u_t = d(" + "*".join(f"u{k}_x" for k in range(600)) + ", x)",
    "complex product": "i*h_t = " + "*".join(["h"] * 4000),
    "complex quotient": "i*h_t = " + "/".join(["h"] * 400),
    "complex power": "i*h_t = (h + h_x + h_xx)^20",
    "chain rule": "u_t = d(exp(sin(u)), x, 12)",
    "many chain rules": "u_t = " + "+".join(f"d(exp({k}*sin(u)), x, 4)" for k in range(1, 400)),
    "deep chain rule": "u_t = d(" + "exp(" * 26 + "u" + ")" * 26 + ", x, 3)",
    "laplacians": "u_t = " + "lap(" * 20 + "u*v" + ")" * 20 + "; v_t = 0",
    "numeric tower": "u_t = " + "exp(" * 28 + "9" + ")" * 28,
    "absolute values": "u_t = " + "abs(u + " * 14 + "u" + ")" * 14,
    "roots": "u_t = " + "sqrt(u^2 + " * 9 + "u" + ")" * 9,
    "sum of sines": "u_t = abs(" + "+".join(f"sin({k}*u)" for k in range(1, 300)) + ")",
    "symbolic tower": "u_t = " + "^".join(["a"] * 31) + "*u",
    "fractions": "u_t = " + "a/(b + u/(" * 7 + "u" + "))" * 7,
    "coupled": dense_system(6, lambda j, k: f"a{j}{k}"),
    "coupled, less": dense_system(4, lambda j, k: f"a{j}{k}"),
    "coupled functions": dense_system(3, lambda j, k: f"(a{j}{k} + sin(c{j}{k}))"),
    "root of a large number": "u_t = sqrt(" + "9" * 99 + "*u) + (" + "7" * 99 + "*u)^(1/3)",
    "quotients": "u_t = " + "/".join(["1e99"] * 1900) + "*u",
    "hidden zero": "u_t = u/(pi*(pi + 1) - pi^2 - pi)",
    "cancelling constant": "u_t = (pi - 3.14159265358979)^-20*u",
    "separators": ";\n" * 4999,
    "commas": "u_t = d(" + "u," * 4000 + "x)",
    "surrogates": "\ud800\udfff" * 2000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_bounded(name):
    start = time.process_time()
    with suppress(EquationError):
        str(Equation.parse(HOSTILE[name]))
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "wrap", ["exp({})", "abs(u + {})", "1/(a + {})", "-{}*a", "(a + {})^a", "({} + u)*a", "sqrt({})"]
)
def test_deepest_nesting_fits_a_small_stack(wrap):
    """Whatever the limit on depth admits must not come near Python's limit on recursion."""
    text = "u"
    deepest = None
    frames = 0
    frame = sys._getframe()
    while frame:
        frames, frame = frames + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(frames + 600)
    try:
        for _ in range(40):
            text = wrap.format(text)
            try:
                Equation.parse(f"u_t = {text}")
                deepest = text
            except EquationError:
                pass
    finally:
        sys.setrecursionlimit(limit)
    assert deepest is not None
