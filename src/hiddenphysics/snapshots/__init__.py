"""Measured data: checked, immutable arrays with times, and readers for files and labelled arrays."""

from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers import read
from hiddenphysics.snapshots.snapshot import Snapshot

__all__ = ["Snapshot", "Snapshots", "read"]
