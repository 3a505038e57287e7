"""NumPy archives."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.arrays import TIME, TIME_FIRST, renamed, snapshots_from
from hiddenphysics.snapshots.readers.assembly import Arrays
from hiddenphysics.snapshots.validation import Missing, numeric


def read_npz(path: Path, columns: Mapping[str, str], missing: Missing) -> Snapshots:
    """Read long or gridded arrays; text and single numbers that are no time are notes and passed over."""
    arrays = renamed(_load(path), columns)
    kept = {name: array for name, array in arrays.items() if array.size > 1 or name in TIME}
    return snapshots_from(kept, missing, TIME_FIRST)


def _load(path: Path) -> Arrays:
    if not zipfile.is_zipfile(path):
        raise DataError(
            "this is no NumPy archive, whatever its name says; write it with np.savez(path, t=t, x=x, u=u)."
        )
    try:
        # Never pickle: opening a data file must not run code that somebody put into it.
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as problem:
        raise DataError(
            f"the archive could not be read ({problem}); write plain numeric arrays,"
            " as in np.savez(path, t=t, x=x, u=u)."
        ) from problem
    return {
        name: numeric(name, array)
        for name, array in arrays.items()
        if isinstance(array, np.ndarray) and array.dtype.kind in "iufc"
    }
