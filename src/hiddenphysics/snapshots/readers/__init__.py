"""`read`: snapshots from a file, a table, labelled arrays or plain arrays."""

from hiddenphysics.snapshots.readers.dispatch import Source, read

__all__ = ["Source", "read"]
