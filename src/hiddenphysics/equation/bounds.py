"""Ranges of parameters, from statements such as `0 < b < 1` and from keyword arguments."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

import sympy

from hiddenphysics.equation.budget import MAX_ORDER
from hiddenphysics.equation.expressions import atoms_of
from hiddenphysics.equation.fractional_operators import MAX_UNKNOWN_ORDER, Fractional
from hiddenphysics.equation.lowering import Lowering
from hiddenphysics.equation.source import PlacedError
from hiddenphysics.equation.tree import BoundLine, Name, Node

Range = tuple[float, float]
EVERYTHING: Range = (-math.inf, math.inf)


def bounded_names(lines: Iterable[BoundLine]) -> list[str]:
    """Names of the parameters that statements bound."""
    return [
        node.name for line in lines for node in line.compared if isinstance(node, Name) and node.name != "pi"
    ]


def read_bounds(
    lines: Iterable[BoundLine], lowering: Lowering, functions: Collection[str] = ()
) -> list[tuple[str, Range, int]]:
    """Name, range and place of every bound in the text; also those of unknown functions, given by name."""
    bounds = []
    for line in lines:
        for left, sign, right in zip(line.compared[:-1], line.signs, line.compared[1:], strict=True):
            smaller, larger = (left, right) if sign[0] == "<" else (right, left)
            bounds.append(_bound(smaller, larger, line, lowering, functions))
    return bounds


def _bound(
    smaller: Node, larger: Node, line: BoundLine, lowering: Lowering, functions: Collection[str]
) -> tuple[str, Range, int]:
    match _number(smaller, lowering, functions), _number(larger, lowering, functions):
        case None, float() as high if isinstance(smaller, Name):
            return smaller.name, (-math.inf, high), smaller.at
        case float() as low, None if isinstance(larger, Name):
            return larger.name, (low, math.inf), larger.at
    raise PlacedError(line.at, "a bound compares one parameter with numbers: b > 0, or 0 < b < 1")


def _number(node: Node, lowering: Lowering, functions: Collection[str]) -> float | None:
    if isinstance(node, Name) and (node.name in lowering.constants or node.name in functions):
        return None  # has no number, or one that the bound is checked against later
    value = lowering.expression(node)
    return float(value.re) if value.is_real and value.re.is_number else None


def combine(ranges: Iterable[tuple[str, Range, int | None]]) -> dict[str, Range]:
    """Intersect all ranges of each name."""
    result: dict[str, Range] = {}
    for name, (low, high), at in ranges:
        before = result.get(name, EVERYTHING)
        low, high = max(before[0], low), min(before[1], high)
        if not low < high:
            raise PlacedError(at, f"no value of {name} lies between {low:g} and {high:g}")
        result[name] = (low, high)
    return result


def from_keywords(bounds: Mapping[str, tuple[float | None, float | None]]) -> list[tuple[str, Range, None]]:
    """Ranges given as `bounds={"b": (0, None)}`."""
    ranges = []
    for name, bound in bounds.items():
        try:
            low, high = bound
            pair = (-math.inf if low is None else float(low), math.inf if high is None else float(high))
        except (TypeError, ValueError):
            pair = (math.nan, math.nan)
        if any(map(math.isnan, pair)):
            message = (
                f"the bounds of {name} are a pair of numbers or None, such as (0, None), not {bound!r:.60}"
            )
            raise PlacedError(None, message)
        ranges.append((name, pair, None))
    return ranges


def within_orders(given: Mapping[str, Range], exprs: Iterable[sympy.Expr]) -> dict[str, Range]:
    """Complete the ranges of parameters that are orders of fractional operators: 0 ≤ α ≤ `MAX_UNKNOWN_ORDER`.

    A bound that was given must lie inside; where none was, the end of that range is the bound. An order that is a
    straight line in one parameter, such as 2 s + 1, bounds that parameter; other expressions bound nothing.
    """
    allowed = combine((name, ends, None) for name, ends in map(_range_of_parameter, _orders(exprs)) if name)
    for name, (low, high) in allowed.items():
        own = given.get(name, EVERYTHING)
        if (math.isfinite(own[0]) and not low <= own[0] <= high) or (
            math.isfinite(own[1]) and not low <= own[1] <= high
        ):
            message = (
                f"the bounds {own[0]:g} to {own[1]:g} of {name} leave {low:g} to {high:g}: the order of a fractional "
                f"operator lies between 0 and {MAX_UNKNOWN_ORDER} when it is sought (a known number may be as large as "
                f"{MAX_ORDER}). Type {max(low, own[0]):g} < {name} < {min(high, own[1]):g}"
            )
            raise PlacedError(None, message)
    return {**given} | {
        name: (max(low, given.get(name, EVERYTHING)[0]), min(high, given.get(name, EVERYTHING)[1]))
        for name, (low, high) in allowed.items()
    }


def _orders(exprs: Iterable[sympy.Expr]) -> list[sympy.Expr]:
    atoms = {atom for expr in exprs for atom in atoms_of(expr) if isinstance(atom, Fractional)}
    return sorted({atom.order for atom in atoms}, key=str)


def _range_of_parameter(order: sympy.Expr) -> tuple[str, Range]:
    """Return where the one parameter of a straight line may lie; no name for other expressions."""
    if len(order.free_symbols) != 1:
        return "", EVERYTHING
    (symbol,) = order.free_symbols
    slope = order.diff(symbol)
    if not slope.is_number or slope == 0:
        return "", EVERYTHING
    ends = [float((end - order.subs(symbol, 0)) / slope) for end in (0, MAX_UNKNOWN_ORDER)]
    return str(symbol.name), (min(ends), max(ends))
