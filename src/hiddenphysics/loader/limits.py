"""How much a file may become, and what counts as a file: asked before it is opened, and before it is unfolded."""

from __future__ import annotations

import stat
from pathlib import Path

from hiddenphysics.errors import DataError

SMALLEST_LIMIT = 2**27
"""Bytes that any file may unfold to, as numbers of 8 bytes: 134 MB.

Reading takes up to five times as much at its peak, so that a file below 8 MB stays below 1 GB (`benchmarks.fuzz`).
"""
RATIO = 16
"""Larger files may unfold to so many times their size: measured fields compress to a half or a tenth."""

MOST_WHOLE = 2**29
"""Bytes of a file that is read whole, as tables are: 537 MB. pandas needs up to six times as much for a moment."""

SHOWN = 60
"""Characters of a word from a file that a message shows."""


def check_regular(path: Path) -> int:
    """Refuse what is no plain file, such as a pipe, from which reading might never return; return the size."""
    try:
        found = path.stat()
    except OSError as problem:
        raise DataError(f"{path} could not be opened ({problem.strerror}); check the name.") from problem
    except ValueError as problem:
        raise DataError(f"{str(path)!r:.200} is no name of a file ({problem}).") from problem
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a device, a pipe or a socket"
        raise DataError(f"{path} is {kind}, and no file. Give the name of a file.")
    return found.st_size


def check_whole(path: Path) -> int:
    """Refuse a file that is too large to be read whole; return the size."""
    size = check_regular(path)
    if size > MOST_WHOLE:
        raise DataError(
            f"it has {size / 1e6:.0f} MB, and a file of this kind is read into memory whole, at most"
            f" {MOST_WHOLE / 1e6:.0f} MB. Write the arrays as .npz, netCDF or Zarr, of which any size stays on disk."
        )
    return size


def most_unfolded(size: int) -> int:
    """Return the bytes that a file of this size may unfold to, as numbers of 8 bytes."""
    return max(SMALLEST_LIMIT, RATIO * size)


def check_unfolded(values: int, size: int, remedy: str) -> None:
    """Refuse a file that would unfold to more numbers than is allowed; `remedy` says what to do instead."""
    if 8 * values > most_unfolded(size):
        raise DataError(
            f"its {size} bytes would unfold to {values} numbers, {8 * values / most_unfolded(size):.3g} times what is "
            f"allowed for a compressed file of this size. {remedy}"
        )


def cut(word: object) -> str:
    """Show at most so much of what stands in a file.

    >>> cut("abc" * 100)
    'abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc… (300 characters)'
    """
    told = str(word)
    return told if len(told) <= SHOWN else f"{told[:SHOWN]}… ({len(told)} characters)"
