"""Ranges of parameters, from statements such as `0 < b < 1` and from keyword arguments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from hiddenphysics.equation.lower import Lowering
from hiddenphysics.equation.source import PlacedError
from hiddenphysics.equation.tree import BoundLine, Name, Node

Range = tuple[float, float]
EVERYTHING: Range = (-math.inf, math.inf)


def bounded_names(lines: Iterable[BoundLine]) -> list[str]:
    """Names of the parameters that statements bound."""
    return [
        part.name for line in lines for part in line.parts if isinstance(part, Name) and part.name != "pi"
    ]


def read_bounds(lines: Iterable[BoundLine], lowering: Lowering) -> list[tuple[str, Range, int]]:
    """Name, range and place of every bound in the text."""
    found = []
    for line in lines:
        for left, sign, right in zip(line.parts[:-1], line.signs, line.parts[1:], strict=True):
            smaller, larger = (left, right) if sign[0] == "<" else (right, left)
            found.append(_bound(smaller, larger, line, lowering))
    return found


def _bound(smaller: Node, larger: Node, line: BoundLine, lowering: Lowering) -> tuple[str, Range, int]:
    match _number(smaller, lowering), _number(larger, lowering):
        case None, float() as high if isinstance(smaller, Name):
            return smaller.name, (-math.inf, high), smaller.at
        case float() as low, None if isinstance(larger, Name):
            return larger.name, (low, math.inf), larger.at
    raise PlacedError(line.at, "a bound compares one parameter with numbers: b > 0, or 0 < b < 1")


def _number(node: Node, lowering: Lowering) -> float | None:
    if isinstance(node, Name) and node.name in lowering.constants:
        return None  # a bound on a constant is a bound, checked against its value later
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
    found = []
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
        found.append((name, pair, None))
    return found
