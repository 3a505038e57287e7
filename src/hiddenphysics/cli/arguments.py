"""How a command line is read: options with several values, ``name=value``, and files that may be written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hiddenphysics.errors import DataError, EquationError, ModelError

VARIADIC = ("--times", "--points")
"""Options that take several values at once: ``--times 2.0 2.1``, ``--points 71 69``."""

SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
"""Units of a duration."""


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


def names_by_name(words: Iterable[str]) -> dict[str, str]:
    """Read ``u=usol`` into {"u": "usol"}."""
    pairs: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name.strip() and equals and value.strip()):
            raise DataError(f"--field {word!r} was typed; needed is NAME=FIELD, as in --field u=usol.")
        pairs[name.strip()] = value.strip()
    return pairs


def files_by_name(words: Iterable[str]) -> dict[str, str]:
    """Read ``w=forcing.csv`` into {"w": "forcing.csv"}."""
    files: dict[str, str] = {}
    for word in words:
        name, equals, file = (part.strip() for part in word.partition("="))
        if not (name and equals and file):
            raise DataError(f"--input {word!r} was typed; needed is NAME=FILE, as in --input w=forcing.csv.")
        files[name] = file
    return files


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


def seconds_of(duration: str | None) -> float | None:
    """Read ``60``, ``90s``, ``10m`` or ``2h`` into seconds, ``none`` into infinity; None, nothing typed, stays None."""
    if duration is None:
        return None
    text = duration.strip().lower()
    if text == "none":
        return float("inf")
    unit = SECONDS.get(text[-1:])
    try:
        return float(text) if unit is None else float(text[:-1]) * unit
    except ValueError:
        raise ModelError(
            f"--time-limit {duration!r:.40} was typed; needed is a number of seconds, or one with its unit: "
            "--time-limit 60, 90s, 10m, 2h, or none for no limit."
        ) from None


def check_output(plot: Path | None, *files: Path | None, force: bool) -> None:
    """Refuse what may not be written, before the work and not after it; None is no file.

    `plot` is a picture. Only --force lets an existing file be replaced.
    """
    from hiddenphysics.writer import check_target  # here, for --help does without it

    if plot is not None:
        from hiddenphysics.result import check_picture

        check_picture(plot, overwrite=force)
    for path in files:
        if path is not None:
            check_target(path, overwrite=force)
    named = [path.resolve() for path in (plot, *files) if path is not None]
    if len(set(named)) < len(named):
        raise DataError(f"Two outputs were given one name, {named[0]}. Choose another name for one of them.")
