"""Options that take several values at once: ``--times 2.0 2.1``, ``--points 71 69``."""

from __future__ import annotations

VARIADIC = ("--times", "--points")


def spread(args: list[str]) -> list[str]:
    """Return the arguments with ``--times 2 3`` written as ``--times 2 --times 3``, which is what typer reads."""
    written: list[str] = []
    current: str | None = None
    fresh = False
    for argument in args:
        if argument in VARIADIC:
            current, fresh = argument, True
        elif current is not None and not fresh and _is_number(argument):
            written.append(current)
        else:
            current = current if fresh else None
            fresh = False
        written.append(argument)
    return written


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
