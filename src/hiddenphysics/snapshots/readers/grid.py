"""Recordings at fixed points, on a grid or not: turn each field to (t, x, y, z), then cut it into snapshots."""

from __future__ import annotations

from itertools import permutations
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import parts
from hiddenphysics.snapshots.checks import Missing
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.readers.naming import Arrays
from hiddenphysics.snapshots.snapshot import Snapshot
from hiddenphysics.snapshots.words import names

Convention: TypeAlias = Literal["time first", "time last"]


def oriented(
    name: str, array: NDArray[Any], lengths: dict[str, int], convention: Convention
) -> NDArray[Any] | None:
    """Return the field with its axes in the order (t, x, y, z); None when its shape fits no order.

    `lengths` gives the length of each axis, t first. For a single time the axis t may be absent.
    """
    axes = tuple(lengths)
    if lengths["t"] == 1 and array.ndim == len(axes) - 1:
        array = array[np.newaxis] if convention == "time first" else array[..., np.newaxis]
    fitting = [order for order in permutations(axes) if array.shape == tuple(lengths[a] for a in order)]
    if not fitting:
        return None
    order = _chosen(name, fitting, axes, convention)
    return array.transpose([order.index(axis) for axis in axes])


def _chosen(
    name: str, fitting: list[tuple[str, ...]], axes: tuple[str, ...], convention: Convention
) -> tuple[str, ...]:
    if len(fitting) == 1:
        return fitting[0]
    first, last = axes, (*axes[1:], "t")
    for usual in (first, last) if convention == "time first" else (last, first):
        if usual in fitting:
            return usual
    raise DataError(
        f"The axes of {name} could be {names(fitting)}: some lengths are equal. Transpose it to {first}"
        f" with np.transpose({name}, ...)."
    )


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
    flat = dict(parts.split(fields))
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
