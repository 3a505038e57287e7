"""The recorded wake: written snapshot by snapshot while the flow runs, opened for reading, cut to small extracts."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32, Float64

from hiddenphysics.errors import DataError
from hiddenphysics.simulate.cylinder.differences import node_velocity
from hiddenphysics.simulate.cylinder.nesting import UniformGrid
from hiddenphysics.simulate.cylinder.settings import Box
from hiddenphysics.simulate.cylinder.stepper import State
from hiddenphysics.simulate.cylinder.store import RECORDING, read_json
from hiddenphysics.writer import synced, write_all, write_file

FIELDS = ("u", "v", "vorticity")
"""What is recorded, each in a file of its name."""


@dataclass(frozen=True)
class WakeRecording:
    """Consecutive snapshots of the wake; the fields are memory-mapped and read when indexed.

    Attributes
    ----------
    time, x, y
        Axes, (T,), (W,), (H,).
    u, v, vorticity
        Fields at the grid's nodes, float32, (T, W, H), all at the same points.
    metadata
        Settings of the flow ("flow"), force history ("forces") and statistics ("statistics").
    """

    time: Float64[np.ndarray, " T"]
    x: Float64[np.ndarray, " W"]
    y: Float64[np.ndarray, " H"]
    u: Float32[np.ndarray, "T W H"]
    v: Float32[np.ndarray, "T W H"]
    vorticity: Float32[np.ndarray, "T W H"]
    metadata: dict[str, Any]


def open_recording(folder: Path) -> WakeRecording:
    """Open the recording of a finished stage, such as `<run>/main` or `<run>/dt-0.01`."""
    missing = [name for name in (RECORDING, *(f"{f}.npy" for f in FIELDS)) if not (folder / name).exists()]
    if missing:
        raise DataError(
            f"The folder {folder} holds no finished recording: {', '.join(missing)} missing. Let the run "
            "end, then give its stage that records, such as <run>/main."
        )
    metadata = read_json(folder / RECORDING)
    again = f"It was damaged after it had been made: remove {folder}, and make it again."
    try:
        axes = {name: np.array(metadata.pop(name), dtype=np.float64) for name in ("time", "x", "y")}
        fields = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in FIELDS}
        shapes = {field.shape for field in fields.values()}
    except (KeyError, TypeError, ValueError, OSError) as problem:
        raise DataError(f"The recording in {folder} cannot be read ({problem!s:.200}). {again}") from problem
    if shapes != {tuple(len(axis) for axis in axes.values())}:
        raise DataError(f"The recording in {folder} has fields that do not fit its axes. {again}")
    told = metadata.pop("sums", None)  # none before there were any
    if told is not None and told != file_sums(folder):
        raise DataError(f"The recording in {folder} does not fit its checksums. {again}")
    return WakeRecording(**axes, **fields, metadata=metadata)


def file_sums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each field's file: 400 MB take a second or less."""
    sums = {}
    for name in FIELDS:
        with (folder / f"{name}.npy").open("rb") as file:
            sums[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return sums


def extract(
    recording: WakeRecording,
    path: Path,
    *,
    first: int = 0,
    snapshots: int = 12,
    points: int = 4000,
    seed: int = 0,
    overwrite: bool = False,
) -> None:
    """Write a few consecutive snapshots at scattered wake points to a compressed .npz, the same for a seed.

    Arrays: time (T,) and reynolds () float64; x, y (P,) and u, v, vorticity (T, P) float32. The points
    are nodes of the grid drawn without replacement. 12 snapshots at 4000 points take about 0.5 MB.
    """
    _check_extract(recording, first, snapshots, points)
    width, height = len(recording.x), len(recording.y)
    chosen = np.sort(np.random.default_rng(seed).choice(width * height, points, replace=False))
    in_x, in_y = np.divmod(chosen, height)
    span = slice(first, first + snapshots)
    arrays = {name: getattr(recording, name)[span][:, in_x, in_y] for name in FIELDS}
    arrays |= {"x": recording.x[in_x].astype(np.float32), "y": recording.y[in_y].astype(np.float32)}
    arrays |= {"time": recording.time[span], "reynolds": np.float64(recording.metadata["flow"]["reynolds"])}
    archive = io.BytesIO()
    np.savez_compressed(archive, allow_pickle=False, **arrays)
    write_file(path, archive.getvalue(), overwrite=overwrite)


def _check_extract(recording: WakeRecording, first: int, snapshots: int, points: int) -> None:
    held, nodes = len(recording.time), len(recording.x) * len(recording.y)
    if snapshots < 1 or first < 0 or first + snapshots > held:
        raise DataError(
            f"Asked for {snapshots} snapshots from number {first} on; the recording holds {held}. "
            f"Ask for at least 1, and for no number above {held - 1}."
        )
    if not 1 <= points <= nodes:
        raise DataError(f"Asked for {points} points; the recording has {nodes}. Ask for 1 to {nodes}.")


class Recorder:
    """The files u.npy, v.npy and vorticity.npy of one stage, float32, (snapshots, x, y).

    Snapshot s may be written again after a restart from an earlier checkpoint: with the same bytes.
    """

    def __init__(self, folder: Path, grid: UniformGrid, box: Box, snapshots: int, fresh: bool) -> None:
        self._grid, self._where = grid, box_slices(grid, box)
        in_x, in_y = self._where
        self.x, self.y = grid.x[in_x], grid.y[in_y]
        shape = (snapshots, len(self.x), len(self.y))
        self._files = {name: _SnapshotFile(folder / f"{name}.npy", shape, fresh) for name in FIELDS}

    def write(self, index: int, state: State, stream: float) -> None:
        """Write snapshot `index`."""
        for name, field in wake_fields(state, self._grid, self._where, stream).items():
            self._files[name].write(index, field)

    def flush(self) -> None:
        """Hand the snapshots to the disk."""
        for file in self._files.values():
            file.flush()

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()


def box_slices(grid: UniformGrid, box: Box) -> tuple[slice, slice]:
    """Find the nodes inside the box, its border included: a slice for each axis."""
    return _slice(grid.x, box[0]), _slice(grid.y, box[1])


def _slice(nodes: Float64[np.ndarray, " X"], span: tuple[float, float]) -> slice:
    slack = 1e-6 * (nodes[1] - nodes[0])
    inside = np.flatnonzero((nodes >= span[0] - slack) & (nodes <= span[1] + slack))
    return slice(int(inside[0]), int(inside[-1]) + 1)


class _SnapshotFile:
    """An array in NumPy's format, float32, that is written a snapshot at a time, in any order.

    By plain writes: where a mapped file meets a full disk, the system ends the process.
    """

    def __init__(self, path: Path, shape: Sequence[int], fresh: bool) -> None:
        header = io.BytesIO()
        descr = {"descr": "<f4", "fortran_order": False, "shape": tuple(shape)}
        np.lib.format.write_array_header_1_0(header, descr)
        self._start, self._shape = header.tell(), tuple(shape)
        self._file = path.open("wb+" if fresh else "rb+", buffering=0)
        if fresh:
            write_all(self._file.fileno(), header.getvalue())
            self._file.truncate(self._start + 4 * math.prod(shape))

    def write(self, index: int, field: Float64[np.ndarray, "W H"]) -> None:
        content = np.ascontiguousarray(field, dtype="<f4")
        self._file.seek(self._start + index * content.nbytes)
        write_all(self._file.fileno(), content.tobytes())

    def flush(self) -> None:
        synced(self._file.fileno(), b"")

    def close(self) -> None:
        self._file.close()


def wake_fields(
    state: State, grid: UniformGrid, where: tuple[slice, slice], stream: float
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
