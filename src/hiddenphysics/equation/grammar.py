"""Text to tree, by a grammar of our own, and what to type instead of text that it refuses. Nothing is evaluated."""

from __future__ import annotations

import unicodedata
from typing import Any, cast

from lark import Lark, Token, UnexpectedCharacters, UnexpectedToken

from hiddenphysics.equation.source import (
    MAX_DEPTH,
    MAX_LITERAL,
    MAX_NAME,
    MAX_STATEMENTS,
    PlacedError,
    Source,
)
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
     | NAME "(" expression ")" SUBSCRIPT                   -> differentiated
     | "(" expression ")"

NUMBER: /([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?/
NAME: /[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*/
SUBSCRIPT: /_[txyz]+/
POWER.2: "**" | "^"
TIMES: "*" | "/"
SIGN: "+" | "-"
COMPARE: /[<>]=?/
_SEPARATOR: /[;\n\r]/
%ignore /[ \t\f]+/
%ignore /#[^\n\r]*/
"""

_INSTEAD_OF = {  # a character that the language does not have -> what to type
    "∂": "write derivatives with a subscript: u_t, u_xx",
    "∇": "write lap(u) for the Laplacian, u_x for a derivative",
    "Δ": "write lap(u) for the Laplacian",
    "²": "write ^2",
    "³": "write ^3",
    "√": "write sqrt(...)",
    ".": "a point stands only inside a number, such as 0.5",
    "_": "a name begins with a letter; a subscript follows one underscore, as in u_xx or lambda_1",
    "[": "use parentheses ( )",
    "]": "use parentheses ( )",
    "{": "use parentheses ( )",
    "}": "use parentheses ( )",
    "'": "write derivatives with a subscript: u_x for u'",
    "|": "write abs(...) for the absolute value",
    "\\": "write names without a backslash: alpha, not \\alpha",
    ":": "statements are separated by ; or by a new line",
}
_STARTS_A_FACTOR = {"NUMBER", "NAME", "LPAR"}
_ENDS_A_FACTOR = {"NUMBER", "NAME", "RPAR"}


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
        compared = cast("list[Node]", items[0::2])
        return BoundLine(tuple(compared), tuple(str(sign) for sign in items[1::2]), compared[0].at)

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

    def differentiated(self, items: list[Token | Node]) -> Node:
        """`lap(psi)_t` is d(lap(psi), t)."""
        *call, subscript = items
        token = cast("Token", subscript)
        node: Node = self.call(call)
        for letter in str(token)[1:]:
            node = Call("d", (node, Name(letter, _at(token))), node.at)
        return node


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
        raise _unexpected_character(text, error.pos_in_stream or 0) from None
    except UnexpectedToken as error:
        raise _unexpected_token(text, error.token) from None
    if len(lines) > MAX_STATEMENTS:
        raise PlacedError(
            lines[MAX_STATEMENTS].at, f"{len(lines)} statements; at most {MAX_STATEMENTS} are read"
        )
    for line in lines:
        for side in line.sides if isinstance(line, EquationLine) else line.compared:
            depth, node = deepest(side)
            if depth > MAX_DEPTH:
                raise PlacedError(node.at, f"nested {depth} levels deep; at most {MAX_DEPTH} are read")
    return lines


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


def _unexpected_character(text: str, at: int) -> PlacedError:
    """Explain a character that no word of the language contains."""
    character = text[at]
    shown = f"'{character}'" if character.isprintable() else f"U+{ord(character):04X}"
    hint = _INSTEAD_OF.get(character) or _greek(character)
    return PlacedError(at, f"the character {shown} is not understood" + (f": {hint}" if hint else ""))


def _greek(character: str) -> str:
    """λ is typed `lambda`; Unicode spells that one LAMDA."""
    words = unicodedata.name(character, "").split()
    if words[:1] != ["GREEK"] or "LETTER" not in words:
        return ""
    name = words[words.index("LETTER") + 1].lower().replace("lamda", "lambda")
    return f"write the name of the letter, {name}"


def _unexpected_token(text: str, token: Token) -> PlacedError:
    """Explain a known word in a place where the grammar has no use for it.

    Only the words before it are looked at: what comes after may not even be words.
    """
    at = len(text.rstrip()) if token.type == "$END" else _at(token)
    before = list(_PARSER.lex(text[:at]))
    previous = before[-1] if before and before[-1].type != "_SEPARATOR" else None
    return PlacedError(at, _sentence(token, previous, before))


def _sentence(token: Token, previous: Token | None, before: list[Token]) -> str:
    after = f" after '{previous}'" if previous is not None else ""
    if previous is not None and token.type in _STARTS_A_FACTOR and previous.type in _ENDS_A_FACTOR:
        return f"a sign is missing between '{previous}' and '{token}': write {previous}*{token}"
    if token.type in ("$END", "_SEPARATOR"):
        return f"the statement ends too early: expected a name, a number or ({after}"
    if token.type == "EQUAL" and previous is not None and previous.type == "EQUAL":
        return "write a single = between the two sides"
    if token.type == "EQUAL" and any(other.type == "EQUAL" for other in _statement(before)):
        return "a statement has at most one =: separate statements by ; or by a new line"
    if token.type == "COMMA":
        return "a comma stands only between the arguments of a function, as in d(u, x, 2)"
    if token.type == "RPAR" and previous is not None and previous.type == "LPAR":
        return "expected an expression between the parentheses"
    if token.type in ("COMPARE", "EQUAL"):
        return f"'{token}' is not expected{after}; a bound is its own statement: b > 0, or 0 < b < 1"
    if token.type == "POWER" and previous is not None and previous.type in ("TIMES", "POWER"):
        return f"'{token}' is not expected{after}: a power is written u^2 or u**2"
    return f"expected a name, a number or ({after}, got '{token}'"


def _statement(before: list[Token]) -> list[Token]:
    """Return the tokens of the statement that the last token belongs to."""
    starts = [index for index, token in enumerate(before) if token.type == "_SEPARATOR"]
    return before[starts[-1] + 1 :] if starts else before
