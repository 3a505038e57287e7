"""Snapshots of the wake, written one by one into memory-mapped .npy files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from hiddenphysics.simulate.cylinder.grid import Grid
from hiddenphysics.simulate.cylinder.operators import node_velocity
from hiddenphysics.simulate.cylinder.plan import Box
from hiddenphysics.simulate.cylinder.stepper import State

FIELDS = ("u", "v", "vorticity")


def box_slices(grid: Grid, box: Box) -> tuple[slice, slice]:
    """Find the nodes inside the box, its border included: a slice for each axis."""
    return _slice(grid.x, box[0]), _slice(grid.y, box[1])


def _slice(nodes: Float64[np.ndarray, " X"], span: tuple[float, float]) -> slice:
    slack = 1e-6 * (nodes[1] - nodes[0])
    inside = np.flatnonzero((nodes >= span[0] - slack) & (nodes <= span[1] + slack))
    return slice(int(inside[0]), int(inside[-1]) + 1)


def wake_fields(
    state: State, grid: Grid, where: tuple[slice, slice], stream: float
) -> dict[str, Float64[np.ndarray, "W H"]]:
    """Total velocity u, v and vorticity, all at the same nodes of the finest grid, second order."""
    u, v = node_velocity(state.psi[0], grid.spacing, stream)
    in_x, in_y = where
    return {
        "u": u[in_x, _shifted(in_y)],
        "v": v[_shifted(in_x), in_y],
        "vorticity": state.omega[0][in_x, in_y],
    }


def _shifted(part: slice) -> slice:
    """Name the same nodes in an array that lacks the first node of the axis."""
    return slice(part.start - 1, part.stop - 1)


class Recorder:
    """The files u.npy, v.npy and vorticity.npy of one stage, float32, (snapshots, x, y).

    Snapshot s may be written again after a restart from an earlier checkpoint: with the same bytes.
    """

    def __init__(self, folder: Path, grid: Grid, box: Box, snapshots: int, fresh: bool) -> None:
        self._grid, self._where = grid, box_slices(grid, box)
        in_x, in_y = self._where
        self.x, self.y = grid.x[in_x], grid.y[in_y]
        shape = (snapshots, len(self.x), len(self.y))
        self._files = {name: _open(folder / f"{name}.npy", shape, fresh) for name in FIELDS}

    def write(self, index: int, state: State, stream: float) -> None:
        """Write snapshot `index`."""
        for name, field in wake_fields(state, self._grid, self._where, stream).items():
            self._files[name][index] = field

    def flush(self) -> None:
        """Hand the snapshots to the disk."""
        for file in self._files.values():
            file.flush()


def _open(path: Path, shape: Sequence[int], fresh: bool) -> np.memmap:
    if fresh:
        return np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=tuple(shape))
    return np.lib.format.open_memmap(path, mode="r+")
