"""Open a file by its ending; whatever is wrong with it ends in a sentence that names the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.checks import Missing
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers import mat, netcdf, npz, table
from hiddenphysics.snapshots.words import names

Reader: TypeAlias = Callable[[Path, Mapping[str, str], Missing], Snapshots]

READERS: dict[str, Reader] = {
    ".csv": table.read_table,
    ".tsv": table.read_table,
    ".txt": table.read_table,
    ".npz": npz.read_npz,
    ".mat": mat.read_mat,
    ".nc": netcdf.read_netcdf,
    ".netcdf": netcdf.read_netcdf,
    ".h5": netcdf.read_netcdf,
}


def read_file(path: Path, columns: Mapping[str, str], missing: Missing) -> Snapshots:
    """Read a file of one of the known kinds."""
    path = path.expanduser()
    reader = READERS.get(path.suffix.lower())
    try:
        if path.is_dir():
            raise DataError(f"{path} is a folder; give one file in it.")
        if not path.is_file():
            raise DataError(
                f"There is no file {path} (looked from {Path.cwd()}); check the name and the folder."
            )
        if reader is None:
            raise DataError(
                f"{path.name} ends in {path.suffix or 'nothing'}, which is no kind of file known here; known"
                f" are {names(READERS)}. Convert it to one of these."
            )
        if path.stat().st_size == 0:
            raise DataError(f"{path.name} is empty (0 bytes); write the data again.")
    except OSError as problem:
        raise DataError(f"{path} could not be opened ({problem}).") from problem
    try:
        return reader(path, columns, missing)
    except OSError as problem:
        raise DataError(f"{path.name} could not be read ({problem}).") from problem
    except DataError as problem:
        raise DataError(f"{path.name}: {problem}") from problem
