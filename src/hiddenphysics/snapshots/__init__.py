"""Measured data: checked, immutable arrays with times, and readers for files and labelled arrays. No JAX."""

from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.columns import deviation_name
from hiddenphysics.snapshots.experiment_collection import Experiments
from hiddenphysics.snapshots.provenance import Provenance
from hiddenphysics.snapshots.readers import (
    READERS,
    Reader,
    Request,
    TimeSeries,
    read,
    read_experiments,
    read_time_series,
)
from hiddenphysics.snapshots.snapshot import CHUNK, Snapshot
from hiddenphysics.snapshots.stored_snapshot import StoredSnapshot

__all__ = [
    "CHUNK",
    "READERS",
    "Experiments",
    "Provenance",
    "Reader",
    "Request",
    "Snapshot",
    "Snapshots",
    "StoredSnapshot",
    "TimeSeries",
    "deviation_name",
    "read",
    "read_experiments",
    "read_time_series",
]
