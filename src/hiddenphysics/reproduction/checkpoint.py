"""Every finished fit is a row of plain data and a line of one file, written before the next: nothing is ever lost."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from hiddenphysics.loader import Mismatch, listing, mapping, number, optional, record, text
from hiddenphysics.writer import Journal

FILE = "fits.jsonl"

FAILED, BUILT, SEARCHED = "failed", "built", "searched"
"""How fits end besides the ways of `identify`: without an answer, in a rehearsal, by the authors' search."""
IDENTIFIED = ("converged", "at_bound")
"""How fits end whose data determine the parameters."""

Row = dict[str, Any]
"""A fit as plain data, ready for JSON."""


def failure(reason: str, seconds: float = 0.0) -> Row:
    """Return the row of a fit without an answer."""
    return {"status": FAILED, "explanation": reason, "parameters": {}, "seconds": seconds}


class Checkpoint:
    """The finished fits of a folder.

    Parameters
    ----------
    folder
        Made when the first fit is written.
    """

    def __init__(self, folder: Path) -> None:
        self._journal = Journal(folder / FILE)

    def read(self) -> dict[str, Row]:
        """Return the fits by key, the last where a key occurs twice.

        What a kill has cut short, or was changed since, is passed over: those fits are made again.
        """
        return {row["key"]: row for row in self._journal.read() if _is_row(row)}

    def held(self) -> AbstractContextManager[None]:
        """Keep other processes from writing here."""
        return self._journal.held()

    def append(self, row: Row) -> None:
        """Write a fit, and see it on the disk."""
        self._journal.append(row)


def _is_row(row: Row) -> bool:
    """Whether everything that a report looks at is there, and of its kind."""
    estimate = record(
        {"estimate": number, "std": optional(number), "interval95": listing(optional(number), length=2)}
    )
    curve = record(
        {"t": number, "axes": listing(listing(number)), "mean": listing(number), "std": listing(number)}
    )
    try:
        record(
            {
                "key": text,
                "digest": text,
                "status": text,
                "explanation": text,
                "parameters": mapping(estimate),
                "seconds": number,
            },
            {
                "end": mapping(number),
                "bounds": mapping(optional(number)),
                "curves": mapping(listing(curve)),
                "equation": text,
            },
        )(row, "row")
    except Mismatch:
        return False
    return True
