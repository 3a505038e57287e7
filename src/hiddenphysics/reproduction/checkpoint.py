"""Every finished fit is a row of plain data and a line of one file, written before the next: nothing is ever lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

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
        Made when it is not there.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        self._end_broken_line()

    def read(self) -> dict[str, Row]:
        """Return the fits by key, the last where a key occurs twice; lines that a kill cut short are passed over."""
        rows: dict[str, Row] = {}
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                try:
                    row = json.loads(line)
                except json.JSONDecodeError:
                    continue
                if isinstance(row, dict) and "key" in row:
                    rows[row["key"]] = row
        return rows

    def append(self, row: Row) -> None:
        """Write a fit, and see it on the disk."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _end_broken_line(self) -> None:
        """End a last line that was cut short, so that the next fit begins its own."""
        if self._path.exists() and self._path.stat().st_size:
            with self._path.open("rb+") as file:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.write(b"\n")
