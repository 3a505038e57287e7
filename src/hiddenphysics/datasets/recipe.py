"""`Recipe`: a data set that is made in seconds and kept as one netCDF file, which is whole or absent."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hiddenphysics.datasets.entry import Entry, Progress
from hiddenphysics.errors import DataError

if TYPE_CHECKING:
    import xarray as xr

Build = Callable[[Progress], "xr.Dataset"]

ENGINE: Final = "h5netcdf"


@dataclass(frozen=True)
class Recipe(Entry):
    """How a data set is made.

    Parameters
    ----------
    build
        Makes the fields; is given a function to report progress to.
    """

    build: Build

    def path(self, name: str, place: Path) -> Path:
        """Return the file; its name carries the recipe's hash."""
        return place / f"{name}-{self.digest(name)}.nc"

    def make(self, name: str, place: Path, progress: Progress) -> Path:
        """Make the data set anew and write it, with the recipe in its attributes."""
        file = self.path(name, place)
        fields = self.build(progress)
        fields.attrs = self.attributes(name)
        try:
            _write(fields, file)
        except OSError as problem:
            raise DataError(
                f"The data set {name!r} was made, but could not be written to {file.parent}: {problem}. Free "
                "some space there, or name another place: folder=..."
            ) from problem
        return file

    def load(self, name: str, place: Path, progress: Progress) -> xr.Dataset:
        """Read the file, into memory; make it first when it is absent, damaged or of another recipe."""
        found = self._read(name, place)
        if found is None:
            self.make(name, place, progress)
            found = self._read(name, place)
        if found is None:
            raise DataError(
                f"The file {self.path(name, place)} was written, but cannot be read back; is the disk full or "
                "failing?"
            )
        return found

    def _read(self, name: str, place: Path) -> xr.Dataset | None:
        import xarray as xr

        file = self.path(name, place)
        if not file.is_file():
            return None
        try:
            found = xr.load_dataset(file, engine=ENGINE)
        except (OSError, ValueError, KeyError, RuntimeError):
            return None
        return found if found.attrs.get("recipe") == self.digest(name) else None


def _write(fields: xr.Dataset, file: Path) -> None:
    """Write beside the file's place, then rename: a reader sees the whole file or none."""
    # Checksums, so that damage is noticed when the file is read.
    encoding = {str(name): {"zlib": True, "complevel": 1, "fletcher32": True} for name in fields.variables}
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{file.stem}-", dir=file.parent) as scratch:
        partial = Path(scratch) / file.name
        fields.to_netcdf(partial, engine=ENGINE, encoding=encoding)
        partial.replace(file)
