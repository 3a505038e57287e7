"""The cache on disk: a data set is made once for each recipe, and a file is whole or absent."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs

from hiddenphysics.datasets.recipe import Progress
from hiddenphysics.datasets.registry import recipe
from hiddenphysics.errors import DataError

if TYPE_CHECKING:
    import xarray as xr

ENGINE: Final = "h5netcdf"


def load(name: str, *, folder: Path | None = None, progress: Progress | None = None) -> xr.Dataset:
    """Return a data set: fields over (t, x, …), in memory; made now when it is not in the cache.

    Attributes of the result: `equation` (text), `truth` (parameters, as JSON), `summary`, `settings` (JSON).

    Parameters
    ----------
    name
        One of `names()`.
    folder
        Where to keep files; by default the user's cache folder.
    progress
        Called while the data set is made with the part that is done, from 0 to 1.
    """
    file = path(name, folder=folder)
    found = _read(file, recipe(name).digest(name))
    if found is None:
        make(name, folder=folder, progress=progress)
        found = _read(file, recipe(name).digest(name))
    if found is None:
        raise DataError(f"The file {file} was written, but cannot be read back; is the disk full or failing?")
    return found


def make(name: str, *, folder: Path | None = None, progress: Progress | None = None) -> Path:
    """Make a data set anew, put it into the cache, and return its file."""
    file = path(name, folder=folder)
    fields = recipe(name).make(name, progress or _silent)
    try:
        _write(fields, file)
    except OSError as problem:
        raise DataError(
            f"The data set {name!r} was made, but could not be written to {file.parent}: {problem}. Free some "
            "space there, or name another place: folder=..."
        ) from problem
    return file


def path(name: str, *, folder: Path | None = None) -> Path:
    """Return where the file of a data set is, or will be; its name follows from the recipe."""
    place = platformdirs.user_cache_path("hiddenphysics") / "datasets" if folder is None else Path(folder)
    return place / f"{name}-{recipe(name).digest(name)}.nc"


def _write(fields: xr.Dataset, file: Path) -> None:
    """Write beside the file's place, then rename: a reader sees the whole file or none."""
    # Checksums, so that damage is noticed when the file is read.
    encoding = {str(name): {"zlib": True, "complevel": 1, "fletcher32": True} for name in fields.variables}
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{file.stem}-", dir=file.parent) as scratch:
        partial = Path(scratch) / file.name
        fields.to_netcdf(partial, engine=ENGINE, encoding=encoding)
        partial.replace(file)


def _read(file: Path, digest: str) -> xr.Dataset | None:
    """Return what a file holds, or nothing when it is absent, damaged or of another recipe."""
    import xarray as xr

    if not file.is_file():
        return None
    try:
        found = xr.load_dataset(file, engine=ENGINE)
    except (OSError, ValueError, KeyError, RuntimeError):
        return None
    return found if found.attrs.get("recipe") == digest else None


def _silent(done: float) -> None:
    """Report to nobody."""
