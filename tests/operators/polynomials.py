"""Polynomials in exact arithmetic: a world where operators can be applied, so that their algebra has a meaning."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import perm

from hiddenphysics.operators import Operator, Symbol

Polynomial = dict[tuple[int, ...], Fraction]
"""{exponents: coefficient}, without zeros; {(2, 1): 3} is 3 x² y."""


def add(p: Polynomial, q: Polynomial) -> Polynomial:
    total = {e: p.get(e, Fraction(0)) + q.get(e, Fraction(0)) for e in {*p, *q}}
    return {e: c for e, c in total.items() if c}


def scale(factor: Fraction, p: Polynomial) -> Polynomial:
    return {e: factor * c for e, c in p.items() if factor * c}


def differentiate(p: Polynomial, symbol: Symbol) -> Polynomial:
    """Take x^e to e!/(e−m)! x^(e−m) in every coordinate."""
    result: Polynomial = {}
    for exponents, coefficient in p.items():
        lowered = tuple(e - m for e, m in zip(exponents, symbol.orders, strict=True))
        if min(lowered) >= 0:
            for e, m in zip(exponents, symbol.orders, strict=True):
                coefficient *= perm(e, m)
            result[lowered] = coefficient
    return result


def apply(operator: Operator[Fraction], fields: Mapping[str, Polynomial]) -> Polynomial:
    """Σ c_j T_j z_f for polynomial fields and constant coefficients."""
    total: Polynomial = {}
    for latent, symbol, coefficient in operator:
        total = add(total, scale(coefficient, differentiate(fields[latent], symbol)))
    return total
