"""`read`: snapshots from a file, a table, labelled arrays or plain arrays."""

from hiddenphysics.snapshots.readers.dispatch import READERS, Reader, read

__all__ = ["READERS", "Reader", "read"]
