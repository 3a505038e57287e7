"""Unknown functions in the text, `D(x)`, `c(t)`, `f(u)`: sums of known ones whose coefficients are parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hiddenphysics.equation.names import FUNCTIONS, PI, SPACE, TIME, is_reserved
from hiddenphysics.equation.source import PlacedError
from hiddenphysics.equation.tree import (
    Call,
    EquationLine,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Sum,
    walk,
)

_NAME = re.compile(r"[A-Za-z][0-9]*")
"""A letter, perhaps with digits: a longer word before a parenthesis is more likely a known function, misspelt."""

COSINES_OF_PLACE, COSINES_OF_BOUNDED, COSINES_OF_FIELD = 40, 20, 10
"""Cosines of an unknown function of a coordinate or the time, without and with a bound, and of a field: forty half
waves over one and a half times the range show a step to within a twenty-sixth of it; what a field's values tell is
smoother. With twenty, of a step in D(x) that is wide as a fifteenth of the range 84 % of the points were within the
95 % band, with forty 95 % (25 draws, 19 November 2026). A bound makes them factors of each other: of forty SymPy takes
3 s and not 0.6."""

BEYOND = 0.25
"""How far beyond the data, on both sides and in parts of their range, the cosines go on: all of them are level at their
ends, which a function need not be where its data end. Solin & Särkkä (2020), Stat. Comput. 30, 419. With none of it the
end of u − u³ lay off by five deviations."""

Ranges = Mapping[str, tuple[float, float]]
"""Least and largest value of coordinates, the time and fields, by name."""

UNKNOWN_RANGE = (0.0, 1.0)
"""Of an argument without data."""


@dataclass(frozen=True)
class UnknownFunction:
    """Σ_j c_j φ_j(s) with s from 0 to 1 over somewhat more than the data's range: φ = 1, for fields s, then cos(π j s).

    One that has a bound is b ± c_0 exp(Σ_j c_j cos(π j s)) with c_0 > 0: it never gets there, and its logarithm has the
    prior. One between two bounds, b and b + w, is b + c_0 / (p + (1 − p) exp(−Σ_j c_j cos(π j s))) with p = c_0 / w: a
    logistic curve, whose logit has the prior, and b + c_0 where it is a constant.

    Attributes
    ----------
    name, argument
        As typed: `f` and `u` in `f(u)`.
    low, high
        Least and largest value of the argument.
    coefficients
        Names of the c_j among the parameters; the first `flat` of them, a constant and for fields a line, are free, the
        others carry a prior.
    bound, sign
        What it lies above, with sign 1, or below, with −1; 0 where nothing was said.
    width
        How far from that the other bound is; infinite where there is one.
    """

    name: str
    argument: str
    low: float
    high: float
    coefficients: tuple[str, ...]
    flat: int
    bound: float = 0.0
    sign: int = 0
    width: float = math.inf

    def within(self, low: float, high: float) -> UnknownFunction:
        """Return the function with a bound, below or above, or with both; without one where both are infinite."""
        if not (math.isfinite(low) or math.isfinite(high)):
            return self
        cosines = self.coefficients[self.flat : self.flat + COSINES_OF_BOUNDED]
        names = (self.coefficients[0], *cosines)
        bound, sign = (float(low), 1) if math.isfinite(low) else (float(high), -1)
        return replace(
            self, coefficients=names, flat=1, bound=bound, sign=sign, width=float(high) - float(low)
        )

    @property
    def limits(self) -> tuple[float, float]:
        """Between which values it lies."""
        if self.sign < 0:
            return -math.inf, self.bound
        return (self.bound, self.bound + self.width) if self.sign else (-math.inf, math.inf)

    @property
    def waves(self) -> tuple[float, ...]:
        """Waves of every function φ over the range that the cosines have; 0 for the free ones."""
        cosines = len(self.coefficients) - self.flat
        return (0.0,) * self.flat + tuple(count / 2 for count in range(1, cosines + 1))

    @property
    def ends(self) -> tuple[float, float]:
        """Where the cosines begin and end."""
        more = BEYOND * (self.high - self.low)
        return self.low - more, self.high + more

    @property
    def call(self) -> str:
        """As it is typed."""
        return f"{self.name}({self.argument})"

    def tree(self, at: int) -> Node:
        """Return the sum that stands for a call."""
        start, end = self.ends
        away = Sum((("+", Name(self.argument, at)), ("-", _number(start, at))), at)
        s = Product((("*", away), ("/", _number(end - start, at))), at)
        constant = Name(self.coefficients[0], at)
        terms: list[tuple[str, Node]] = [] if self.sign else [("+", constant)]
        if self.flat > 1:
            terms.append(("+", Product((("*", Name(self.coefficients[1], at)), ("*", s)), at)))
        for j, name in enumerate(self.coefficients[self.flat :], start=1):
            angle = Product((("*", Number(str(j), at)), ("*", Name(PI, at)), ("*", s)), at)
            terms.append(("+", Product((("*", Name(name, at)), ("*", Call("cos", (angle,), at))), at)))
        whole = Sum(tuple(terms), at)
        if not self.sign:
            return whole
        if math.isfinite(self.width):
            part = Product((("*", constant), ("/", _number(self.width, at))), at)
            rest = Sum((("+", Number("1", at)), ("-", part)), at)
            shrunk = Product((("*", rest), ("*", Call("exp", (Negative(whole, at),), at))), at)
            grown = Product((("*", constant), ("/", Sum((("+", part), ("+", shrunk)), at))), at)
        else:
            grown = Product((("*", constant), ("*", Call("exp", (whole,), at))), at)
        return Sum((("+", _number(self.bound, at)), ("+" if self.sign > 0 else "-", grown)), at)


def unknown_functions(
    lines: Sequence[EquationLine], fields: Sequence[str], taken: Sequence[str], ranges: Ranges
) -> tuple[UnknownFunction, ...]:
    """Find the unknown functions in equations.

    Parameters
    ----------
    fields, taken
        Names of the fields, and all that mean something else than a function.
    ranges
        Of the arguments.
    """
    found: dict[str, UnknownFunction] = {}
    for call in _calls(lines, taken):
        argument = _argument(call, fields)
        name = call.function
        if name in found and found[name].argument != argument:
            raise PlacedError(
                call.at,
                f"{name} is a function of {found[name].argument} elsewhere; give this one another name",
            )
        of_field = argument in fields
        flat, cosines = (2, COSINES_OF_FIELD) if of_field else (1, COSINES_OF_PLACE)
        low, high = ranges.get(argument, UNKNOWN_RANGE)
        names = tuple(f"{name}_{j}" for j in range(flat + cosines))
        clash = next((one for one in names if one in taken), None)
        if clash:
            raise PlacedError(
                call.at, f"{clash} names a coefficient of {name}({argument}); rename the parameter"
            )
        found[name] = UnknownFunction(name, argument, float(low), float(high), names, flat)
    return tuple(found.values())


def _calls(lines: Sequence[EquationLine], taken: Sequence[str]) -> Iterator[Call]:
    """Yield the calls of what is no known function, and no field or parameter."""
    for line in lines:
        for node in walk(*line.sides):
            if not isinstance(node, Call) or node.function in taken or is_reserved(node.function):
                continue
            single = len(node.arguments) == 1 and isinstance(node.arguments[0], Name)
            if node.function in FUNCTIONS and not (node.function == "D" and single):
                continue
            if _NAME.fullmatch(node.function):
                yield node


def _argument(call: Call, fields: Sequence[str]) -> str:
    known = (TIME, *SPACE, *fields)
    if len(call.arguments) != 1:
        raise PlacedError(
            call.at,
            f"an unknown function such as {call.function} has one argument, a coordinate, t or a field: "
            f"{call.function}(x), {call.function}(u)",
        )
    node = call.arguments[0]
    if not isinstance(node, Name):
        raise PlacedError(
            node.at,
            f"an unknown function such as {call.function} takes a coordinate, t or a field by its bare name: "
            f"{call.function}(x), {call.function}(u)",
        )
    if node.name not in known:
        raise PlacedError(
            node.at, f"{call.function} is a function of {node.name}, which is no field and no coordinate here"
        )
    return node.name


def expanded(line: EquationLine, functions: Sequence[UnknownFunction]) -> EquationLine:
    """Return a line with the sums in place of the calls."""
    by_name = {one.name: one for one in functions}
    left = _expanded(line.left, by_name)
    return EquationLine(left, None if line.right is None else _expanded(line.right, by_name), line.at)


def _expanded(node: Node, functions: Mapping[str, UnknownFunction]) -> Node:
    match node:
        case Call() if node.function in functions and len(node.arguments) == 1:
            return functions[node.function].tree(node.at)
        case Call():
            return replace(node, arguments=tuple(_expanded(one, functions) for one in node.arguments))
        case Power():
            return Power(_expanded(node.base, functions), _expanded(node.exponent, functions), node.at)
        case Product():
            return Product(tuple((sign, _expanded(one, functions)) for sign, one in node.factors), node.at)
        case Sum():
            return Sum(tuple((sign, _expanded(one, functions)) for sign, one in node.terms), node.at)
        case Negative():
            return Negative(_expanded(node.operand, functions), node.at)
    return node


def _number(value: float, at: int) -> Node:
    number = Number(repr(abs(float(value))), at)
    return Negative(number, at) if value < 0 else number
