"""What a name can stand for, and the SymPy objects behind names.

This is the only file that makes SymPy symbols, and only from names that the pattern below admits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import sympy

from hiddenphysics.equation.source import MAX_NAME
from hiddenphysics.errors import EquationError

TIME = "t"
SPACE = ("x", "y", "z")
IMAGINARY = "i"
PI = "pi"
ELEMENTARY = ("sin", "cos", "exp", "log", "tanh", "sqrt", "abs", "sign")
COMPLEX_PARTS = ("re", "im", "conj")
DERIVATIVES = ("d", "lap")
FRACTIONAL = ("frac_lap", "D")
FUNCTIONS = (*ELEMENTARY, *COMPLEX_PARTS, *DERIVATIVES, *FRACTIONAL)

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
_DERIVATIVE = re.compile(r"(?P<base>.+?)(?P<subscripts>(_[txyz]+)+)")
# `d`, `D` and `re` may be parameters, they are functions only before a parenthesis; `sin` may not.
_RESERVED = {TIME, *SPACE, IMAGINARY, PI, *ELEMENTARY}


def split_derivative(name: str) -> tuple[str, str]:
    """Return base and letters of a derivative written by subscript.

    Examples
    --------
    >>> split_derivative("u_xx"), split_derivative("h_re_t"), split_derivative("lambda_1")
    (('u', 'xx'), ('h_re', 't'), ('lambda_1', ''))
    """
    match = _DERIVATIVE.fullmatch(name)
    return (match["base"], match["subscripts"].replace("_", "")) if match else (name, "")


def is_reserved(name: str) -> bool:
    """Whether the language already uses this name for a coordinate, a constant or a function."""
    return name in _RESERVED


def check_name(name: str, role: str) -> None:
    """Refuse a name from outside the text (`fields=`, `constants=`, `bounds=`) that the language cannot use."""
    if not isinstance(name, str) or len(name) > MAX_NAME or not _NAME.fullmatch(name):
        raise EquationError(f"{name!r:.80} cannot name a {role}: use letters, digits and _, a letter first")
    if is_reserved(name):
        raise EquationError(f"'{name}' cannot name a {role}: the language uses it; rename it")


def coordinate(name: str) -> sympy.Symbol:
    """Return the real symbol of `t`, `x`, `y` or `z`."""
    return _symbol(name)


def parameter(name: str) -> sympy.Symbol:
    """Return the real symbol of a parameter."""
    return _symbol(name)


def field(name: str, coordinates: Sequence[str]) -> sympy.Expr:
    """Return the real function `name(t, *coordinates)`."""
    arguments = [_symbol(TIME), *(_symbol(c) for c in coordinates)]
    return sympy.Function(_checked(name), real=True)(*arguments)


def _symbol(name: str) -> sympy.Symbol:
    return sympy.Symbol(_checked(name), real=True)


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise EquationError(f"{name!r:.80} is not a name")
    return name
