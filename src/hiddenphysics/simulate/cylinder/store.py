"""What a stage leaves on the disk: files that are whole or absent, written beside their place, then renamed into it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from jaxtyping import Float64

from hiddenphysics.simulate.cylinder.stepper import State

CHECKPOINT = "checkpoint.npz"
"""In a stage's folder: the last state written down, from which the stage goes on, or another begins."""

RECORDING = "recording.json"
"""In a finished stage's folder: settings, axes of what was recorded, force history and its statistics."""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when the block ends well, and only then."""
    spare = path.with_name(path.name + ".new")
    with spare.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    spare.replace(path)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON, refusing NaN."""
    with whole_file(path) as file:
        file.write((json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def write_state(path: Path, state: State, forces: Float64[np.ndarray, "S 2"]) -> None:
    """Write a state and the drag and lift of the steps that led to it, as .npz without pickles."""
    arrays = {f"omega_{k}": field for k, field in enumerate(state.omega)}
    arrays |= {f"psi_{k}": field for k, field in enumerate(state.psi)}
    with whole_file(path) as file:
        np.savez(file, allow_pickle=False, time=np.float64(state.time), forces=forces, **arrays)


def read_state(path: Path) -> tuple[State, Float64[np.ndarray, "S 2"]]:
    """Read what `write_state` wrote."""
    with np.load(path, allow_pickle=False) as archive:
        levels = sum(name.startswith("omega_") for name in archive.files)
        omega = [archive[f"omega_{k}"] for k in range(levels)]
        psi = [archive[f"psi_{k}"] for k in range(levels)]
        return State(omega, psi, float(archive["time"])), archive["forces"]
