"""MATLAB files: versions 4 to 7.2 in a format of their own, 7.3 in HDF5."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

from hiddenphysics.errors import DataError
from hiddenphysics.loader import check_whole
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.arrays import TIME_LAST, named, snapshots_from
from hiddenphysics.snapshots.readers.hdf5 import SIGNATURE, matlab_arrays
from hiddenphysics.snapshots.readers.mat_format import variables
from hiddenphysics.snapshots.readers.request import Request

VERSION_7_3 = (b"\x00\x02IM", b"\x02\x00MI")
"""The end of the header that MATLAB puts in front of HDF5: version and byte order."""


def read_mat(path: Path, request: Request) -> Snapshots:
    """Read time, coordinates and every array that fits them; other variables are passed over."""
    with path.open("rb") as file:
        start = file.read(128)
    new = start[:8] == SIGNATURE or start[124:128] in VERSION_7_3
    given = named(matlab_arrays(path) if new else _earlier(path), request)
    return snapshots_from(given, request.missing, TIME_LAST, all_fit=False, origin=path.name)


def _earlier(path: Path) -> dict[str, Any]:
    check_whole(path)
    try:
        return {name: values for name, values in variables(memoryview(path.read_bytes())) if values.size}
    except (ValueError, struct.error, zlib.error) as problem:
        raise DataError(
            f"this could not be read as a MATLAB file ({problem!s:.200}); write it again with"
            " save('file.mat', '-v7')."
        ) from problem
