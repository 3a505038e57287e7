"""``name=value`` as typed on a command line."""

from __future__ import annotations

from collections.abc import Iterable

from hiddenphysics.errors import DataError, EquationError


def names_by_name(words: Iterable[str]) -> dict[str, str]:
    """Read ``u=usol`` into {"u": "usol"}."""
    pairs: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise DataError(f"--field {word!r} was typed; needed is NAME=COLUMN, as in --field u=usol.")
        pairs[name.strip()] = value.strip()
    return pairs


def numbers_by_name(words: Iterable[str]) -> dict[str, float]:
    """Read ``c=3`` into {"c": 3.0}."""
    numbers: dict[str, float] = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            numbers[name.strip()] = float(value)
        except ValueError:
            message = f"--constant {word!r} was typed; needed is NAME=NUMBER, as in --constant c=3."
            raise EquationError(message) from None
    return numbers
