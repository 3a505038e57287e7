"""`Journal`: a file that grows by one line of JSON at a time, each whole or absent, by one process at a time."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hiddenphysics.writer.whole_file import check_target, keep_others_out, refusal, synced

SUM = "sum"
"""First entry of every line: a checksum of the others."""
BEGINS, BEGAN = f'{{"{SUM}": "'.encode(), b'{"key": '
"""What a line begins with, and what it began with in earlier versions, which had no checksum."""
LONGEST = 2**26
"""Bytes of a line: no row of ours is longer than 1 MB; what is longer is no row."""


class Journal:
    """Rows of plain data, one line each.

    Parameters
    ----------
    path
        The file; it and its folder are made when it is first held.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    def read(self) -> Iterator[dict[str, Any]]:
        """Give the rows in order; lines that were cut short or changed are passed over."""
        if not self._path.is_file():  # nor is a pipe read, which might never end
            return
        with self._path.open("rb") as file:
            while line := file.readline(LONGEST):
                row = _row(line)
                if row is not None:
                    yield row

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep the file for this process alone, and cut off what a kill has left of a last line."""
        check_target(self._path, overwrite=True)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Not O_APPEND: what a failed write leaves is overwritten by the next one.
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as problem:
            raise refusal(self._path, problem) from problem
        try:
            keep_others_out(handle, self._path)
            self._handle = handle
            self._end_last_line()
            yield
        finally:
            self._handle = None
            os.close(handle)

    def append(self, row: dict[str, Any]) -> None:
        """Write a row, and see it on the disk; where that fails, nothing of it stays."""
        if self._handle is None:
            with self.held():
                self.append(row)
            return
        end = os.lseek(self._handle, 0, os.SEEK_END)
        try:
            synced(self._handle, (json.dumps({SUM: _sum(row)} | row) + "\n").encode())
        except BaseException as problem:
            with suppress(OSError):
                os.ftruncate(self._handle, end)
            if isinstance(problem, OSError):
                raise refusal(self._path, problem) from problem
            raise

    def _end_last_line(self) -> None:
        """Give a last line that lacks nothing else its end, and cut off one that was cut short."""
        assert self._handle is not None  # noqa: S101  # called while it is held
        with os.fdopen(os.dup(self._handle), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - LONGEST, 0))
            tail = file.read().rpartition(b"\n")[2]
        if not tail:
            return
        try:
            if _row(tail) is None:
                os.ftruncate(self._handle, size - len(tail))
            else:
                os.lseek(self._handle, 0, os.SEEK_END)
                synced(self._handle, b"\n")
        except OSError as problem:
            raise refusal(self._path, problem) from problem


def _row(line: bytes) -> dict[str, Any] | None:
    """Read a line; None where it is none of ours, or was changed."""
    if not line.startswith((BEGINS, BEGAN)):
        return None
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    told = row.pop(SUM, None)
    return row if line.startswith(BEGAN) or told == _sum(row) else None


def _sum(row: dict[str, Any]) -> str:
    # JSON gives back the very numbers and the order of what was written, so the sum can be made again.
    return hashlib.sha256(json.dumps(row).encode()).hexdigest()[:16]
