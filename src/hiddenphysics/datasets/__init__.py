"""Named data sets: made on this machine at first use, kept in the user's cache, the same for everyone.

>>> from hiddenphysics import datasets
>>> datasets.load("burgers")  # doctest: +SKIP
"""

from hiddenphysics.datasets.cache import load, make, path
from hiddenphysics.datasets.cylinder import cut_extract
from hiddenphysics.datasets.pictures import plot_vorticity
from hiddenphysics.datasets.registry import names

__all__ = ["cut_extract", "load", "make", "names", "path", "plot_vorticity"]
