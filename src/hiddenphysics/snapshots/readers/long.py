"""Long data, one row per measurement: gather the rows of each time into a snapshot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import parts
from hiddenphysics.snapshots.checks import Missing
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.naming import Arrays
from hiddenphysics.snapshots.snapshot import Snapshot
from hiddenphysics.snapshots.words import number


def snapshots_of_rows(
    t: NDArray[np.float64], coordinates: dict[str, NDArray[np.float64]], fields: Arrays, missing: Missing
) -> Snapshots:
    """Group rows by their exact time; all arrays have shape (n,)."""
    columns = _timed({"t": t} | coordinates | dict(parts.split(fields)), missing)
    t = columns.pop("t")
    times, starts, counts = np.unique(np.sort(t), return_index=True, return_counts=True)
    if counts.min() < 2:
        raise DataError(
            f"There is a single row with t = {number(times[counts.argmin()])}; a snapshot needs several"
            " points at the same time. If the times jitter, round them, as in t.round(3)."
        )
    # One stable sort instead of one mask per time: O(n log n), and rows keep their order inside each time.
    groups = np.split(np.argsort(t, kind="stable"), starts[1:])
    return Snapshots(
        Snapshot.from_columns(
            float(time),
            {name: columns[name][rows] for name in coordinates},
            {name: columns[name][rows] for name in columns if name not in coordinates},
            missing=missing,
        )
        for time, rows in zip(times, groups, strict=True)
    )


def _timed(columns: Arrays, missing: Missing) -> Arrays:
    """Apply the policy for missing values to rows without a time; values are the business of `Snapshot`."""
    known = np.isfinite(columns["t"])
    if known.all():
        return columns
    if missing != "drop":
        raise DataError(
            f"t is NaN or infinite in {int((~known).sum())} rows, first in row {int((~known).argmax())}"
            " (counted from 0); the policy is missing='refuse'. Write missing='drop' to leave out those rows."
        )
    if not known.any():
        raise DataError("t is NaN or infinite in every row, so missing='drop' leaves none. Give the times.")
    return {name: array[known] for name, array in columns.items()}
