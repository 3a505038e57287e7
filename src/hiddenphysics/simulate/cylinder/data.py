"""Recordings, opened for reading, and small extracts made from them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32, Float64

from hiddenphysics.errors import DataError
from hiddenphysics.simulate.cylinder.recorder import FIELDS
from hiddenphysics.simulate.cylinder.stage import RECORDING
from hiddenphysics.simulate.cylinder.store import whole_file


@dataclass(frozen=True)
class Recording:
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


def open_recording(folder: Path) -> Recording:
    """Open the recording of a finished stage, such as `<run>/main` or `<run>/dt-0.01`."""
    missing = [name for name in (RECORDING, *(f"{f}.npy" for f in FIELDS)) if not (folder / name).exists()]
    if missing:
        raise DataError(
            f"The folder {folder} holds no finished recording: {', '.join(missing)} missing. Let the run "
            "end, then give its stage that records, such as <run>/main."
        )
    metadata = json.loads((folder / RECORDING).read_text(encoding="utf-8"))
    axes = {name: np.array(metadata.pop(name), dtype=np.float64) for name in ("time", "x", "y")}
    fields = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in FIELDS}
    return Recording(**axes, **fields, metadata=metadata)


def extract(
    recording: Recording,
    path: Path,
    *,
    first: int = 0,
    snapshots: int = 12,
    points: int = 4000,
    seed: int = 0,
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
    with whole_file(path) as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _check_extract(recording: Recording, first: int, snapshots: int, points: int) -> None:
    held, nodes = len(recording.time), len(recording.x) * len(recording.y)
    if snapshots < 1 or first < 0 or first + snapshots > held:
        raise DataError(
            f"Asked for {snapshots} snapshots from number {first} on; the recording holds {held}. "
            f"Ask for at least 1, and for no number above {held - 1}."
        )
    if not 1 <= points <= nodes:
        raise DataError(f"Asked for {points} points; the recording has {nodes}. Ask for 1 to {nodes}.")
