"""A run of the cylinder that takes a second, registered under its own name."""

import pytest

from hiddenphysics.datasets.cylinder import recording_of
from hiddenphysics.datasets.registry import ENTRIES
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
    (patch or pytest.MonkeyPatch()).setitem(ENTRIES, NAME, recording_of(PLAN, "main", "A small run."))
