"""Numbers out of SymPy expressions, with whatever array library the caller brings; no code is generated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation.fractional import Fractional

_FUNCTIONS = {
    sympy.sin: "sin",
    sympy.cos: "cos",
    sympy.exp: "exp",
    sympy.log: "log",
    sympy.tanh: "tanh",
    sympy.Abs: "abs",
    sympy.sign: "sign",
}


def evaluate(expr: sympy.Expr, values: Mapping[sympy.Expr, Any], xp: Any) -> Any:
    """Evaluate `expr` with arrays for its symbols, fields and derivatives.

    Parameters
    ----------
    expr
        An expression of an `Equation`: sums, products, powers, elementary functions.
    values
        Array, or number, for every Symbol, field `u(t, x)`, Derivative and Fractional operator in `expr`.
    xp
        Array namespace, `numpy` or `jax.numpy`.

    Raises
    ------
    KeyError
        Something in `expr` has no value; the message names it.

    Examples
    --------
    >>> import numpy as np
    >>> a = sympy.Symbol("a", real=True)
    >>> evaluate(a**2 + sympy.sin(a), {a: np.zeros(2)}, np)
    array([0., 0.])
    """
    if expr.is_Number or expr is sympy.pi:
        return float(expr)
    if isinstance(expr, sympy.Symbol | AppliedUndef | sympy.Derivative | Fractional):
        try:
            return values[expr]
        except KeyError:
            raise KeyError(f"no value for {expr} was given") from None
    if expr.is_Pow and expr.base is not sympy.E:
        return _power(expr, values, xp)
    arguments = [evaluate(argument, values, xp) for argument in expr.args]
    if expr.is_Add:
        return sum(arguments[1:], start=arguments[0])
    if expr.is_Mul:
        result = arguments[0]
        for argument in arguments[1:]:
            result = result * argument
        return result
    if expr.func in _FUNCTIONS:
        return getattr(xp, _FUNCTIONS[expr.func])(arguments[0])
    raise TypeError(f"internal error: evaluate knows no {type(expr).__name__} (in {expr})")


def _power(expr: sympy.Pow, values: Mapping[sympy.Expr, Any], xp: Any) -> Any:
    base = evaluate(expr.base, values, xp)
    if expr.exp.is_Integer:
        return base ** int(expr.exp)  # exact for negative bases, and cheap to differentiate
    if expr.exp == sympy.Rational(1, 2):
        return xp.sqrt(base)
    return base ** evaluate(expr.exp, values, xp)
