"""`hiddenphysics.toml`: options for repeated work, under the names that they have on the command line.

    quiet = true                    # every command that has --quiet
    [identify]
    pde = "u_t + a*u*u_x - b*u_xx = 0"
    times = [2.0, 2.1]
    constant = {c = 3}              # or ["c=3"]
    [datasets.make]
    folder = "data"

What is typed on the command line wins. `force` has to be typed: no file may say that files are to be overwritten.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from hiddenphysics.errors import DataError

NAME = "hiddenphysics.toml"
"""Read from the working folder where it is there."""

LARGEST = 2**16
"""Bytes of a configuration file; ours have a few hundred."""

TYPED_ONLY = ("force", "help")
"""Options that no file may give."""


def defaults(path: Path, commands: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options in a file as the nested defaults of `commands`, by the names of their parameters.

    Parameters
    ----------
    path
        A TOML file. Options at the top are for every command that has them, those of a table for its command.
    commands
        Name -> command, or group of commands; as typer made them.
    """
    try:
        return _tables(_read(path), commands, {}, path)
    except DataError as error:
        raise typer.BadParameter(str(error), param_hint="--config") from None


def said(path: Path, command: Any, options: Mapping[str, Any]) -> str:
    """Say which options of a file a command takes, so that no result changes silently."""
    names = ", ".join(dict.fromkeys(_named(command, options)))
    return f"options of {path}: {names or 'none for this command'}"


def _named(command: Any, options: Mapping[str, Any]) -> Iterator[str]:
    if hasattr(command, "commands"):
        for name, below in command.commands.items():
            yield from _named(below, options.get(name, {}))
    else:
        yield from (parameter.opts[0] for parameter in command.params if parameter.name in options)


def _read(path: Path) -> dict[str, Any]:
    import tomllib  # here, for --help does without it

    from hiddenphysics.loader import check_regular

    size = check_regular(path)
    if size > LARGEST:
        raise DataError(f"{path} has {size} bytes; a configuration file has at most {LARGEST}.")
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise DataError(
            f'{path} is no TOML: {problem}. Write options as in: pde = "u_t - a*u_xx = 0".'
        ) from None


def _tables(
    given: dict[str, Any], commands: Mapping[str, Any], inherited: dict[str, Any], path: Path
) -> dict[str, Any]:
    """Hand the options at the top of `given` and those it inherits down to the commands that have them."""
    shared = {name: value for name, value in given.items() if name not in commands}
    known = {name for command in commands.values() for name in _all_options(command)}
    for name in shared:
        _check(name, known | set(commands), path, "any command")
    found: dict[str, Any] = {}
    for name, command in commands.items():
        own = given.get(name, {})
        if not isinstance(own, dict):
            raise DataError(
                f"{path}: {name} = {own!r:.60} was given; needed is a table of options, [{name}]."
            )
        if hasattr(command, "commands"):
            found[name] = _tables(own, command.commands, inherited | shared, path)
            continue
        options = dict(_options(command))
        for key in own:
            _check(key, set(options), path, name)
        chosen = {key: value for key, value in (inherited | shared).items() if key in options} | own
        found[name] = {
            options[key].name: _value(options[key], key, value, path) for key, value in chosen.items()
        }
    return found


def _options(command: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a command takes by name: its options without the dashes."""
    for parameter in command.params:
        yield from ((word[2:], parameter) for word in parameter.opts if word.startswith("--"))


def _all_options(command: Any) -> Iterator[str]:
    if hasattr(command, "commands"):
        for below in command.commands.values():
            yield from _all_options(below)
    else:
        yield from dict(_options(command))


def _check(name: str, known: set[str], path: Path, where: str) -> None:
    if name in TYPED_ONLY:
        raise DataError(
            f"{path}: {name} has to be typed, as --{name}: no file may say that. Take it out of the file."
        )
    if name not in known:
        from hiddenphysics.registry import did_you_mean

        raise DataError(
            f"{path}: {name!r} is no option of {where}{did_you_mean(name, sorted(known)) or '.'} "
            "Names are those of the command line without the dashes, as in time-limit."
        )


def _value(parameter: Any, name: str, value: Any, path: Path) -> Any:
    """Return a value as it would be typed: words, which the option itself then reads and checks."""
    if getattr(parameter, "is_flag", False):
        if not isinstance(value, bool):
            raise DataError(f"{path}: {name} = {value!r:.60} was given; needed is true or false.")
        return value
    if isinstance(value, dict):  # constant = {c = 3}
        value = [f"{key}={_word(part, name, path)}" for key, part in value.items()]
    if parameter.multiple:
        return [_word(part, name, path) for part in (value if isinstance(value, list) else [value])]
    return _word(value, name, path)


def _word(value: Any, name: str, path: Path) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise DataError(
            f"{path}: {name} = {value!r:.60} was given; needed is what one would type after --{name}."
        )
    return str(value)
