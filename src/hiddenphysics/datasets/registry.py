"""The data sets by name; a new one is one more entry."""

from __future__ import annotations

from hiddenphysics.datasets.cylinder import CYLINDER, CYLINDER_0_005, CYLINDER_0_01, CYLINDER_EXTRACT
from hiddenphysics.datasets.entry import Entry
from hiddenphysics.datasets.fluid import TAYLOR_GREEN
from hiddenphysics.datasets.motion import BROWNIAN, LEVY
from hiddenphysics.datasets.paper import BURGERS, KDV, KURAMOTO_SIVASHINSKY, SCHRODINGER
from hiddenphysics.datasets.waves import ALLEN_CAHN, REACTION_DIFFUSION, SINE_GORDON
from hiddenphysics.errors import DataError
from hiddenphysics.registry import did_you_mean

ENTRIES: dict[str, Entry] = {
    "burgers": BURGERS,
    "kdv": KDV,
    "kuramoto_sivashinsky": KURAMOTO_SIVASHINSKY,
    "schrodinger": SCHRODINGER,
    "cylinder": CYLINDER,
    "cylinder_dt_0.01": CYLINDER_0_01,
    "cylinder_dt_0.005": CYLINDER_0_005,
    "cylinder_extract": CYLINDER_EXTRACT,
    "brownian": BROWNIAN,
    "levy": LEVY,
    "sine_gordon": SINE_GORDON,
    "allen_cahn": ALLEN_CAHN,
    "reaction_diffusion_2d": REACTION_DIFFUSION,
    "taylor_green": TAYLOR_GREEN,
}


def names() -> tuple[str, ...]:
    """Names of all data sets."""
    return tuple(ENTRIES)


def entry(name: str) -> Entry:
    """Return what is known of a data set."""
    if name not in ENTRIES:
        hint = did_you_mean(str(name), ENTRIES)
        raise DataError(f"There is no data set {name!r}{hint or '.'} The names are {', '.join(ENTRIES)}.")
    return ENTRIES[name]
