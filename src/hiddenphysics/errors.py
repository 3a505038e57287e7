"""The errors a user can meet. Each message says what was given, what is needed, why, and what to type."""

from __future__ import annotations


class HiddenPhysicsError(Exception):
    """Base of every error this library raises on purpose."""


class EquationError(HiddenPhysicsError):
    """The text of the equation could not be understood; the message points at the place."""


class DataError(HiddenPhysicsError):
    """The snapshots, or the file they come from, cannot be used as given."""


class WriteError(HiddenPhysicsError, OSError):
    """A file could not be written; what was there before is still there. Also an OSError, for those who catch them."""


class ModelError(HiddenPhysicsError):
    """Equation and data are fine by themselves, but this forward model, kernel or option does not fit them."""


class MissingExtraError(HiddenPhysicsError):
    """An optional dependency is needed for what was asked; the message says how to install it."""
