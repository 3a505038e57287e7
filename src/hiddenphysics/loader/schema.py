"""What plain data must look like, said in the words of the data: checks that are put together like the data are.

>>> check = record({"name": text, "sizes": listing(finite)}, {"note": optional(text)})
>>> check({"name": "u", "sizes": [1.0, 2]}, "file")
>>> check({"name": "u", "sizes": [1.0, None]}, "file")
Traceback (most recent call last):
    ...
hiddenphysics.loader.schema.Mismatch: file.sizes[1] is None; a finite number is needed
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

Check: TypeAlias = Callable[[Any, str], None]
"""Takes a value and the words for its place; raises `Mismatch` where the value is not what it should be."""


class Mismatch(ValueError):  # noqa: N818  # it is about data, and becomes a `DataError` with the name of the file
    """A value is not what its place needs."""

    def __init__(self, value: object, place: str, needed: str) -> None:
        super().__init__(f"{place} is {value!r:.60}; {needed} is needed")


def text(value: Any, place: str) -> None:
    """Take text."""
    if not isinstance(value, str):
        raise Mismatch(value, place, "text")


def number(value: Any, place: str) -> None:
    """Take a number, which may be infinite or NaN; a whole one only where a float holds every digit of it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mismatch(value, place, "a number")
    if isinstance(value, int) and abs(value) > 2**53:
        raise Mismatch(f"an integer of {value.bit_length()} bits", place, "a number")


def finite(value: Any, place: str) -> None:
    """Take a finite number."""
    number(value, place)
    if not math.isfinite(value):
        raise Mismatch(value, place, "a finite number")


def integer(value: Any, place: str) -> None:
    """Take a whole number, 0 or more, that an array could be as long as."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**48:
        raise Mismatch(value, place, "a whole number, 0 or more")


def one_of(words: Collection[Any]) -> Check:
    """Take one of these."""

    def check(value: Any, place: str) -> None:
        if isinstance(value, list | dict) or value not in words:
            raise Mismatch(value, place, f"one of {', '.join(map(str, words))}")

    return check


def optional(inner: Check) -> Check:
    """Take None, or what `inner` takes."""

    def check(value: Any, place: str) -> None:
        if value is not None:
            inner(value, place)

    return check


def listing(inner: Check, *, length: int | None = None) -> Check:
    """Take a list of what `inner` takes, of any length or of the given one."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, list) or (length is not None and len(value) != length):
            raise Mismatch(value, place, "a list" if length is None else f"a list of {length}")
        for k, one in enumerate(value):
            inner(one, f"{place}[{k}]")

    return check


def mapping(inner: Check, *, names: Collection[str] | None = None) -> Check:
    """Take a mapping of names to what `inner` takes; of any names, or of exactly these."""

    def check(value: Any, place: str) -> None:
        if not isinstance(value, dict) or (names is not None and set(value) != set(names)):
            needed = "a mapping" if names is None else f"a mapping of {', '.join(names)}"
            raise Mismatch(value, place, needed)
        for name, one in value.items():
            inner(one, f"{place}.{name:.60}")

    return check


def record(needed: Mapping[str, Check], further: Mapping[str, Check] | None = None) -> Check:
    """Take a mapping that has all needed names, may have the further ones, and whose values fit."""
    known = dict(further or {}) | dict(needed)

    def check(value: Any, place: str) -> None:
        if not isinstance(value, dict):
            raise Mismatch(value, place, "a mapping")
        for name in needed:
            if name not in value:
                raise Mismatch(f"without {name}", place, f"a mapping with {name}")
        for name, one in value.items():
            if name in known:
                known[name](one, f"{place}.{name}")

    return check
