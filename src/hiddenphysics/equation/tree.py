"""The equation as the user wrote it: a small tree that keeps the order of terms and factors for printing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias


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

    parts: tuple[Node, ...]
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
