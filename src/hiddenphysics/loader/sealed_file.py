"""Files that `writer.sealed` has made: the seal is compared before anything else looks at the bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from hiddenphysics.errors import DataError
from hiddenphysics.loader.limits import check_regular
from hiddenphysics.writer import FOOTER, MARK, checksum

AGAIN = "It was damaged or changed after it had been written. Copy it again, or make it again"


class Unsealed(NamedTuple):
    """What lies under a seal that is whole.

    Attributes
    ----------
    content
        All before the note.
    note
        What the writer has put there beside the content.
    """

    content: memoryview
    note: memoryview


def unseal(path: Path) -> Unsealed | None:
    """Read a sealed file; None where there is no seal, an error where it does not fit the bytes.

    This takes as much memory as the file is long, and nothing is unfolded.
    """
    size = check_regular(path)
    with path.open("rb") as file:
        if size < FOOTER.size:
            return None
        file.seek(size - FOOTER.size)
        length, mark, total = FOOTER.unpack(file.read(FOOTER.size))
        if mark != MARK:
            return None
        file.seek(0)
        whole = memoryview(file.read())
    end = len(whole) - FOOTER.size
    if length > end or checksum(whole[:-32]) != total:
        raise DataError(f"{path}: the checksum does not fit. {AGAIN}.")
    return Unsealed(whole[: end - length], whole[end - length : end])


def plain_data(content: bytes | memoryview | str, origin: str) -> Any:
    """Read JSON; whatever is wrong with it is a `DataError`."""
    try:
        told = content if isinstance(content, str) else bytes(content).decode("utf-8")
        return json.loads(told)
    except (ValueError, RecursionError) as problem:
        raise DataError(f"{origin} holds no readable JSON ({problem!s:.200}). {AGAIN}.") from problem
