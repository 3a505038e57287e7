"""`Entry`: what the registry knows of every data set, however its values are kept."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import xarray as xr

Progress = Callable[[float], None]
"""Told the part of the work that is done, from 0 to 1."""


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
