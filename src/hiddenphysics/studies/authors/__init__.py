"""How the authors searched: pair after pair, each from where the one before ended, with few looks at the likelihood."""

from hiddenphysics.studies.authors.conjugate import minimise
from hiddenphysics.studies.authors.pair import searched

__all__ = ["minimise", "searched"]
