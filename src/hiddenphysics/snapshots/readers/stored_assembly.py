"""Arrays that stay on disk, assembled into snapshots that stay there, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.columns import IM, RE, is_round_off
from hiddenphysics.snapshots.readers.assembly import Array, Arrays, Assembly, InMemory, single_row
from hiddenphysics.snapshots.snapshot import CHUNK
from hiddenphysics.snapshots.stored_array import StoredArray, StoredColumn
from hiddenphysics.snapshots.stored_points import GridPoints, ScatteredPoints, StoredPoints
from hiddenphysics.snapshots.stored_snapshot import StoredSnapshot
from hiddenphysics.snapshots.validation import Missing, not_finite


def assembly_of(arrays: Mapping[str, Array], missing: Missing, origin: str) -> Assembly:
    """Choose how these arrays become snapshots; `origin` names the file that those on disk come from."""
    stored = any(isinstance(array, StoredArray) for array in arrays.values())
    return OnDisk(missing, origin) if stored else InMemory(missing)


@dataclass(frozen=True)
class OnDisk:
    """Read times and the axes of grids; leave the rest where it is."""

    missing: Missing
    origin: str

    def on_grid(self, t: Array, coordinates: Arrays, fields: Arrays) -> Snapshots:
        """Cut fields of shape (T, Nx, Ny, Nz) into T snapshots at the same N = Nx·Ny·Nz points."""
        if len(coordinates) == 1:
            # The axis of a line is as long as the field, so it stays on disk, too.
            return self.at_points(t, coordinates, fields)
        times, axes = np.asarray(t), {name: np.asarray(axis) for name, axis in coordinates.items()}
        for name, axis in axes.items():
            bad = ~np.isfinite(axis)
            # A grid with a hole in an axis has lost its shape, so there is nothing that could be dropped.
            if bad.any():
                raise not_finite(name, float(times[0]), int(bad.sum()), int(bad.argmax()))
        return self._cut(times, [GridPoints(axes)] * len(times), fields)

    def at_points(self, t: Array, coordinates: Arrays, fields: Arrays) -> Snapshots:
        """Cut fields of shape (T, N) into T snapshots; coordinates (N,) are the same at all times, or (T, N)."""
        times = np.asarray(t)
        columns = {name: _stored(array) for name, array in coordinates.items()}
        if any(array.ndim == 2 for array in columns.values()):
            moving = [
                ScatteredPoints({name: StoredColumn.at(array, i) for name, array in columns.items()})
                for i in range(len(times))
            ]
            return self._cut(times, moving, fields)
        fixed = ScatteredPoints(
            {name: StoredColumn(array, (), 0, len(array)) for name, array in columns.items()}
        )
        return self._cut(times, [fixed] * len(times), fields)

    def of_rows(self, t: Array, coordinates: Arrays, fields: Arrays) -> Snapshots:
        """Take the run of rows of each time; rows that are not in order of time have to be read into memory."""
        runs = _runs(_stored(t))
        if runs is None:
            return InMemory(self.missing).of_rows(t, coordinates, fields)
        columns = _real_parts({name: _stored(array) for name, array in fields.items()})
        snapshots = []
        for time, start, stop in runs:
            if stop - start < 2:
                raise single_row(time)

            def run(
                array: StoredArray, part: Any = "real", start: int = start, stop: int = stop
            ) -> StoredColumn:
                return StoredColumn(array, (), start, stop - start, part)

            places = ScatteredPoints({name: run(_stored(array)) for name, array in coordinates.items()})
            values = {name: run(array, part) for name, (array, part) in columns.items()}
            snapshots.append(self._snapshot(time, places, values))
        return Snapshots(snapshots)

    def _cut(self, t: NDArray[Any], places: list[Any], fields: Arrays) -> Snapshots:
        columns = _real_parts({name: _stored(array) for name, array in fields.items()})
        return Snapshots(
            self._snapshot(
                t[i], places[i], {name: StoredColumn.at(a, i, part) for name, (a, part) in columns.items()}
            )
            for i in range(len(t))
        )

    def _snapshot(
        self, t: float, places: StoredPoints, columns: Mapping[str, StoredColumn]
    ) -> StoredSnapshot:
        return StoredSnapshot(t, places, columns, missing=self.missing, origin=self.origin)


def _stored(array: Array) -> StoredArray:
    return array if isinstance(array, StoredArray) else StoredArray.of(array)


def _real_parts(fields: Mapping[str, StoredArray]) -> dict[str, tuple[StoredArray, Any]]:
    """Name the real arrays that fields are made of: of a complex one both parts, unless one is round-off.

    Only complex arrays are read for this, piece by piece.
    """
    parts: dict[str, tuple[StoredArray, Any]] = {}
    for name, array in fields.items():
        if array.dtype.kind == "c" and not is_round_off(_pieces(array)):
            parts |= {name + RE: (array, "real"), name + IM: (array, "imag")}
        else:
            parts[name] = (array, "real")
    return parts


def _pieces(array: StoredArray) -> Iterator[NDArray[Any]]:
    """Give all values, in order, `CHUNK` of them at a time."""
    for i in range(len(array)):
        column = StoredColumn.at(array, i) if array.ndim > 1 else StoredColumn(array, (), 0, array.size)
        yield from (column.complex(a, min(a + CHUNK, len(column))) for a in range(0, len(column), CHUNK))
        if array.ndim == 1:
            return


def _runs(t: StoredArray) -> list[tuple[float, int, int]] | None:
    """Find the runs of rows with one time, as (time, start, stop); None where rows are not in order of time."""
    column = StoredColumn(t, (), 0, t.size)
    starts, times = [0], [float(column.read(0, 1)[0])]
    for a in range(0, t.size, CHUNK):
        values = column.read(a, min(a + CHUNK, t.size))
        steps = np.diff(values, prepend=times[-1])
        # NaN, too, is not in order; who reads rows in memory applies the policy for it.
        if not (steps >= 0).all():
            return None
        new = np.flatnonzero(steps)
        starts += (a + new).tolist()
        times += values[new].tolist()
    return [(time, a, b) for time, a, b in zip(times, starts, [*starts[1:], t.size], strict=True)]
