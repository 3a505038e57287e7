"""Exit codes, and the one place where errors become a sentence on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from hiddenphysics.errors import DataError, EquationError, HiddenPhysicsError, MissingExtraError, ModelError

OK, UNEXPECTED, USAGE, EQUATION, DATA, MODEL, EXTRA, DOUBTFUL, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 7, 130

EXIT_CODES = """
Exit codes: 0 identified; 2 the command was typed wrongly; 3 the equation was not understood;
4 the data cannot be used; 5 model, kernel or option do not fit equation and data; 6 an optional package is missing;
7 an answer was printed, but its status is not "converged"; 130 interrupted.
"""

_CODES: dict[type[HiddenPhysicsError], int] = {
    EquationError: EQUATION,
    DataError: DATA,
    ModelError: MODEL,
    MissingExtraError: EXTRA,
}


@contextmanager
def sentences() -> Iterator[None]:
    """Turn the library's errors into their message on stderr and an exit code; other errors stay tracebacks."""
    try:
        yield
    except HiddenPhysicsError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(_CODES.get(type(error), UNEXPECTED)) from None
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None
