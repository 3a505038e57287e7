"""Three ways to write the same tree: to be read, to be typed again, to be typeset."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from hiddenphysics.equation.names import split_derivative

_GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|upsilon|phi|chi"
    "|psi|omega|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Upsilon|Phi|Psi|Omega"
)
_LATEX_FUNCTIONS = {"sin": r"\sin", "cos": r"\cos", "exp": r"\exp", "log": r"\log", "tanh": r"\tanh"}


# How fractional operators begin in LaTeX; the subscript of a parameter D_1 stands in braces.
_FRACTIONAL = re.compile(r"\(-\\Delta\)\^|D_[xyz]\^")
_WORD = re.compile(r"\S+")


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
            case "D":
                return rf"D_{arguments[1]}^{{{arguments[2]}}} {first}"
            case "abs":
                return rf"\left|{first}\right|"
            case "sqrt":
                return rf"\sqrt{{{first}}}"
            case "conj":
                return rf"\overline{{{first}}}"
        name = _LATEX_FUNCTIONS.get(function, rf"\operatorname{{{function}}}")
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
