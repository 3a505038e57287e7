"""Trees as text and LaTeX, in the order the user typed, with numbers in the place of parameters.

A `Printer` puts signs, numbers and parentheses in their places; a `Style` writes the pieces, to be typed again, to be
read, or to be typeset.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from hiddenphysics.equation.names import split_derivative
from hiddenphysics.equation.numbers import format_uncertain
from hiddenphysics.equation.tree import Call, EquationLine, Name, Negative, Node, Number, Power, Product, Sum

_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon|phi|chi"
    "|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
_LATEX_FUNCTIONS = {"sin": r"\sin", "cos": r"\cos", "exp": r"\exp", "log": r"\log", "tanh": r"\tanh"}
# How fractional operators begin in LaTeX; the subscript of a parameter D_1 stands in braces.
_FRACTIONAL = re.compile(r"\(-\\Delta\)\^|D_[xyz]\^")
_WORD = re.compile(r"\S+")


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


class Style(ABC):
    """How the pieces of a tree are put together. The text styles share all but the sign of a product."""

    @abstractmethod
    def product(self, factors: list[tuple[str, bool]]) -> str:
        """Join factors; the flag says that a factor is a number."""

    def fraction(self, above: str, below: str, bare: bool) -> str:
        """`above / below`; `bare` when below is a single factor."""
        return f"{above}/{below if bare else self.parentheses(below)}"

    def power(self, base: str, exponent: str) -> str:
        """Write `base ^ exponent`."""
        return f"{base}^{exponent}"

    def exponent(self, text: str, plain: bool) -> str:
        """Write an exponent, in parentheses unless it is one word."""
        return text if plain else self.parentheses(text)

    def parentheses(self, text: str) -> str:
        """`( text )`."""
        return f"({text})"

    def call(self, function: str, arguments: list[str]) -> str:
        """`function(arguments)`."""
        return f"{function}({', '.join(arguments)})"

    def name(self, name: str) -> str:
        """Write a field, derivative, coordinate or parameter."""
        return name

    def number(self, text: str) -> str:
        """Write a number, perhaps with its uncertainty."""
        return text


class Typed(Style):
    """Text that the parser reads back: `2*u*u_x`."""

    def product(self, factors: list[tuple[str, bool]]) -> str:
        """Join with `*`."""
        return "*".join(text for text, _ in factors)


class Read(Style):
    """Text for people: `2 u u_x`."""

    def product(self, factors: list[tuple[str, bool]]) -> str:
        """Join by spaces; two numbers side by side get a dot."""
        return _juxtapose(factors, " · ", " ")


class Latex(Style):
    r"""LaTeX mathematics: `2\, u u_{x}`."""

    def product(self, factors: list[tuple[str, bool]]) -> str:
        r"""Join by spaces, a thin one after a number; two numbers get `\cdot`.

        An operator without parentheses of its own gets some, or it would act on the factors after it.
        """
        *before, last = factors
        guarded = [(self.parentheses(text) if _FRACTIONAL.match(text) else text, n) for text, n in before]
        return _juxtapose([*guarded, last], r" \cdot ", " ", r"\, ")

    def fraction(self, above: str, below: str, bare: bool) -> str:
        r"""`\frac{above}{below}`."""
        return rf"\frac{{{above}}}{{{below}}}"

    def power(self, base: str, exponent: str) -> str:
        """Operators get parentheses, or the power would be read as theirs."""
        operator = base.startswith((r"\partial", r"\nabla")) or _FRACTIONAL.match(base)
        return f"{self.parentheses(base) if operator else base}^{exponent}"

    def exponent(self, text: str, plain: bool) -> str:
        """Braces group; parentheses are not needed."""
        return f"{{{text}}}"

    def parentheses(self, text: str) -> str:
        """Parentheses that grow."""
        return rf"\left({text}\right)"

    def call(self, function: str, arguments: list[str]) -> str:
        """Functions, and derivatives of expressions in operator form."""
        first = arguments[0]
        match function:
            case "d":
                order = f"^{{{arguments[2]}}}" if len(arguments) == 3 else ""
                return rf"\partial_{{{arguments[1]}}}{order}{self.parentheses(first)}"
            case "lap":
                return rf"\nabla^2 {self.parentheses(first)}"
            case "frac_lap":
                order = arguments[1] if _WORD.fullmatch(arguments[1]) else self.parentheses(arguments[1])
                return rf"(-\Delta)^{{{order}/2}} {first}"
            case "D" if len(arguments) == 3:  # of one argument, it is somebody's unknown function
                return rf"D_{arguments[1]}^{{{arguments[2]}}} {first}"
            case "abs":
                return rf"\left|{first}\right|"
            case "sqrt":
                return rf"\sqrt{{{first}}}"
            case "conj":
                return rf"\overline{{{first}}}"
        name = _LATEX_FUNCTIONS.get(
            function, function if len(function) == 1 else rf"\operatorname{{{function}}}"
        )
        return f"{name}{self.parentheses(first)}"

    def name(self, name: str) -> str:
        r"""`lambda_1` is `\lambda_{1}`, `u_xx` is `u_{xx}`, `speed` is `\mathrm{speed}`."""
        base, letters = split_derivative(name)
        stem, *subscripts = base.split("_")
        word = rf"\{stem}" if _GREEK.fullmatch(stem) else stem if len(stem) == 1 else rf"\mathrm{{{stem}}}"
        marks = ",".join([*subscripts, letters] if letters else subscripts)
        return f"{word}_{{{marks}}}" if marks else word

    def number(self, text: str) -> str:
        r"""`1.23(45)e-09` is `1.23(45) \times 10^{-9}`."""
        match = re.fullmatch(r"(.*?)[eE]([+-]?\d+)", text)
        return rf"{match[1]} \times 10^{{{int(match[2])}}}" if match else text


def _juxtapose(
    factors: list[tuple[str, bool]], between_numbers: str, space: str, after_number: str = ""
) -> str:
    text, previous = factors[0]
    for factor, is_number in factors[1:]:
        gap = between_numbers if previous and is_number else (after_number or space) if previous else space
        text, previous = text + gap + factor, is_number
    return text
