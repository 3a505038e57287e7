"""The verbs: load, make and locate a data set by name, in the user's cache or in a given folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from hiddenphysics.datasets.entry import Progress
from hiddenphysics.datasets.registry import entry

if TYPE_CHECKING:
    import xarray as xr


def load(name: str, *, folder: Path | None = None, progress: Progress | None = None) -> xr.Dataset:
    """Return a data set: fields over (t, x, …); made now when it is not in the cache.

    Two data sets are not made on the way: `cylinder`, whose run takes half an hour (the error says how to make it)
    and is then opened memory-mapped, and `cylinder_extract`, which ships with the package.

    Attributes of the result: `equation` (text), `truth` (parameters, as JSON), `summary`, `settings` (JSON).

    Parameters
    ----------
    name
        One of `names()`.
    folder
        Where data sets are kept; by default the user's cache folder.
    progress
        Called while the data set is made with the part that is done, from 0 to 1.
    """
    return entry(name).load(name, _place(folder), progress or _silent)


def make(name: str, *, folder: Path | None = None, progress: Progress | None = None) -> Path:
    """Make a data set anew, or go on with a long run that was interrupted; return where it is."""
    return entry(name).make(name, _place(folder), progress or _silent)


def path(name: str, *, folder: Path | None = None) -> Path:
    """Return where a data set is, or will be; the name follows from the recipe."""
    return entry(name).path(name, _place(folder))


def _place(folder: Path | None) -> Path:
    return platformdirs.user_cache_path("hiddenphysics") / "datasets" if folder is None else Path(folder)


def _silent(done: float) -> None:
    """Report to nobody."""
