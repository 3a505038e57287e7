"""Arrays whose axes are known, assembled into snapshots: recordings cut at each time, rows gathered by time."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.columns import split_complex
from hiddenphysics.snapshots.sentences import number
from hiddenphysics.snapshots.snapshot import Snapshot
from hiddenphysics.snapshots.validation import Missing

Arrays: TypeAlias = dict[str, NDArray[Any]]


def snapshots_on_grid(
    t: NDArray[np.float64], coordinates: dict[str, NDArray[np.float64]], fields: Arrays, missing: Missing
) -> Snapshots:
    """Cut fields of shape (T, Nx, Ny, Nz) into T snapshots at the same N = Nx·Ny·Nz points."""
    mesh = np.meshgrid(*coordinates.values(), indexing="ij")
    points = {name: grid.ravel() for name, grid in zip(coordinates, mesh, strict=True)}
    return snapshots_at_points(
        t, points, {name: array.reshape(len(t), -1) for name, array in fields.items()}, missing
    )


def snapshots_at_points(
    t: NDArray[np.float64], points: dict[str, NDArray[np.float64]], fields: Arrays, missing: Missing
) -> Snapshots:
    """Cut fields of shape (T, N) into T snapshots at the same N points."""
    # Whether a field is complex is decided over all times, so that every snapshot has the same fields.
    flat = dict(split_complex(fields))
    if all(np.isfinite(array).all() for array in flat.values()):
        first = Snapshot.from_columns(
            t[0], points, {name: array[0] for name, array in flat.items()}, missing=missing
        )
        later = (
            first.replace(t=t[i], fields={name: a[i] for name, a in flat.items()}) for i in range(1, len(t))
        )
        return Snapshots([first, *later])
    return Snapshots(
        Snapshot.from_columns(t[i], points, {name: a[i] for name, a in flat.items()}, missing=missing)
        for i in range(len(t))
    )


def snapshots_of_rows(
    t: NDArray[np.float64], coordinates: dict[str, NDArray[np.float64]], fields: Arrays, missing: Missing
) -> Snapshots:
    """Gather the rows of each exact time into a snapshot; all arrays have shape (n,), one row per measurement."""
    columns = _timed({"t": t} | coordinates | dict(split_complex(fields)), missing)
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
