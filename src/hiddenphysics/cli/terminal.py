"""How a command answers and ends: text or one JSON document on stdout, a sentence for an error, an exit code."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer

from hiddenphysics.errors import (
    DataError,
    EquationError,
    HiddenPhysicsError,
    MissingExtraError,
    ModelError,
    WriteError,
)

OK, UNEXPECTED, USAGE, EQUATION, DATA, MODEL, EXTRA, DOUBTFUL, UNWRITTEN, FAILED, INTERRUPTED = (
    *range(10),
    130,
)

ENDINGS: dict[int, tuple[str, str]] = {
    OK: ("done", "done; a fit converged"),
    UNEXPECTED: ("unexpected", "a mistake of this program: please report what it printed"),
    USAGE: ("usage", "the command or the configuration file was typed wrongly"),
    EQUATION: ("equation", "the equation was not understood"),
    DATA: ("data", "the data cannot be used"),
    MODEL: ("model", "model, kernel or option do not fit equation and data"),
    EXTRA: ("extra", "an optional package is missing"),
    DOUBTFUL: ("doubtful", 'an answer was printed, but its status is not "converged"'),
    UNWRITTEN: ("unwritten", "a file, or what is printed, could not be written"),
    FAILED: ("failed", "of the fits of a reproduction some failed"),
    INTERRUPTED: ("interrupted", "interrupted; a fit that has numbers by then prints them and ends with 7"),
}
"""Every exit code: its word in JSON, and what it means. The help and docs/reference/cli.md say what stands here."""

EXIT_CODES = "Exit codes\n" + "\n".join(f"{code:>3} {meaning}" for code, (_, meaning) in ENDINGS.items())
"""The same as the last lines of a help page."""

_CODES: dict[type[HiddenPhysicsError], int] = {
    EquationError: EQUATION,
    DataError: DATA,
    ModelError: MODEL,
    MissingExtraError: EXTRA,
    WriteError: UNWRITTEN,
}


def failure(code: int, message: str) -> dict[str, Any]:
    """Return an error as JSON shows it."""
    return {"error": {"kind": ENDINGS[code][0], "exit_code": code, "message": message}}


def print_json(document: dict[str, Any]) -> None:
    """Print a document on stdout; only finite numbers may stand in it, for nothing else is JSON."""
    typer.echo(json.dumps(document, indent=2, allow_nan=False))


class Answer:
    """What a command has to say: printed as text at once, or kept for the one JSON document at its end."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self._document: dict[str, Any] = {}

    def tell(self, text: object, **data: Any) -> None:
        """Say something: `text` to a person, `data` to a program."""
        self.keep(**data)
        if not self.as_json:
            typer.echo(text)

    def keep(self, **data: Any) -> None:
        """Keep data for the document."""
        self._document |= data

    def wrote(self, *paths: Path | None, quiet: bool) -> None:
        """Name the files that were written; None is no file."""
        written = [str(path) for path in paths if path is not None]
        self.keep(files=written)
        for path in written if not quiet else ():
            typer.echo(f"wrote {path}", err=True)

    def fail(self, code: int, sentence: str, *, before: str = "error: ") -> NoReturn:
        """End the command with a sentence on stderr, which JSON holds, too."""
        typer.echo(f"{before}{sentence}", err=True)
        self.keep(**failure(code, sentence))
        raise typer.Exit(code) from None

    def close(self) -> None:
        """Print the document, if one was asked for."""
        if self.as_json:
            print_json(self._document)


@contextmanager
def sentences(*, as_json: bool = False, verbose: bool = False) -> Iterator[Answer]:
    """Yield the `Answer` of a command; turn errors of this library and of disks into a sentence and an exit code.

    Other errors stay tracebacks; with `verbose` these have one, too. With `as_json` stdout gets one JSON document,
    whatever happens: the answer, the error, or both, where an answer was there and its file could not be written.
    """
    answer = Answer(as_json=as_json)
    try:
        with _ending(answer, verbose):
            yield answer
    finally:
        answer.close()


@contextmanager
def _ending(answer: Answer, verbose: bool) -> Iterator[None]:
    try:
        yield
    except HiddenPhysicsError as error:
        if verbose:
            traceback.print_exc(file=sys.stderr)
        answer.fail(_CODES.get(type(error), UNEXPECTED), str(error))
    except BrokenPipeError:
        answer.as_json = False
        raise  # the reader of a pipe has seen enough, which needs no words
    except OSError as problem:
        answer.as_json &= (
            problem.filename is not None
        )  # without a name it is stdout, which takes no more words
        place = f"{problem.filename}: " if problem.filename else "what is printed could not be written: "
        answer.fail(
            UNWRITTEN, f"{place}{problem.strerror or problem}. Free some space, or choose another place."
        )
    except KeyboardInterrupt:
        answer.fail(INTERRUPTED, "interrupted", before="")
    except (typer.Exit, typer.TyperException):
        raise
    except Exception as bug:
        answer.keep(**failure(UNEXPECTED, f"{type(bug).__name__}: {bug}"))
        raise


def say_details(*paragraphs: str) -> None:
    """Say on stderr what was understood, for --verbose."""
    for paragraph in paragraphs:
        typer.echo(paragraph, err=True)
