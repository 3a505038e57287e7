"""The equation as a small tree that keeps the order of terms and factors for printing.

The grammar makes it of the user's text, `to_tree` of a SymPy expression, so that one printer serves both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation.expressions import FUNCTIONS
from hiddenphysics.equation.fractional_operators import FractionalDerivative, FractionalLaplacian
from hiddenphysics.equation.names import SPACE, TIME

_DECIMALS = 20  # numbers with more digits than this are written as a fraction


@dataclass(frozen=True, slots=True)
class Number:
    """A literal such as `0.5`, kept as text."""

    text: str
    at: int = 0


@dataclass(frozen=True, slots=True)
class Name:
    """`u`, `u_xx`, `lambda_1`: what it stands for is decided later, by the whole system."""

    name: str
    at: int = 0


@dataclass(frozen=True, slots=True)
class Call:
    """`sin(u)`, `d(u, x, 3)`, `lap(u)`, `frac_lap(u, alpha)`."""

    function: str
    arguments: tuple[Node, ...]
    at: int = 0


@dataclass(frozen=True, slots=True)
class Power:
    """`base ^ exponent`."""

    base: Node
    exponent: Node
    at: int = 0


@dataclass(frozen=True, slots=True)
class Product:
    """Factors with the sign before each, `*` or `/`; the first one has `*`."""

    factors: tuple[tuple[str, Node], ...]
    at: int = 0


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms with the sign before each, `+` or `-`; the first one has `+`."""

    terms: tuple[tuple[str, Node], ...]
    at: int = 0


@dataclass(frozen=True, slots=True)
class Negative:
    """`-operand`."""

    operand: Node
    at: int = 0


Node: TypeAlias = Number | Name | Call | Power | Product | Sum | Negative


@dataclass(frozen=True, slots=True)
class EquationLine:
    """`left = right`; no right side means `= 0`."""

    left: Node
    right: Node | None
    at: int = 0

    @property
    def sides(self) -> tuple[Node, ...]:
        """The sides that were typed."""
        return (self.left,) if self.right is None else (self.left, self.right)


@dataclass(frozen=True, slots=True)
class BoundLine:
    """`0 < b < 1`: the compared expressions and the signs between them."""

    compared: tuple[Node, ...]
    signs: tuple[str, ...]
    at: int = 0


Line: TypeAlias = EquationLine | BoundLine


def children(node: Node) -> tuple[Node, ...]:
    """Direct parts of a node, in the order of the text."""
    match node:
        case Call():
            return node.arguments
        case Power():
            return (node.base, node.exponent)
        case Product():
            return tuple(factor for _, factor in node.factors)
        case Sum():
            return tuple(term for _, term in node.terms)
        case Negative():
            return (node.operand,)
        case _:
            return ()


def walk(*roots: Node) -> Iterator[Node]:
    """Every node below the roots, in the order of the text. No recursion: the depth is not checked yet."""
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def deepest(root: Node) -> tuple[int, Node]:
    """Depth of the tree below `root`, and a node at that depth. No recursion."""
    best = (0, root)
    stack = [(1, root)]
    while stack:
        depth, node = stack.pop()
        if depth > best[0]:
            best = (depth, node)
        stack.extend((depth + 1, child) for child in children(node))
    return best


def to_tree(expr: sympy.Expr) -> Node:
    """Write `expr` as a tree that reads back as it; terms and factors in SymPy's fixed order."""
    if expr.is_Add:
        return Sum(tuple(_signed(term) for term in expr.as_ordered_terms()))
    if expr.is_Rational and expr < 0:
        return Negative(to_tree(-expr))
    if expr.is_Mul or expr.is_Rational or (expr.is_Pow and expr.exp.is_Rational and expr.exp < 0):
        return _product(expr)
    if expr.is_Pow:
        return _power(expr.base, expr.exp)
    if isinstance(expr, sympy.Derivative):
        return Name(_derivative_name(expr))
    if isinstance(expr, AppliedUndef):
        return Name(expr.func.__name__)
    if isinstance(expr, FractionalLaplacian):
        return Call("frac_lap", (to_tree(expr.field), to_tree(expr.order)))
    if isinstance(expr, FractionalDerivative):
        return Call("D", (to_tree(expr.field), to_tree(expr.along), to_tree(expr.order)))
    if isinstance(expr, sympy.Function):
        return Call(FUNCTIONS[expr.func], (to_tree(expr.args[0]),))
    return Name("pi" if expr is sympy.pi else expr.name)


def _derivative_name(expr: sympy.Derivative) -> str:
    """`Derivative(u(t, x), (x, 2))` is `u_xx`."""
    counts = {symbol.name: int(count) for symbol, count in expr.variable_count}
    letters = "".join(letter * counts.get(letter, 0) for letter in (TIME, *SPACE))
    return f"{expr.expr.func.__name__}_{letters}"


def _signed(term: sympy.Expr) -> tuple[str, Node]:
    negative = term.as_coeff_Mul()[0].is_negative
    return ("-", to_tree(-term)) if negative else ("+", to_tree(term))


def _power(base: sympy.Expr, exponent: sympy.Expr) -> Node:
    if exponent == 1:
        return to_tree(base)
    if exponent == sympy.Rational(1, 2):
        return Call("sqrt", (to_tree(base),))
    return Power(to_tree(base), to_tree(exponent))


def _product(expr: sympy.Expr) -> Node:
    """Factors with positive exponents first, then those that divide."""
    coefficient, rest = expr.as_coeff_Mul()
    factors: list[tuple[str, Node]] = []
    below: list[tuple[str, Node]] = []
    decimal = _decimal(abs(coefficient))
    if decimal:
        factors.append(("*", Number(decimal)))
    else:
        factors += [("*", Number(str(abs(coefficient.p))))] * (abs(coefficient.p) != 1)
        below += [("/", Number(str(coefficient.q)))] * (coefficient.q != 1)
    for factor in rest.as_ordered_factors() if rest != 1 else ():
        base, exponent = factor.as_base_exp() if factor.is_Pow else (factor, sympy.Integer(1))
        if exponent.is_Rational and exponent < 0:
            below.append(("/", _power(base, -exponent)))
        else:
            factors.append(("*", _power(base, exponent)))
    tree = _joined(factors or [("*", Number("1"))], below)
    return Negative(tree) if coefficient < 0 else tree


def _joined(factors: list[tuple[str, Node]], below: list[tuple[str, Node]]) -> Node:
    if len(factors) > 1 and factors[0][1] == Number("1"):
        factors = factors[1:]
    together = (*factors, *below)
    return together[0][1] if len(together) == 1 else Product(together)


def _decimal(value: sympy.Rational) -> str:
    """`1/8` is `0.125`; nothing for numbers that no short decimal writes exactly."""
    denominator = int(value.q)
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    if denominator != 1:
        return ""
    # Powers of ten are exact in Decimal only as far as its precision: compare to be sure.
    decimal = Decimal(int(value.p)) / Decimal(int(value.q))
    text = str(decimal)
    exact = len(text) <= _DECIMALS and sympy.Rational(*decimal.as_integer_ratio()) == value
    return text if exact else ""
