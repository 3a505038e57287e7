"""Arrays whose axes are known, assembled into snapshots: recordings cut at each time, rows gathered by time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.columns import split_complex
from hiddenphysics.snapshots.provenance import Provenance
from hiddenphysics.snapshots.readers.replicates import averages
from hiddenphysics.snapshots.sentences import number
from hiddenphysics.snapshots.snapshot import Snapshot
from hiddenphysics.snapshots.stored_array import StoredArray
from hiddenphysics.snapshots.validation import Missing

Array: TypeAlias = NDArray[Any] | StoredArray
"""Values in memory, or on disk."""
Arrays: TypeAlias = Mapping[str, Array]


class Assembly(Protocol):
    """Three ways in which arrays become snapshots: on a grid, at scattered points, from rows."""

    def on_grid(self, t: Array, coordinates: Arrays, fields: Arrays) -> Snapshots:
        """Cut fields of shape (T, Nx, Ny, Nz) into T snapshots at the same N = Nx·Ny·Nz points."""

    def at_points(self, t: Array, coordinates: Arrays, fields: Arrays) -> Snapshots:
        """Cut fields of shape (T, N) into T snapshots; coordinates (N,) are the same at all times, or (T, N)."""

    def of_rows(self, t: Array, coordinates: Arrays, fields: Arrays) -> Snapshots:
        """Gather the rows of each exact time into a snapshot; all arrays have shape (n,), one row per measurement."""


@dataclass(frozen=True)
class InMemory:
    """Read everything at once."""

    missing: Missing

    def on_grid(self, t: Array, coordinates: Arrays, fields: Arrays) -> Snapshots:
        """Cut fields of shape (T, Nx, Ny, Nz) into T snapshots at the same N = Nx·Ny·Nz points."""
        mesh = np.meshgrid(*coordinates.values(), indexing="ij")
        points: Arrays = {name: grid.ravel() for name, grid in zip(coordinates, mesh, strict=True)}
        flat: Arrays = {name: np.asarray(array).reshape(len(t), -1) for name, array in fields.items()}
        return self.at_points(t, points, flat)

    def at_points(self, t: Array, coordinates: Arrays, fields: Arrays) -> Snapshots:
        """Cut fields of shape (T, N) into T snapshots; coordinates (N,) are the same at all times, or (T, N)."""
        times, points = np.asarray(t), _loaded(coordinates)
        # Whether a field is complex is decided over all times, so that every snapshot has the same fields.
        flat = dict(split_complex(_loaded(fields)))
        moving = any(array.ndim == 2 for array in points.values())
        if not moving and all(np.isfinite(array).all() for array in flat.values()):
            first = Snapshot.from_columns(
                times[0], points, {name: array[0] for name, array in flat.items()}, missing=self.missing
            )
            later = (
                first.replace(t=times[i], fields={name: a[i] for name, a in flat.items()})
                for i in range(1, len(times))
            )
            return Snapshots([first, *later])
        return Snapshots(
            Snapshot.from_columns(
                times[i],
                {name: a[i] if moving else a for name, a in points.items()},
                {name: a[i] for name, a in flat.items()},
                missing=self.missing,
            )
            for i in range(len(times))
        )

    def of_rows(self, t: Array, coordinates: Arrays, fields: Arrays) -> Snapshots:
        """Gather the rows of each exact time into a snapshot; all arrays have shape (n,), one row per measurement."""
        split = dict(split_complex(_loaded(fields)))
        columns = _timed({"t": np.asarray(t)} | _loaded(coordinates) | split, self.missing)
        known = columns.pop("t")
        times, starts, counts = np.unique(np.sort(known), return_index=True, return_counts=True)
        if counts.min() < 2:
            raise single_row(float(times[counts.argmin()]))
        # One stable sort instead of one mask per time: O(n log n), and rows keep their order inside each time.
        groups = np.split(np.argsort(known, kind="stable"), starts[1:])
        cut = [{name: column[rows] for name, column in columns.items()} for rows in groups]
        averaged, note = averages(cut, tuple(coordinates), self.missing)
        return Snapshots(
            (
                Snapshot.from_columns(
                    float(time),
                    {name: own[name] for name in coordinates},
                    {name: own[name] for name in own if name not in coordinates},
                    missing=self.missing,
                )
                for time, own in zip(times, averaged, strict=True)
            ),
            Provenance(notes=(note,) if note else ()),
        )


def single_row(t: float) -> DataError:
    """Say that a time has one row only."""
    return DataError(
        f"There is a single row with t = {number(t)}; a snapshot needs several"
        " points at the same time. If the times jitter, round them, as in t.round(3)."
    )


def _loaded(arrays: Mapping[str, Array]) -> dict[str, NDArray[Any]]:
    return {name: np.asarray(array) for name, array in arrays.items()}


def _timed(columns: dict[str, NDArray[Any]], missing: Missing) -> dict[str, NDArray[Any]]:
    """Apply the policy for missing values to rows without a time; values are the business of `Snapshot`."""
    known = np.isfinite(columns["t"])
    if known.all():
        return columns
    if missing != "drop":
        raise DataError(
            f"t is NaN or infinite in {int((~known).sum())} rows, first in row {int((~known).argmax())}"
            " (counted from 0); the policy is missing='refuse'. Type --missing drop (missing='drop') to leave out"
            " those rows."
        )
    if not known.any():
        raise DataError("t is NaN or infinite in every row, so missing='drop' leaves none. Give the times.")
    return {name: array[known] for name, array in columns.items()}
