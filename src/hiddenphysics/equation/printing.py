"""Trees as text and LaTeX, in the order the user typed, with numbers in the place of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hiddenphysics.equation.styles import Style
from hiddenphysics.equation.tree import Call, EquationLine, Name, Negative, Node, Number, Power, Product, Sum
from hiddenphysics.equation.uncertain import format_uncertain


@dataclass(frozen=True)
class Printer:
    """Prints trees in one style.

    `values` maps names to (value, standard deviation or None). The sign of a value moves to its term, so that
    `- b*u_xx` with b = -0.1 prints `+ 0.1 u_xx`.
    """

    style: Style
    values: Mapping[str, tuple[float, float | None]]

    def line(self, line: EquationLine) -> str:
        """`left = right`, with `= 0` when the user left it out."""
        right = "0" if line.right is None else self.sum(line.right)
        return f"{self.sum(line.left)} = {right}"

    def sum(self, node: Node) -> str:
        """Print a tree at the lowest precedence: signs stand before the terms."""
        terms = node.terms if isinstance(node, Sum) else (("+", node),)
        text = ""
        for k, (sign, term) in enumerate(terms):
            fraction = self._fraction(term)
            negative = fraction.negative != (sign == "-")
            text += (" - " if negative else " + ") if k else ("-" if negative else "")
            text += self._term(fraction)
        return text

    def _term(self, fraction: _Fraction) -> str:
        above = [f for f in fraction.above if f != Number("1", f.at)] or [Number("1")]
        # Numbers lead their product; the other factors keep the user's order.
        above.sort(key=lambda factor: not self._is_number(factor))
        if not fraction.below:
            return self._factors(above)
        bare = len(fraction.below) == 1
        below = self._factors(list(fraction.below))
        return self.style.fraction(self._factors(above), below, bare)

    def _factors(self, factors: list[Node]) -> str:
        return self.style.product([(self._factor(factor), self._is_number(factor)) for factor in factors])

    def _factor(self, node: Node) -> str:
        match node:
            case Power():
                return self.style.power(self._base(node.base), self._exponent(node.exponent))
            case Call():
                return self.style.call(node.function, [self.sum(a) for a in node.arguments])
            case Name():
                return self._name(node)
            case Number():
                return self.style.number(node.text)
            case _:
                return self.style.parentheses(self.sum(node))

    def _base(self, node: Node) -> str:
        text = self.sum(node)
        word = isinstance(node, Number | Name | Call)
        # 1.04(2)^2 and -1^2 would be read as something else.
        doubtful = isinstance(node, Name) and self._is_number(node) and not text.replace(".", "").isdigit()
        return text if word and not doubtful else self.style.parentheses(text)

    def _exponent(self, node: Node) -> str:
        text = self.sum(node)
        plain = isinstance(node, Number | Name | Call) and not text.startswith("-")
        return self.style.exponent(text, plain)

    def _name(self, node: Name) -> str:
        if node.name not in self.values:
            return self.style.name(node.name)
        value, std = self.values[node.name]
        return self.style.number(format_uncertain(abs(value), std))

    def _is_number(self, node: Node) -> bool:
        return isinstance(node, Number) or (isinstance(node, Name) and node.name in self.values)

    def _fraction(self, node: Node) -> _Fraction:
        """Collect sign, numerator and denominator of a term."""
        match node:
            case Negative():
                inner = self._fraction(node.operand)
                return _Fraction(not inner.negative, inner.above, inner.below)
            case Product():
                result = _Fraction(False, (), ())
                for sign, factor in node.factors:
                    result = result.times(self._fraction(factor), sign == "/")
                return result
            case Name() if node.name in self.values:
                return _Fraction(self.values[node.name][0] < 0, (node,), ())
            case _:
                return _Fraction(False, (node,), ())


@dataclass(frozen=True)
class _Fraction:
    """A term as sign, factors above and factors below the fraction bar."""

    negative: bool
    above: tuple[Node, ...]
    below: tuple[Node, ...]

    def times(self, other: _Fraction, inverse: bool) -> _Fraction:
        above, below = (other.below, other.above) if inverse else (other.above, other.below)
        return _Fraction(self.negative != other.negative, self.above + above, self.below + below)
