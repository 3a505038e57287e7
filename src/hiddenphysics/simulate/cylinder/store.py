"""What a stage leaves on the disk, and what is read of it: states, descriptions."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from hiddenphysics.errors import DataError
from hiddenphysics.loader import check_regular, plain_data, read_archive
from hiddenphysics.simulate.cylinder.stepper import State
from hiddenphysics.writer import write_file

CHECKPOINT = "checkpoint.npz"
"""In a stage's folder: the last state written down, from which the stage goes on, or another begins."""

RECORDING = "recording.json"
"""In a finished stage's folder: settings, axes of what was recorded, force history and its statistics."""


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON, refusing NaN."""
    write_file(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode(), overwrite=True)


def read_json(path: Path) -> dict[str, Any]:
    """Read what `write_json` wrote."""
    check_regular(path)
    content = plain_data(path.read_bytes(), str(path))
    if not isinstance(content, dict):
        raise DataError(f"{path} holds no description of a run. Remove its folder, so that it is made anew.")
    return content


def write_state(path: Path, state: State, forces: Float64[np.ndarray, "S 2"]) -> None:
    """Write a state and the drag and lift of the steps that led to it, as .npz without pickles."""
    arrays = {f"omega_{k}": field for k, field in enumerate(state.omega)}
    arrays |= {f"psi_{k}": field for k, field in enumerate(state.psi)}
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, time=np.float64(state.time), forces=forces, **arrays)
    write_file(path, archive.getvalue(), overwrite=True)


def read_state(path: Path) -> tuple[State, Float64[np.ndarray, "S 2"]]:
    """Read what `write_state` wrote."""
    archive = read_archive(path)
    try:
        levels = sum(name.startswith("omega_") for name in archive)
        omega = [archive[f"omega_{k}"] for k in range(levels)]
        psi = [archive[f"psi_{k}"] for k in range(levels)]
        if not levels or len(archive) != 2 * levels + 2:  # a level whose name was damaged is no level less
            raise KeyError("levels")
        return State(omega, psi, float(archive["time"])), archive["forces"]
    except (KeyError, TypeError, ValueError) as problem:
        raise DataError(
            f"{path} holds no state of the flow. Remove it, so that it is made anew."
        ) from problem
