"""Options that say what stands in a data file: which column is which, and the unit of time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from hiddenphysics.errors import DataError

Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME=COLUMN",
        help="Which column of the file is which: --column t=time --column x=position --column u=temperature; "
        "repeatable. Where a field is named, only the named ones are used.",
        show_default=False,
    ),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT",
        help="Unit in which dates and durations become numbers: ms, s, min, h, d, week, year; by default the span "
        "of the data chooses.",
        show_default=False,
    ),
]


Experiment = Annotated[
    list[str] | None,
    typer.Option(
        "--experiment",
        metavar="COLUMN",
        help="Column of the table whose values tell experiments apart, which share the parameters; repeatable. A "
        "folder of files is several experiments, too.",
        show_default=False,
    ),
]


def columns_by_name(words: Iterable[str]) -> dict[str, str]:
    """Read ``x=position`` into {"x": "position"}."""
    pairs: dict[str, str] = {}
    for word in words:
        name, equals, column = (part.strip() for part in word.partition("="))
        if not (name and equals and column):
            raise DataError(f"--column {word!r} was typed; needed is NAME=COLUMN, as in --column x=position.")
        if name in pairs:
            raise DataError(
                f"--column {name}= was typed twice, for {pairs[name]} and for {column}. Type it once."
            )
        pairs[name] = column
    return pairs
