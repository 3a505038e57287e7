"""The real and imaginary parts of complex fields and values.

A complex field `h` is two real ones, `h_re` and `h_im`, and a complex value is a pair of real expressions, so that an
equation with `i` splits by itself. A real value has imaginary part 0 and every operation on it is the real one.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import sympy

ZERO = sympy.Integer(0)
ONE = sympy.Integer(1)


def part_names(name: str) -> tuple[str, str]:
    """Names of the real and the imaginary part of a complex field."""
    return f"{name}_re", f"{name}_im"


class Pair(NamedTuple):
    """`re + i im` with real `re` and `im`."""

    re: sympy.Expr
    im: sympy.Expr = ZERO

    @property
    def is_real(self) -> bool:
        """Whether the imaginary part vanishes."""
        return bool(self.im == 0)


I = Pair(ZERO, ONE)  # noqa: E741  the imaginary unit has this letter


def add(values: list[Pair]) -> Pair:
    """Add all values at once: SymPy's Add is linear in the number of terms only this way."""
    return Pair(sympy.Add(*(v.re for v in values)), sympy.Add(*(v.im for v in values)))


def negative(a: Pair) -> Pair:
    """Return `-a`."""
    return Pair(-a.re, -a.im)


def multiply(a: Pair, b: Pair) -> Pair:
    """Return `a b`."""
    if a.is_real and b.is_real:
        return Pair(a.re * b.re)
    return Pair(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)


def reciprocal(a: Pair) -> Pair:
    """`1 / a`; for complex `a`, conj(a) / |a|²."""
    if a.is_real:
        return Pair(ONE / a.re)
    square = modulus_squared(a)
    return Pair(a.re / square, -a.im / square)


def modulus_squared(a: Pair) -> sympy.Expr:
    """`|a|²`."""
    return a.re**2 + a.im**2


def integer_power(a: Pair, n: int) -> Pair:
    """Return `a^n` by the binomial theorem, (x + iy)^n = Σ C(n,k) x^(n-k) i^k y^k."""
    if a.is_real:
        return Pair(a.re**n)
    if n < 0:
        upper, square = integer_power(Pair(a.re, -a.im), -n), modulus_squared(a)
        return Pair(upper.re * square**n, upper.im * square**n)
    terms = [comb(n, k) * a.re ** (n - k) * a.im**k * (-1) ** (k // 2) for k in range(n + 1)]
    return Pair(sympy.Add(*terms[0::2]), sympy.Add(*terms[1::2]))


def polar(modulus: sympy.Expr, angle: sympy.Expr) -> Pair:
    """`modulus · e^(i angle)`."""
    return Pair(modulus * sympy.cos(angle), modulus * sympy.sin(angle))
