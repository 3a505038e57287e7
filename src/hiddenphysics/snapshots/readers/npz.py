"""NumPy archives, and folders of NumPy arrays."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hiddenphysics.errors import DataError
from hiddenphysics.loader import check_unfolded, read_archive
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.arrays import TIME_FIRST, Named, is_large, named, snapshots_from
from hiddenphysics.snapshots.readers.naming import TIME
from hiddenphysics.snapshots.readers.npy_files import CompressedArray, stored_file, stored_member
from hiddenphysics.snapshots.readers.request import Request
from hiddenphysics.snapshots.stored_array import DAMAGED, Source, StoredArray
from hiddenphysics.snapshots.validation import numeric


def read_npz(path: Path, request: Request) -> Snapshots:
    """Read long or gridded arrays; text and single numbers that are no time are notes and passed over."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            if file.read(4) == b"PK\x03\x04":
                raise DataError(
                    "the archive is cut off: the list of its arrays, which stands at the end, is not there."
                    " Copy or write the file again."
                )
        raise DataError(
            "this is no NumPy archive, whatever its name says; write it with np.savez(path, t=t, x=x, u=u)."
        )
    return _snapshots(_archive(path), request, path.name)


def read_npy_folder(path: Path, request: Request) -> Snapshots:
    """Read a folder of `.npy` files, one for each array: t.npy, x.npy, u.npy."""
    if not path.is_dir():
        raise DataError(
            "one .npy file holds one array, and a recording needs several; put t.npy, x.npy and u.npy into a"
            " folder and give the folder, or write them with np.savez('field.npz', t=t, x=x, u=u)."
        )
    files = sorted(path.glob("*.npy"))
    if not files:
        raise DataError(
            "this folder holds no .npy files; give one file in it, or put t.npy, x.npy, u.npy there."
        )
    return _snapshots(_folder(files), request, path.name)


def _snapshots(arrays: Mapping[str, Any], request: Request, origin: str) -> Snapshots:
    given = named(arrays, request)
    kept = {name: array for name, array in given.arrays.items() if array.size > 1 or name in TIME}
    return snapshots_from(Named(kept, given.provenance), request.missing, TIME_FIRST, origin=origin)


def _archive(path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = {
                info.filename.removesuffix(".npy"): stored_member(path, archive, info)
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
        arrays = _numbers(members)
        folded = (array.size for name, array in arrays.items() if isinstance(members[name], CompressedArray))
        check_unfolded(sum(folded), path.stat().st_size, "Write it with np.savez, if you trust it.")
        if is_large(array.size for array in arrays.values()):
            return arrays
        # Read whole, so that the sums which the archive keeps are compared; a mapped member has nobody to do that.
        loaded = read_archive(path)
        return {
            name: loaded[name] if loaded[name].dtype.kind in "mM" else numeric(name, loaded[name])
            for name in arrays
        }
    except DataError:
        raise
    except DAMAGED as problem:
        raise DataError(
            f"the archive could not be read ({problem!s:.200}); write plain numeric arrays,"
            " as in np.savez(path, t=t, x=x, u=u)."
        ) from problem


def _folder(files: list[Path]) -> dict[str, Any]:
    sources: dict[str, Source] = {}
    for path in files:
        try:
            sources[path.stem] = stored_file(path)
        except DAMAGED as problem:
            raise DataError(
                f"{path.name} could not be read ({problem!s:.200}); write it with np.save(path, array)."
            ) from problem
    arrays = _numbers(sources)
    if is_large(array.size for array in arrays.values()):
        return arrays
    try:
        return {name: np.asarray(array) for name, array in arrays.items()}
    except DAMAGED as problem:
        raise DataError(f"an array is cut off: {problem}. Copy or write it again.") from problem


def _numbers(sources: Mapping[str, Source]) -> dict[str, Any]:
    """Leave out text; dates, which are times, are read at once."""
    return {
        name: StoredArray.of(source)
        if source.dtype.kind in "iufc"
        else source[tuple(slice(0, n) for n in source.shape)]
        for name, source in sources.items()
        if source.dtype.kind in "iufcmM"
    }
