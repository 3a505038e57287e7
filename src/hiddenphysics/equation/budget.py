"""How large the expressions of an equation may become.

Their size is checked before SymPy is asked to do something that could take forever.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation.expressions import FUNCTIONS, multiply_out
from hiddenphysics.equation.fractional_operators import Fractional
from hiddenphysics.equation.numbers import fold_numbers
from hiddenphysics.equation.source import PlacedError

# Generous for any PDE, and small enough that no text costs seconds or gigabytes.
MAX_BITS = 1024  # numerator and denominator of an exact number
MAX_POWER = 20  # absolute value of a numeric exponent
MAX_ORDER = 12  # derivatives in one factor
MAX_TERMS = 500  # of the multiplied-out equation
MAX_WORK = 12_000  # SymPy nodes visited while an equation is built
MAX_COUPLED = 64  # terms in the determinant of the matrix before coupled time derivatives

DERIVATIVE_WORK = 3
"""Work of a derivative, in visits of a node: by the clock a chain rule takes SymPy three times what its nodes count.

SymPy builds every product anew, sorts it and multiplies it out.
"""

WORK_OF_A_FUNCTION, WORK_OF_A_BOUND = 30_000, 60_000
"""Further work that an unknown function is granted, without and with a bound: the derivative of its exponential repeats
that once for every cosine. `u_t = d(D(x)*u_x, x)` takes 18 000, a quarter of a second of a core, and 34 000 in a plane;
with a bound, and half as many cosines, 38 000, half a second."""

_TOO_MANY = f"multiplied out, this has more than {MAX_TERMS} terms: too large"


@dataclass
class Budget:
    """Work spent on one equation so far, and how much it may be."""

    spent: int = 0
    most: int = MAX_WORK

    @classmethod
    def granting(cls, functions: int, bounded: int) -> Budget:
        """Return the budget of an equation with so many unknown functions, of which some have a bound."""
        return cls(most=MAX_WORK + (functions - bounded) * WORK_OF_A_FUNCTION + bounded * WORK_OF_A_BOUND)

    def check(self, expr: sympy.Expr, at: int | None) -> sympy.Expr:
        """Return `expr`, or refuse it: too large, not finite, not real, or not something we can evaluate."""
        if self._terms(expr, at) > MAX_TERMS:
            raise PlacedError(at, _TOO_MANY)
        return expr

    def expanded(self, expr: sympy.Expr, at: int | None) -> sympy.Expr:
        """Multiply `expr` out. Checked again afterwards: a denominator may turn out to be zero."""
        return self.check(fold_numbers(multiply_out(self.check(expr, at)), at), at)

    def derivative(self, expr: sympy.Expr, symbol: sympy.Symbol, at: int | None) -> sympy.Expr:
        """Differentiate `expr` and gather like terms: a chain rule left as it falls grows without end."""
        if expr.has(Fractional):
            raise PlacedError(
                at,
                "a derivative of a fractional operator is not supported: raise the order instead, "
                "D(u, x, alpha + 1) or frac_lap(u, alpha + 2)",
            )
        # Differentiating a product of k factors makes k products of k factors, which are then multiplied out.
        for node in sympy.preorder_traversal(expr):
            self.spend(DERIVATIVE_WORK * len(node.args) ** 2, at)
        return self.expanded(expr.diff(symbol), at)

    def spend(self, work: int, at: int | None) -> None:
        """Count work; refuse the equation once it has taken too much."""
        self.spent += work
        if self.spent > self.most:
            raise PlacedError(at, "the equation is too large: split it up, or write it in fewer symbols")

    def _terms(self, expr: sympy.Expr, at: int | None) -> int:
        """Upper bound of the number of terms after multiplying out. Depth is bounded by that of the text."""
        self.spend(1, at)
        if isinstance(expr, sympy.Derivative):
            _check_derivative(expr, at)
            return 1
        if isinstance(expr, Fractional):
            return _inside(self._terms(expr.order, at), at)
        if isinstance(expr, AppliedUndef) or expr.is_Symbol or expr is sympy.pi:
            return 1
        if expr.is_Rational:
            _check_number(expr, at)
            return 1
        below = [self._terms(argument, at) for argument in expr.args]
        if expr.is_Add:
            return sum(below)
        if expr.is_Mul:
            return prod(below)
        if expr.is_Pow:
            return _power_terms(expr, below[0], at)
        if expr.func in FUNCTIONS:
            return _inside(below[0], at)
        raise PlacedError(at, _refusal(expr))


def _inside(terms: int, at: int | None) -> int:
    """Terms inside a function or a root stay there: they count as one outside, but must be few themselves."""
    if terms > MAX_TERMS:
        raise PlacedError(at, _TOO_MANY)
    return 1


def _check_derivative(expr: sympy.Derivative, at: int | None) -> None:
    if not isinstance(expr.expr, AppliedUndef):
        raise PlacedError(at, "a derivative of this expression has no closed form")
    counts = dict(expr.variable_count)
    if sum(counts.values()) > MAX_ORDER:
        raise PlacedError(at, f"a derivative of higher order than {MAX_ORDER} is not supported")


def _check_number(expr: sympy.Rational, at: int | None) -> None:
    if max(int(expr.p).bit_length(), int(expr.q).bit_length()) > MAX_BITS:
        raise PlacedError(at, "a number becomes too large or too small here")


def _power_terms(expr: sympy.Pow, terms: int, at: int | None) -> int:
    exponent = expr.exp
    if exponent.is_Rational and abs(exponent) > MAX_POWER:
        raise PlacedError(at, f"the power {exponent} is too high: at most {MAX_POWER} is supported")
    if not exponent.is_Integer:
        return _inside(terms, at)
    expanded = comb(abs(int(exponent)) + terms - 1, abs(int(exponent)))
    return expanded if exponent > 0 else _inside(expanded, at)


def _refusal(expr: sympy.Expr) -> str:
    if expr in (sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
        return "this divides by zero or is not finite"
    if expr is sympy.I:
        return "this is not a real number"
    return f"this leads to {type(expr).__name__}, which is not supported"
