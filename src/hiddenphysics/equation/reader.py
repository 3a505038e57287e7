"""Text to tree, by a grammar of our own. Nothing is evaluated."""

from __future__ import annotations

from typing import Any, cast

from lark import Lark, Token, UnexpectedCharacters, UnexpectedToken

from hiddenphysics.equation.hints import unexpected_character, unexpected_token
from hiddenphysics.equation.limits import MAX_DEPTH, MAX_LITERAL, MAX_NAME, MAX_STATEMENTS
from hiddenphysics.equation.source import PlacedError, Source
from hiddenphysics.equation.tree import (
    BoundLine,
    Call,
    EquationLine,
    Line,
    Name,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Sum,
    deepest,
)

_GRAMMAR = r"""
start: line? (_SEPARATOR line?)*
?line: expression                                          -> equation
     | expression "=" expression                           -> equation
     | expression COMPARE expression (COMPARE expression)? -> bound
?expression: term
           | term (SIGN term)+                             -> sum
?term: factor
     | factor (TIMES factor)+                              -> product
?factor: power
       | SIGN factor                                       -> signed
?power: atom
      | atom POWER factor                                  -> power
?atom: NUMBER                                              -> number
     | NAME                                                -> name
     | NAME "(" expression ("," expression)* ")"           -> call
     | "(" expression ")"

NUMBER: /([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?/
NAME: /[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*/
POWER.2: "**" | "^"
TIMES: "*" | "/"
SIGN: "+" | "-"
COMPARE: /[<>]=?/
_SEPARATOR: /[;\n\r]/
%ignore /[ \t\f]+/
%ignore /#[^\n\r]*/
"""


def _alternating(items: list[Node | Token], first: str) -> tuple[tuple[str, Node], ...]:
    """Turn `[a, "-", b, "+", c]` into `(("+", a), ("-", b), ("+", c))`."""
    signs = [first, *(str(sign) for sign in items[1::2])]
    return tuple(zip(signs, cast("list[Node]", items[0::2]), strict=True))


class _Builder:
    """One method per rule of the grammar; lark calls them from the leaves up, without recursion."""

    def start(self, lines: list[Line]) -> tuple[Line, ...]:
        return tuple(lines)

    def equation(self, sides: list[Node]) -> EquationLine:
        left, *right = sides
        return EquationLine(left, right[0] if right else None, left.at)

    def bound(self, items: list[Node | Token]) -> BoundLine:
        parts = cast("list[Node]", items[0::2])
        return BoundLine(tuple(parts), tuple(str(sign) for sign in items[1::2]), parts[0].at)

    def sum(self, items: list[Node | Token]) -> Sum:
        terms = _alternating(items, "+")
        return Sum(terms, terms[0][1].at)

    def product(self, items: list[Node | Token]) -> Product:
        factors = _alternating(items, "*")
        return Product(factors, factors[0][1].at)

    def signed(self, items: tuple[Token, Node]) -> Node:
        sign, operand = items
        return operand if sign == "+" else Negative(operand, _at(sign))

    def power(self, items: list[Any]) -> Power:
        base, _, exponent = items
        return Power(base, exponent, base.at)

    def number(self, items: list[Token]) -> Number:
        (token,) = items
        if len(token) > MAX_LITERAL:
            raise PlacedError(
                _at(token), f"this number has {len(token)} digits; at most {MAX_LITERAL} are read"
            )
        return Number(str(token), _at(token))

    def name(self, items: list[Token]) -> Name:
        (token,) = items
        return Name(_name(token), _at(token))

    def call(self, items: list[Token | Node]) -> Call:
        name, *arguments = items
        token = cast("Token", name)
        return Call(_name(token), tuple(cast("list[Node]", arguments)), _at(token))


def _at(token: Token) -> int:
    return token.start_pos or 0


def _name(token: Token) -> str:
    if len(token) > MAX_NAME:
        raise PlacedError(_at(token), f"this name has {len(token)} characters; at most {MAX_NAME} are read")
    return str(token)


_PARSER = Lark(_GRAMMAR, parser="lalr", lexer="basic", transformer=_Builder())


def read(source: Source) -> tuple[Line, ...]:
    """Parse the text.

    Examples
    --------
    >>> read(Source("u_t = 2"))[0]
    EquationLine(left=Name(name='u_t', at=0), right=Number(text='2', at=6), at=0)
    """
    text = source.normalised
    _check_parentheses(text)
    try:
        lines = cast("tuple[Line, ...]", _PARSER.parse(text))
    except UnexpectedCharacters as error:
        raise unexpected_character(text, error.pos_in_stream or 0) from None
    except UnexpectedToken as error:
        raise _unexpected(text, error.token) from None
    if len(lines) > MAX_STATEMENTS:
        raise PlacedError(
            lines[MAX_STATEMENTS].at, f"{len(lines)} statements; at most {MAX_STATEMENTS} are read"
        )
    for line in lines:
        for side in line.sides if isinstance(line, EquationLine) else line.parts:
            depth, node = deepest(side)
            if depth > MAX_DEPTH:
                raise PlacedError(node.at, f"nested {depth} levels deep; at most {MAX_DEPTH} are read")
    return lines


def _unexpected(text: str, token: Token) -> PlacedError:
    """Explain by the words before; what comes after may not even be words."""
    at = len(text.rstrip()) if token.type == "$END" else _at(token)
    return unexpected_token(list(_PARSER.lex(text[:at])), token, at)


def _check_parentheses(text: str) -> None:
    """Point at the bracket that has no partner; the grammar alone would point at the end of the line."""
    opened: list[int] = []
    comment = False
    for at, character in enumerate(text):
        if character in "\n\r" or (character == ";" and not comment):
            if opened:
                break
            comment = False
        elif comment or character == "#":
            comment = True
        elif character == "(":
            opened.append(at)
        elif character == ")" and not opened:
            raise PlacedError(at, "this ) closes nothing: remove it, or add the ( it belongs to")
        elif character == ")":
            opened.pop()
    if opened:
        raise PlacedError(
            opened[-1], "this ( is never closed: a ) is missing before the end of the statement"
        )
