"""NetCDF made in memory, and the seal behind what is kept: a checksum that tells when any byte was changed.

HDF5 knows how long its part of a file is and does not look behind it, so a sealed file is netCDF for everybody.
"""

from __future__ import annotations

import hashlib
import io
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

MARK = b"\nhiddenphysics seal\n"
FOOTER = struct.Struct(f"<Q{len(MARK)}s32s")
"""The end of a sealed file: length of the note before it, the mark, SHA-256 of all that comes before the sum."""


def in_memory(dataset: xr.Dataset, encoding: Mapping[Any, Any] | None = None) -> bytes:
    """Return a data set as the bytes of a netCDF-4 file: on a full disk HDF5 would end the process."""
    buffer = io.BytesIO()
    dataset.to_netcdf(buffer, engine="h5netcdf", encoding=dict(encoding or {}))
    return buffer.getvalue()


def sealed(content: bytes, note: bytes = b"") -> bytes:
    """Put a note and a checksum of everything behind the content."""
    start = FOOTER.pack(len(note), MARK, b"")[: FOOTER.size - 32]
    return b"".join([content, note, start, checksum(content, note, start)])


def checksum(*parts: bytes | memoryview) -> bytes:
    """Return the SHA-256 of the parts, one behind the other."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.digest()
