"""MATLAB files, versions 4 to 7.2."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.arrays import TIME_LAST, renamed, snapshots_from
from hiddenphysics.snapshots.readers.assembly import Arrays
from hiddenphysics.snapshots.readers.mat_format import variables
from hiddenphysics.snapshots.validation import Missing, numeric

SIGNATURE = b"\x89HDF\r\n\x1a\n"
"""Of HDF5, where the file is not MATLAB's own: at the beginning."""
VERSION_7_3 = (b"\x00\x02IM", b"\x02\x00MI")
"""The end of the header that MATLAB puts in front of HDF5: version and byte order."""


def read_mat(path: Path, columns: Mapping[str, str], missing: Missing) -> Snapshots:
    """Read time, coordinates and every array that fits them; other variables are passed over."""
    return snapshots_from(renamed(_load(path), columns), missing, TIME_LAST, all_fit=False)


def _load(path: Path) -> Arrays:
    content = memoryview(path.read_bytes())
    if bytes(content[:8]) == SIGNATURE or bytes(content[124:128]) in VERSION_7_3:
        raise DataError(
            "this is a MATLAB 7.3 file (HDF5), which is not read here. In MATLAB, load it and write it again"
            " with save('file.mat', '-v7')."
        )
    try:
        found = {name: values for name, values in variables(content) if values.size}
    except (ValueError, struct.error, zlib.error) as problem:
        raise DataError(
            f"this could not be read as a MATLAB file ({problem!s:.200}); write it again with"
            " save('file.mat', '-v7')."
        ) from problem
    return {name: numeric(name, values) for name, values in found.items()}
