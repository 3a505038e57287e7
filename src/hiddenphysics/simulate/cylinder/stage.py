"""One stage of a run: from its last checkpoint, or its beginning, to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from hiddenphysics.errors import ModelError
from hiddenphysics.simulate.cylinder.body import circle
from hiddenphysics.simulate.cylinder.forces import force_statistics
from hiddenphysics.simulate.cylinder.grid import nested_grids
from hiddenphysics.simulate.cylinder.plan import RunPlan, Stage
from hiddenphysics.simulate.cylinder.recorder import Recorder
from hiddenphysics.simulate.cylinder.start import kicked, resampled
from hiddenphysics.simulate.cylinder.stepper import State, Stepper
from hiddenphysics.simulate.cylinder.store import read_state, write_json, write_state

Progress = Callable[[float, str], None]
"""Told the finished fraction, 0 to 1, and a short message, after every step."""

CHECKPOINT = "checkpoint.npz"
RECORDING = "recording.json"


def run_stage(folder: Path, stage: Stage, plan: RunPlan, progress: Progress) -> None:
    """Run what is left of a stage in `<stage>.partial`, then rename that to `<stage>`.

    Everything follows from the last checkpoint; snapshots after it are written again, the same.
    """
    work = folder / f"{stage.name}.partial"
    work.mkdir(exist_ok=True)
    progress(0.0, f"{stage.name}: preparing")
    stepper = Stepper(stage.flow, circle(stage.flow.spacing))
    fresh = not (work / CHECKPOINT).exists()
    recorder = Recorder(work, stepper.grids[0], plan.box, stage.snapshots, fresh) if stage.snapshots else None
    state, past = _beginning(folder, stage, plan, stepper) if fresh else read_state(work / CHECKPOINT)
    forces = list(past)
    while len(forces) < stage.steps:
        state, force = stepper.step(state)
        forces.append(force)
        snapshot = len(forces) - 1 - (stage.steps - stage.snapshots)
        if recorder and snapshot >= 0:
            recorder.write(snapshot, state, stepper.stream)
        if len(forces) % plan.checkpoint_every == 0 or len(forces) == stage.steps:
            _checkpoint(work, state, forces, recorder)
        progress(len(forces) / stage.steps, _message(stage, state, force))
    _describe(work / RECORDING, stage, recorder, state.time, np.array(forces))
    work.rename(folder / stage.name)


def _checkpoint(
    work: Path, state: State, forces: list[Float64[np.ndarray, " two"]], recorder: Recorder | None
) -> None:
    """Write the state down, after the snapshots that led to it."""
    if recorder:
        recorder.flush()
    write_state(work / CHECKPOINT, state, np.array(forces))


def _message(stage: Stage, state: State, force: Float64[np.ndarray, " two"]) -> str:
    return f"{stage.name}: t = {state.time:.2f}, drag {force[0]:.3f}, lift {force[1]:+.3f}"


def _beginning(
    folder: Path, stage: Stage, plan: RunPlan, stepper: Stepper
) -> tuple[State, Float64[np.ndarray, "0 2"]]:
    """Start from the kick, or from the end of an earlier stage on this stage's grids; no forces yet."""
    if stage.after is None:
        return stepper.state(kicked(stepper.grids)), np.empty((0, 2))
    earlier = next(other for other in plan.stages() if other.name == stage.after)
    state, _ = read_state(folder / earlier.name / CHECKPOINT)
    old = nested_grids(earlier.flow)
    if old != stepper.grids:
        state = stepper.state(resampled(state.omega, old, stepper.grids), state.time)
    return state, np.empty((0, 2))


def _describe(
    path: Path, stage: Stage, recorder: Recorder | None, end: float, forces: Float64[np.ndarray, "S 2"]
) -> None:
    """Write the stage's metadata: settings, axes of what it recorded, force history and its statistics."""
    time = np.round(end - stage.flow.time_step * np.arange(stage.steps - 1, -1, -1), 10)
    content = {
        "flow": asdict(stage.flow),
        "axes": ["time", "x", "y"],
        "time": time[stage.steps - stage.snapshots :].tolist(),
        "x": np.round(recorder.x, 10).tolist() if recorder else [],
        "y": np.round(recorder.y, 10).tolist() if recorder else [],
        "statistics": _statistics(time, forces),
        "forces": {"time": time.tolist(), "drag": forces[:, 0].tolist(), "lift": forces[:, 1].tolist()},
    }
    write_json(path, content)


def _statistics(
    time: Float64[np.ndarray, " S"], forces: Float64[np.ndarray, "S 2"]
) -> dict[str, float] | None:
    """Give None for a stage too short for a shedding period."""
    try:
        return asdict(force_statistics(time, forces[:, 0], forces[:, 1]))
    except ModelError:
        return None
