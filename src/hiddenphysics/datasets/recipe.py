"""`Recipe`: all that a data set follows from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr

Progress = Callable[[float], None]
Build = Callable[[Progress], "xr.Dataset"]


@dataclass(frozen=True)
class Recipe:
    """How a data set is made.

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
    build
        Makes the fields; is given a function to report progress to, from 0 to 1.
    version
        Raised by hand when the same settings come to mean other values.
    """

    summary: str
    equation: str
    truth: Mapping[str, float]
    settings: Mapping[str, Any]
    build: Build
    version: int = 1

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

    def make(self, name: str, progress: Progress) -> xr.Dataset:
        """Make the data set, with the recipe in its attributes."""
        fields = self.build(progress)
        fields.attrs = {
            "title": name,
            "summary": self.summary,
            "equation": self.equation,
            "truth": json.dumps(dict(self.truth)),
            "settings": json.dumps(dict(self.settings)),
            "recipe": self.digest(name),
        }
        return fields
