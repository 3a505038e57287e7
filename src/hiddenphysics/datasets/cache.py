"""The data sets by name; load, make and locate one, in the user's cache or in a given folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs

from hiddenphysics.datasets.cylinder_wake import CYLINDER, CYLINDER_0_005, CYLINDER_0_01, CYLINDER_EXTRACT
from hiddenphysics.datasets.displacements import BROWNIAN, LEVY
from hiddenphysics.datasets.periodic_fields import (
    ALLEN_CAHN,
    BURGERS,
    KDV,
    KURAMOTO_SIVASHINSKY,
    REACTION_DIFFUSION,
    SCHRODINGER,
    SINE_GORDON,
    TAYLOR_GREEN,
)
from hiddenphysics.datasets.recipe import Entry, Progress
from hiddenphysics.errors import DataError
from hiddenphysics.registry import Registry, did_you_mean

if TYPE_CHECKING:
    import xarray as xr

DATASETS: Final[Registry[Entry]] = Registry("data set", DataError)
"""Name -> data set. One line here, or anywhere else, makes one more known: ``DATASETS.add("mine", Recipe(...))``."""

DATASETS.add("burgers", BURGERS)
DATASETS.add("kdv", KDV)
DATASETS.add("kuramoto_sivashinsky", KURAMOTO_SIVASHINSKY)
DATASETS.add("schrodinger", SCHRODINGER)
DATASETS.add("cylinder", CYLINDER)
DATASETS.add("cylinder_dt_0.01", CYLINDER_0_01)
DATASETS.add("cylinder_dt_0.005", CYLINDER_0_005)
DATASETS.add("cylinder_extract", CYLINDER_EXTRACT)
DATASETS.add("brownian", BROWNIAN)
DATASETS.add("levy", LEVY)
DATASETS.add("sine_gordon", SINE_GORDON)
DATASETS.add("allen_cahn", ALLEN_CAHN)
DATASETS.add("reaction_diffusion_2d", REACTION_DIFFUSION)
DATASETS.add("taylor_green", TAYLOR_GREEN)


def names() -> tuple[str, ...]:
    """Names of all data sets."""
    return tuple(DATASETS)


def entry(name: str) -> Entry:
    """Return what is known of a data set, without its values."""
    if name not in DATASETS:
        hint = did_you_mean(str(name), DATASETS)
        raise DataError(f"There is no data set {name!r}{hint or '.'} The names are {', '.join(DATASETS)}.")
    return DATASETS[name]


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
