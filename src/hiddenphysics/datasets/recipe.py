"""A data set as data: what its values follow from, where they are kept, and how they are made.

`Entry` is what is asked of every data set, however its values are kept. `Recipe` is the usual one: made in seconds,
kept as one netCDF file, which is whole or absent.
"""

from __future__ import annotations

import hashlib
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from hiddenphysics.errors import DataError
from hiddenphysics.loader import unseal
from hiddenphysics.writer import in_memory, sealed, write_file

if TYPE_CHECKING:
    import xarray as xr

Progress = Callable[[float], None]
"""Told the part of the work that is done, from 0 to 1."""

Build = Callable[[Progress], "xr.Dataset"]
"""Makes the fields of a data set, and reports how far it is."""

ENGINE: Final = "h5netcdf"
"""What xarray reads netCDF with: required by the package, so that every user has it."""


@dataclass(frozen=True)
class Entry(ABC):
    """A data set: what it shows, the equation behind it, and everything its values follow from.

    Parameters
    ----------
    summary
        One sentence: what it shows, and where it is known from.
    equation
        PDE text with the unknowns that `truth` knows.
    truth
        Parameter -> value.
    settings
        Everything else that the values depend on, JSON-able: grid, times, tolerance, seed, initial formula.
    version
        Raised by hand when the same settings come to mean other values.
    """

    summary: str
    equation: str
    truth: Mapping[str, float]
    settings: Mapping[str, Any]
    version: int = field(default=1, kw_only=True)

    resumable: ClassVar[bool] = False
    """Whether making it, once interrupted, goes on where it stopped."""

    def digest(self, name: str) -> str:
        """Return a hash of what the data set follows from."""
        content = {
            "name": name,
            "version": self.version,
            "equation": self.equation,
            "truth": dict(self.truth),
            "settings": dict(self.settings),
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def attributes(self, name: str) -> dict[str, str]:
        """Return the attributes of the data set as `load` gives it."""
        return {
            "title": name,
            "summary": self.summary,
            "equation": self.equation,
            "truth": json.dumps(dict(self.truth)),
            "settings": json.dumps(dict(self.settings)),
            "recipe": self.digest(name),
        }

    @abstractmethod
    def path(self, name: str, place: Path) -> Path:
        """Return where the values are, or will be, when data sets are kept in the folder `place`."""

    @abstractmethod
    def make(self, name: str, place: Path, progress: Progress) -> Path:
        """Make the values and put them in their place."""

    @abstractmethod
    def load(self, name: str, place: Path, progress: Progress) -> xr.Dataset:
        """Return the data set; where it is absent, make it if that takes seconds, else say how to make it."""


@dataclass(frozen=True)
class Recipe(Entry):
    """A data set that is made in seconds, on the way, and kept as one netCDF file.

    Parameters
    ----------
    build
        Makes the fields; is given a function to tell the finished part to, from 0 to 1.
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
        # Chunk by chunk, so that a part can be read; the seal tells of damage.
        encoding = {str(name): {"zlib": True, "complevel": 1} for name in fields.variables}
        return write_file(file, sealed(in_memory(fields, encoding)), overwrite=True)

    def load(self, name: str, place: Path, progress: Progress) -> xr.Dataset:
        """Read the file, into memory; make it first when it is absent, damaged or of another recipe."""
        data = self._read(name, place)
        if data is None:
            self.make(name, place, progress)
            data = self._read(name, place)
        if data is None:
            raise DataError(
                f"The file {self.path(name, place)} was written, but cannot be read back; is the disk full or "
                "failing?"
            )
        return data

    def _read(self, name: str, place: Path) -> xr.Dataset | None:
        import xarray as xr

        file = self.path(name, place)
        try:
            under = unseal(file) if file.is_file() else None
        except (DataError, OSError):
            return None
        if under is None:
            return None
        data = xr.load_dataset(io.BytesIO(under.content), engine=ENGINE)
        return data if data.attrs.get("recipe") == self.digest(name) else None
