"""`read`: snapshots from a file, a table, labelled arrays or plain arrays."""

from hiddenphysics.snapshots.readers.dispatch import READERS, Reader, read
from hiddenphysics.snapshots.readers.request import Request
from hiddenphysics.snapshots.readers.runs import read_experiments

__all__ = ["READERS", "Reader", "Request", "read", "read_experiments"]
