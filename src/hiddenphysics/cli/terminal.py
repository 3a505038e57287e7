"""What a command says on stderr, and how it ends: progress while it works, a sentence for an error, an exit code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

EXIT_CODES = """
Exit codes: 0 identified; 2 the command was typed wrongly; 3 the equation was not understood;
4 the data cannot be used; 5 model, kernel or option do not fit equation and data; 6 an optional package is missing;
7 an answer was printed, but its status is not "converged"; 8 a file, or what is printed, could not be written;
9 of the fits of a reproduction some failed; 130 interrupted.
"""

_CODES: dict[type[HiddenPhysicsError], int] = {
    EquationError: EQUATION,
    DataError: DATA,
    ModelError: MODEL,
    MissingExtraError: EXTRA,
    WriteError: UNWRITTEN,
}


@contextmanager
def sentences() -> Iterator[None]:
    """Turn errors of this library and of disks into a sentence and an exit code; other errors stay tracebacks."""
    try:
        yield
    except HiddenPhysicsError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(_CODES.get(type(error), UNEXPECTED)) from None
    except BrokenPipeError:
        raise  # the reader of a pipe has seen enough, which needs no words
    except OSError as problem:
        place = f"{problem.filename}: " if problem.filename else "what is printed could not be written: "
        typer.echo(
            f"error: {place}{problem.strerror or problem}. Free some space, or choose another place.",
            err=True,
        )
        raise typer.Exit(UNWRITTEN) from None
    except KeyboardInterrupt:
        typer.echo("interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def stages(quiet: bool, *, timed: bool = True) -> Iterator[Callable[[str], None]]:
    """Yield a function that announces a stage: beside a spinner on a terminal, a line each elsewhere.

    With the elapsed time, unless what speaks here tells it (`timed=False`).
    """
    if quiet:
        yield lambda stage: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    began = time.perf_counter()

    def worded(stage: str) -> str:
        return f"{stage} ({time.perf_counter() - began:.0f} s)" if timed else stage

    if not console.is_terminal:
        yield lambda stage: console.print(worded(stage), markup=False, soft_wrap=True)
        return
    with console.status("starting") as status:
        yield lambda stage: status.update(worded(stage))


@contextmanager
def progress_bar(name: str, quiet: bool) -> Iterator[Callable[[float], None]]:
    """Yield a function that takes the finished part: a bar on a terminal, a line for every tenth elsewhere."""
    if quiet:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(name)
        return
    with Progress(*Progress.get_default_columns(), TimeElapsedColumn(), console=console) as shown:
        task = shown.add_task(name, total=1.0)
        yield lambda done: shown.update(task, completed=done)


def _lines(name: str) -> Callable[[float], None]:
    """Return a function that prints every tenth of the work once."""
    told = -1

    def tell(done: float) -> None:
        nonlocal told
        if int(10 * done) > told:
            told = int(10 * done)
            typer.echo(f"{name}: {10 * told} %", err=True)

    return tell
