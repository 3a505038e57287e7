"""MATLAB files, versions 4 to 7.2."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.arrays import TIME_LAST, renamed, snapshots_from
from hiddenphysics.snapshots.readers.assembly import Arrays
from hiddenphysics.snapshots.validation import Missing, numeric


def read_mat(path: Path, columns: Mapping[str, str], missing: Missing) -> Snapshots:
    """Read time, coordinates and every array that fits them; other variables are passed over."""
    return snapshots_from(renamed(_load(path), columns), missing, TIME_LAST, all_fit=False)


def _load(path: Path) -> Arrays:
    from scipy.io import loadmat

    try:
        variables = loadmat(path)
    except NotImplementedError as problem:
        raise DataError(
            "this is a MATLAB 7.3 file (HDF5), which is not read here. In MATLAB, load it and write it again"
            " with save('file.mat', '-v7')."
        ) from problem
    # A damaged file can make SciPy's parser fail in any way at all; each must end in a sentence.
    except Exception as problem:
        raise DataError(
            f"this could not be read as a MATLAB file ({problem}); write it again with"
            " save('file.mat', '-v7')."
        ) from problem
    return {
        name: numeric(name, value)
        for name, value in variables.items()
        if isinstance(value, np.ndarray) and value.dtype.kind in "iufc" and value.size
    }
