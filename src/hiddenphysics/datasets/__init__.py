"""Named data sets: made on this machine at first use, kept in the user's cache, the same for everyone.

>>> from hiddenphysics import datasets
>>> datasets.load("burgers")  # doctest: +SKIP

A new one is a `Recipe`, or another `Entry`, and one line:

>>> datasets.DATASETS.add("mine", datasets.Recipe(...))  # doctest: +SKIP
"""

from hiddenphysics.datasets.cache import DATASETS, entry, load, make, names, path
from hiddenphysics.datasets.cylinder_wake import cut_extract, plot_vorticity
from hiddenphysics.datasets.displacements import LEVY_ALPHA, WALK_DT, WALK_SEED, WALK_STEPS
from hiddenphysics.datasets.recipe import Entry, Recipe

__all__ = [
    "DATASETS",
    "LEVY_ALPHA",
    "WALK_DT",
    "WALK_SEED",
    "WALK_STEPS",
    "Entry",
    "Recipe",
    "cut_extract",
    "entry",
    "load",
    "make",
    "names",
    "path",
    "plot_vorticity",
]
