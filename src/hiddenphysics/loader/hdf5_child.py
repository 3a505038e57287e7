"""Run by `Trial` as a script: visits everything in a file of HDF5, under limits of memory and time.

Ends with 0 where all could be read, with 3 and a sentence where it is refused, otherwise as the library has it.
"""

from __future__ import annotations

import math
import signal
import sys
from typing import Any

MEMORY = 2**29
"""Bytes of address space beside what is there after the imports."""
MOST_READ = 2**26
"""Bytes of values that are read; of larger files only so many, but all that describes them."""
BLOCK = 2**20
"""Values that are read at once."""
MOST_OBJECTS = 10_000
REFUSED = 3
PLACEHOLDER = "This is a netCDF dimension but not a netCDF variable."
"""How netCDF marks an axis without values, which takes no room whatever its length."""


class Refusal(Exception):  # noqa: N818  # it carries a sentence to the parent
    """The file is refused, for a reason that can be told."""


def visit(path: str, most: int) -> None:
    """Read everything that describes the file, and of its values so many."""
    import h5py

    left, unfolded, objects = MOST_READ, 0, 0

    def look(name: str, item: Any) -> None:
        nonlocal left, unfolded, objects
        objects += 1
        if objects > MOST_OBJECTS:
            raise Refusal(f"it holds more than {MOST_OBJECTS} objects.")
        attributes = {key: item.attrs[key] for key in item.attrs}
        if not isinstance(item, h5py.Dataset) or PLACEHOLDER in str(attributes.get("NAME", "")):
            return
        if item.external or item.is_virtual:
            raise Refusal(f"its variable {name!r:.60} points to other files, which are not followed.")
        unfolded += 8 * item.size
        if unfolded > most:
            raise Refusal(
                f"it would unfold to {unfolded / 8:.3g} numbers or more, {unfolded / most:.3g} times what is allowed "
                "for a compressed file of this size. Write it without compression, if you trust it."
            )
        if item.dtype.kind in "iufc" and item.size:
            left -= read(item, left)

    with h5py.File(path, "r") as file:
        dict(file.attrs)
        file.visititems(look)


def read(item: Any, most: int) -> int:
    """Read values from the beginning, block by block; return the bytes."""
    if item.ndim == 0:
        item[()]
        return 8
    row = 8 * max(math.prod(item.shape[1:]), 1)
    if row > 8 * BLOCK:
        if most > 0:
            item[(slice(0, 1), *(slice(0, 64) for _ in item.shape[1:]))]
        return 0
    count = min(item.shape[0], max(most, 0) // row)
    step = max(8 * BLOCK // row, 1)
    for start in range(0, count, step):
        item[start : min(start + step, count)]
    return count * row


def limit(seconds: float) -> None:
    """Let this process use so much time and memory, where the system can tell."""
    try:
        import resource
    except ImportError:
        return
    with open("/proc/self/statm") if sys.platform == "linux" else open("/dev/null") as file:  # noqa: PTH123
        words = file.read().split()
    used = int(words[0]) * resource.getpagesize() if words else 2**30
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.setitimer(signal.ITIMER_REAL, seconds)  # ends the process, whatever the library is doing


def main() -> None:
    """Visit the file that is named on the command line."""
    path, most, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    try:
        import h5py  # noqa: F401  # before the limit, which is for what comes after

        limit(seconds)
        visit(path, most)
    except Refusal as refusal:
        told = str(refusal)
    except Exception as problem:
        told = f"the library that reads HDF5 refuses it ({type(problem).__name__}: {problem!s:.200}). Write it again."
    else:
        return
    sys.stdout.buffer.write(told.encode("utf-8", "replace"))
    sys.stdout.flush()
    sys.exit(REFUSED)


if __name__ == "__main__":
    main()
