"""`read`: snapshots from a file, a table, labelled arrays or plain arrays."""

from hiddenphysics.snapshots.readers.dispatch import READERS, Reader, read
from hiddenphysics.snapshots.readers.request import Request

__all__ = ["READERS", "Reader", "Request", "read"]
