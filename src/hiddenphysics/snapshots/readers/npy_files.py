"""NumPy's arrays inside files, left there: mapped where they lie as they are, read in passing where compressed."""

from __future__ import annotations

import math
import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.loader import check_regular
from hiddenphysics.snapshots.snapshot import CHUNK

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

_LOCAL_HEADER = 30
"""Bytes before the name of a member in a zip archive; the last four are the lengths of name and extra field."""


@dataclass(frozen=True)
class Layout:
    """What the header of an array in NumPy's format says.

    Attributes
    ----------
    shape, fortran, dtype
        The array; in Fortran's order its first axis runs fastest.
    start
        Bytes of the header, after which the values begin.
    """

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int

    @classmethod
    def of(cls, file: IO[bytes]) -> Layout:
        """Read the header at the beginning of a file."""
        version = np.lib.format.read_magic(file)
        if version not in _HEADERS:
            raise ValueError(f"version {version} of NumPy's format is not for plain numbers")
        shape, fortran, dtype = _HEADERS[version](file)
        if dtype.hasobject:
            # Never pickle: opening a data file must not run code that somebody put into it.
            raise ValueError("Object arrays cannot be loaded when allow_pickle=False")
        if min(shape, default=1) < 0 or not dtype.itemsize:
            raise ValueError(f"the header tells of a shape {shape!s:.100} of {dtype}")
        return cls(shape, fortran, dtype, file.tell())

    @property
    def rows(self) -> tuple[int, ...]:
        """Lengths of the axes in the order on disk, the last one running fastest."""
        return self.shape[::-1] if self.fortran else self.shape

    @property
    def row_bytes(self) -> int:
        """Bytes of all that lies under one index of the slowest axis."""
        return math.prod(self.rows[1:]) * self.dtype.itemsize


class _RowsOnDisk:
    """An array of which rows of the slowest axis on disk can be read."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self.shape, self.dtype = layout.shape, layout.dtype

    def __getitem__(self, index: tuple[slice, ...]) -> NDArray[Any]:
        if not index:
            return self._rows(0, 1, ()).reshape(())
        slowest, *rest = index[::-1] if self._layout.fortran else index
        block = self._rows(slowest.start, slowest.stop, tuple(rest))
        return block.transpose() if self._layout.fortran else block

    def _rows(self, first: int, stop: int, rest: tuple[slice, ...]) -> NDArray[Any]:
        raise NotImplementedError


class MappedArray(_RowsOnDisk):
    """An array that lies in a file as it would in memory.

    It is mapped anew for every piece: so what was read does not stay in memory, and a file that was cut meanwhile is
    an error and not the end of the process.
    """

    def __init__(self, path: Path, layout: Layout, offset: int = 0) -> None:
        super().__init__(layout)
        self._path, self._start = path, offset + layout.start

    def _rows(self, first: int, stop: int, rest: tuple[slice, ...]) -> NDArray[Any]:
        layout = self._layout
        there = (self._path.stat().st_size - self._start) // layout.dtype.itemsize
        if self._path.stat().st_size < self._start + stop * layout.row_bytes:
            raise EOFError(
                f"{self._path.name} ends after {max(there, 0)} of {math.prod(layout.shape)} values"
            )
        rows = np.memmap(
            self._path,
            layout.dtype,
            "r",
            offset=self._start + first * layout.row_bytes,
            shape=(stop - first, *layout.rows[1:]),
        )
        return np.array(rows[(slice(None), *rest)])


class CompressedArray(_RowsOnDisk):
    """A compressed member of a zip archive, decompressed from its beginning up to what is asked for.

    The last row is kept: with time as the slowest axis, as NumPy writes (T, N), that is one snapshot.
    """

    def __init__(self, path: Path, member: str, layout: Layout) -> None:
        super().__init__(layout)
        self._path, self._member = path, member
        self._stream: IO[bytes] | None = None
        self._last: tuple[int, NDArray[Any]] | None = None

    def _rows(self, first: int, stop: int, rest: tuple[slice, ...]) -> NDArray[Any]:
        if stop - first == 1:
            if self._last is None or self._last[0] != first:
                self._last = None  # before the next one comes, so that there are never two
                self._last = first, self._decompressed(first, stop)
            return self._last[1][(slice(None), *rest)]
        step = max(1, CHUNK * self.dtype.itemsize // self._layout.row_bytes)
        return np.concatenate(
            [
                self._decompressed(a, min(a + step, stop))[(slice(None), *rest)]
                for a in range(first, stop, step)
            ]
        )

    def _decompressed(self, first: int, stop: int) -> NDArray[Any]:
        layout = self._layout
        if self._stream is None:
            # Left open: whoever asks for one row asks for the next, and beginning anew is slow.
            self._stream = zipfile.ZipFile(self._path).open(self._member)  # noqa: SIM115
        # Forwards this decompresses what lies between; backwards it begins anew.
        self._stream.seek(layout.start + first * layout.row_bytes)
        wanted = (stop - first) * layout.row_bytes
        data = self._stream.read(wanted)
        if len(data) < wanted:
            raise EOFError(f"{self._member} ends before row {stop} of {layout.rows[0]}")
        return np.frombuffer(data, layout.dtype).reshape((stop - first, *layout.rows[1:]))


def stored_file(path: Path) -> MappedArray:
    """Open an `.npy` file."""
    check_regular(path)
    with path.open("rb") as file:
        return MappedArray(path, Layout.of(file))


def stored_member(
    path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo
) -> MappedArray | CompressedArray:
    """Open a member of an `.npz` file."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{info.filename:.60} is compressed in another way than NumPy's")
    with archive.open(info) as file:
        layout = Layout.of(file)
    if layout.start + math.prod(layout.shape) * layout.dtype.itemsize != info.file_size:
        raise ValueError(f"{info.filename:.60} has {info.file_size} bytes, which do not fit its header")
    if info.compress_type != zipfile.ZIP_STORED:
        return CompressedArray(path, info.filename, layout)
    with path.open("rb") as whole:
        whole.seek(info.header_offset)
        name, extra = struct.unpack("<HH", whole.read(_LOCAL_HEADER)[-4:])
    return MappedArray(path, layout, info.header_offset + _LOCAL_HEADER + name + extra)
