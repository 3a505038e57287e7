"""What to type instead: suggestions for text that the grammar refuses."""

from __future__ import annotations

import unicodedata

from lark import Token

from hiddenphysics.equation.source import PlacedError

_CHARACTERS = {
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


def unexpected_character(text: str, at: int) -> PlacedError:
    """Explain a character that no word of the language contains."""
    character = text[at]
    shown = f"'{character}'" if character.isprintable() else f"U+{ord(character):04X}"
    hint = _CHARACTERS.get(character) or _greek(character)
    return PlacedError(at, f"the character {shown} is not understood" + (f": {hint}" if hint else ""))


def _greek(character: str) -> str:
    """λ is typed `lambda`; Unicode spells that one LAMDA."""
    words = unicodedata.name(character, "").split()
    if words[:1] != ["GREEK"] or "LETTER" not in words:
        return ""
    name = words[words.index("LETTER") + 1].lower().replace("lamda", "lambda")
    return f"write the name of the letter, {name}"


def unexpected_token(before: list[Token], token: Token, at: int) -> PlacedError:
    """Explain a known word in a place where the grammar, after the words `before`, has no use for it."""
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
