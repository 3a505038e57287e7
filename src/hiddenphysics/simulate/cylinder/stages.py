"""The run, stage by stage, resumable: killed at any moment and started again, it ends with the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict
from pathlib import Path

import numpy as np
from jaxtyping import Float64
from scipy import ndimage

from hiddenphysics.errors import ModelError
from hiddenphysics.simulate.cylinder.forces import force_statistics
from hiddenphysics.simulate.cylinder.immersed_body import circle
from hiddenphysics.simulate.cylinder.nesting import Fields, UniformGrid, nested_grids
from hiddenphysics.simulate.cylinder.settings import RunPlan, Stage
from hiddenphysics.simulate.cylinder.stepper import State, Stepper
from hiddenphysics.simulate.cylinder.store import (
    CHECKPOINT,
    RECORDING,
    read_json,
    read_state,
    write_json,
    write_state,
)
from hiddenphysics.simulate.cylinder.wake_recording import Recorder, file_sums
from hiddenphysics.writer import alone_with

Progress = Callable[[float, str], None]
"""Told the finished fraction, 0 to 1, and a short message, after every step."""

KICK_STRENGTH, KICK_CENTRE, KICK_WIDTH = 2.0, (1.0, 0.25), 0.25
"""The eddy of `kicked`: off the axis, so that shedding need not grow out of rounding errors."""


PLAN = "plan.json"
"""In the folder of a run: what it was started with; who works there holds it."""


def silent(fraction: float, message: str) -> None:
    """Tell nobody."""


def run(folder: Path, plan: RunPlan, progress: Progress = silent) -> Path:
    """Run the plan in `folder`, or what is left of it; gives the folder of the main recording.

    A folder `<stage>` is complete, a folder `<stage>.partial` is at work. Stopping the run (Ctrl-C,
    a kill) loses at most `checkpoint_every` steps and changes no result, if the run goes on with the
    same number of BLAS threads: that number decides the order of sums.

    `progress` is told the finished fraction of the work and a message after every step; an
    exception it raises stops the run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _agree_on_plan(folder / PLAN, plan)
    stages = plan.stages()
    work = [stage.steps * stage.flow.cells[0] * stage.flow.cells[1] for stage in stages]
    with alone_with(folder / PLAN):
        for index, stage in enumerate(stages):
            if not (folder / stage.name).exists():
                done, share = sum(work[:index]) / sum(work), work[index] / sum(work)
                run_stage(folder, stage, plan, _part_of(progress, done, share))
    progress(1.0, "done")
    return folder / "main"


def _agree_on_plan(path: Path, plan: RunPlan) -> None:
    """Write the plan down; refuse to resume a run that was started with another one."""
    ours = json.loads(json.dumps(asdict(plan)))
    if not path.exists():
        write_json(path, ours)
        return
    theirs = read_json(path)
    different = sorted(name for name in ours if ours[name] != theirs.get(name))
    if different:
        raise ModelError(
            f"The folder {path.parent} holds a run with another plan: {', '.join(different)} differ. Its "
            "results would be mixed with the new ones; give the same plan to resume it, or another folder."
        )


def _part_of(progress: Progress, done: float, share: float) -> Progress:
    """Turn fractions of a stage into fractions of the run."""

    def tell(fraction: float, message: str) -> None:
        progress(done + share * fraction, message)

    return tell


def run_stage(folder: Path, stage: Stage, plan: RunPlan, progress: Progress) -> None:
    """Run what is left of a stage in `<stage>.partial`, then rename that to `<stage>`.

    Everything follows from the last checkpoint; snapshots after it are written again, the same.
    """
    work = folder / f"{stage.name}.partial"
    work.mkdir(exist_ok=True)
    progress(0.0, f"{stage.name}: preparing")
    stepper = Stepper(stage.flow, circle(stage.flow.spacing))
    fresh = not (work / CHECKPOINT).exists()
    state, past = _beginning(folder, stage, plan, stepper) if fresh else read_state(work / CHECKPOINT)
    forces = list(past)
    recorder = Recorder(work, stepper.grids[0], plan.box, stage.snapshots, fresh) if stage.snapshots else None
    with closing(recorder) if recorder else nullcontext():
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


def kicked(grids: Sequence[UniformGrid]) -> Fields:
    """Vorticity of one Gaussian eddy behind the cylinder and off its axis, in fluid otherwise at rest.

    ω = 2 exp(−|x − x₀|²/w²), x₀ = (1, 0.25), w = 0.25. It breaks the symmetry about the x axis, from
    which shedding would else grow out of rounding errors only, for some hundred time units.
    """
    return [
        KICK_STRENGTH
        * np.exp(
            -((grid.x[:, None] - KICK_CENTRE[0]) ** 2 + (grid.y[None, :] - KICK_CENTRE[1]) ** 2)
            / KICK_WIDTH**2
        )
        for grid in grids
    ]


def resampled(
    fields: Sequence[Float64[np.ndarray, "_ _"]], old: Sequence[UniformGrid], new: Sequence[UniformGrid]
) -> Fields:
    """Vorticity of a run on the grids `old`, level by level, at the nodes of the grids `new`.

    Bilinear, the nearest edge value beyond an edge: enough to start from, as the flow forgets within
    a few shedding periods how it was started. Both runs must have as many levels.
    """
    return [_at_nodes(field, a, b) for field, a, b in zip(fields, old, new, strict=True)]


def _at_nodes(
    field: Float64[np.ndarray, "_ _"], old: UniformGrid, new: UniformGrid
) -> Float64[np.ndarray, "_ _"]:
    in_cells = np.meshgrid(
        (new.x - old.corner[0]) / old.spacing, (new.y - old.corner[1]) / old.spacing, indexing="ij"
    )
    return np.asarray(ndimage.map_coordinates(field, np.stack(in_cells), order=1, mode="nearest"))


def _checkpoint(
    work: Path, state: State, forces: list[Float64[np.ndarray, " two"]], recorder: Recorder | None
) -> None:
    """Write the state down, after the snapshots that led to it."""
    if recorder:
        recorder.flush()
    write_state(work / CHECKPOINT, state, np.array(forces))


def _message(stage: Stage, state: State, force: Float64[np.ndarray, " two"]) -> str:
    return f"{stage.name}: t = {state.time:.2f}, drag {force[0]:.3f}, lift {force[1]:+.3f}"


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
        "sums": file_sums(path.parent) if recorder else {},
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
