"""The whole run, resumable: killed at any moment and started again, it ends with the same bytes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from hiddenphysics.errors import ModelError
from hiddenphysics.simulate.cylinder.plan import RunPlan
from hiddenphysics.simulate.cylinder.stage import Progress, run_stage
from hiddenphysics.simulate.cylinder.store import write_json


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
    _agree_on_plan(folder / "plan.json", plan)
    stages = plan.stages()
    work = [stage.steps * stage.flow.cells[0] * stage.flow.cells[1] for stage in stages]
    for index, stage in enumerate(stages):
        if not (folder / stage.name).exists():
            done, share = sum(work[:index]) / sum(work), work[index] / sum(work)
            run_stage(folder, stage, plan, _part_of(progress, done, share))
    progress(1.0, "done")
    return folder / "main"


def _part_of(progress: Progress, done: float, share: float) -> Progress:
    """Turn fractions of a stage into fractions of the run."""

    def tell(fraction: float, message: str) -> None:
        progress(done + share * fraction, message)

    return tell


def _agree_on_plan(path: Path, plan: RunPlan) -> None:
    """Write the plan down; refuse to resume a run that was started with another one."""
    ours = json.loads(json.dumps(asdict(plan)))
    if not path.exists():
        write_json(path, ours)
        return
    theirs = json.loads(path.read_text(encoding="utf-8"))
    different = sorted(name for name in ours if ours[name] != theirs.get(name))
    if different:
        raise ModelError(
            f"The folder {path.parent} holds a run with another plan: {', '.join(different)} differ. Its "
            "results would be mixed with the new ones; give the same plan to resume it, or another folder."
        )
