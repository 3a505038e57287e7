"""Measured data: checked, immutable arrays with times, and readers for files and labelled arrays. No JAX."""

from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers import read
from hiddenphysics.snapshots.snapshot import Snapshot
from hiddenphysics.snapshots.uncertainty import name_of as deviation_name

__all__ = ["Snapshot", "Snapshots", "deviation_name", "read"]
