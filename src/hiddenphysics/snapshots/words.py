"""How this room writes names and numbers inside a sentence."""

from __future__ import annotations

from collections.abc import Iterable


def names(items: Iterable[object], nothing: str = "none") -> str:
    """Join names for a sentence: ``"x, y and u"``; `nothing` when there are none."""
    words = [str(item) for item in items]
    if not words:
        return nothing
    if len(words) == 1:
        return words[0]
    return ", ".join(words[:-1]) + " and " + words[-1]


def number(value: float) -> str:
    """Write a number as a person would: six significant digits, no trailing zeros."""
    return f"{value:.6g}"


def plural(count: int, noun: str) -> str:
    """Count a noun: ``"1 point"``, ``"3 points"``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
