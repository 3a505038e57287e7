"""A run of the cylinder that takes a second, registered under its own name."""

import pytest

from hiddenphysics.datasets import DATASETS
from hiddenphysics.datasets.cylinder_wake import recording_of
from hiddenphysics.simulate.cylinder import FlowSettings, RunPlan, Window

NAME = "small_cylinder"

PLAN = RunPlan(
    flow=FlowSettings(cells=(40, 16), spacing=0.1, corner=(-1.0, -0.8), levels=2, time_step=0.1),
    start=FlowSettings(cells=(24, 12), spacing=0.15, corner=(-0.9, -0.9), levels=2, time_step=0.15),
    shed=1.5,
    settle=0.5,
    watch=1.0,
    snapshots=6,
    windows=(Window(0.05, snapshots=3, settle=0.1),),
    box=((1.0, 2.5), (-0.6, 0.6)),
    checkpoint_every=4,
)


def register(patch: pytest.MonkeyPatch | None = None) -> None:
    """Add the small run to the data sets, for good or as long as the patch holds."""
    if patch is not None:
        add_for_a_while(patch)
    DATASETS.add(NAME, recording_of(PLAN, "main", "A small run."))


def add_for_a_while(patch: pytest.MonkeyPatch) -> None:
    """Let what is added to the data sets be gone with the patch."""
    patch.setattr(DATASETS, "_things", dict(DATASETS._things))
