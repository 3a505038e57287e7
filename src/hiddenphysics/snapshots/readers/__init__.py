"""`read`: snapshots from a file, a table, labelled arrays or plain arrays."""

from hiddenphysics.snapshots.readers.dispatch import READERS, Reader, read
from hiddenphysics.snapshots.readers.request import Request
from hiddenphysics.snapshots.readers.runs import read_experiments
from hiddenphysics.snapshots.readers.time_series import TimeSeries, read_time_series

__all__ = [
    "READERS",
    "Reader",
    "Request",
    "TimeSeries",
    "read",
    "read_experiments",
    "read_time_series",
]
