"""NumPy archives that this package has written: every member is read whole, so that its checksum is compared."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.loader.limits import check_regular, most_unfolded

PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Ways of compressing that need little memory; of the others LZMA takes as much as the file says."""


def read_archive(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of an `.npz` file; whatever is wrong with it is a `DataError`."""
    size = check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            if sum(info.file_size for info in infos) > most_unfolded(size):
                raise ValueError("its members unfold to more than is allowed for its size")
            if any(info.compress_type not in PLAIN for info in infos):
                raise ValueError("a member is compressed in another way than NumPy's")
            # NumPy reads as far as an array's header says, and zip compares the sum only at the end of a member.
            return {
                info.filename.removesuffix(".npy"): _array(archive.read(info))
                for info in infos
                if info.filename.endswith(".npy")
            }
    except Exception as problem:  # a damaged archive makes Python's reader and NumPy's fail in many ways
        raise DataError(
            f"{path} is damaged ({problem!r:.200}). Copy it again; or remove it, so that it is made anew."
        ) from problem


def _array(content: bytes) -> NDArray[Any]:
    file = io.BytesIO(content)
    array: NDArray[Any] = np.load(file, allow_pickle=False)
    if file.read(1):
        raise ValueError("an array ends before its member")
    return array
