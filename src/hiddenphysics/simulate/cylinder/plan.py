"""A run as data: its stages, each on its own grid and time step, each starting where another ended."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hiddenphysics.errors import ModelError
from hiddenphysics.simulate.cylinder.settings import FlowSettings, check_contains_body

Box = tuple[tuple[float, float], tuple[float, float]]

WAKE: Box = ((1.0, 7.5), (-1.7, 1.7))
"""The paper's wake box, ((x from, x to), (y from, y to)): away from the body."""


@dataclass(frozen=True)
class Window:
    """A short recording with a smaller time step, from the end of the main one."""

    time_step: float
    snapshots: int = 30
    settle: float = 1.0


@dataclass(frozen=True)
class Stage:
    """`steps` time steps of one flow, from the end of the stage `after` (from the kick if None).

    The last `snapshots` of its states are recorded, one every time step.
    """

    name: str
    flow: FlowSettings
    steps: int
    after: str | None
    snapshots: int = 0


@dataclass(frozen=True)
class RunPlan:
    """Shedding found on a coarse grid, carried to the fine one, settled there, then recorded.

    Parameters
    ----------
    flow
        The flow to record.
    start
        A coarser flow, some ten times cheaper, that goes from rest to periodic shedding. As many levels
        as `flow`.
    shed, settle, watch
        Time units on the coarse grid, on the fine grid before watching, and watched on the fine grid for
        the force statistics: 100, 40 and 60. A shedding period lasts 6.
    snapshots
        Consecutive snapshots recorded at the end of the watch: 502.
    windows
        Recordings with smaller time steps after it.
    box
        Where the flow is recorded.
    checkpoint_every
        Steps between two checkpoints; what is lost, at most, when the run is killed.
    """

    flow: FlowSettings = field(default_factory=FlowSettings)
    start: FlowSettings = field(
        default_factory=lambda: FlowSettings(cells=(180, 80), spacing=0.05, time_step=0.05)
    )
    shed: float = 100.0
    settle: float = 40.0
    watch: float = 60.0
    snapshots: int = 502
    windows: tuple[Window, ...] = (Window(0.01), Window(0.005))
    box: Box = WAKE
    checkpoint_every: int = 200

    def __post_init__(self) -> None:
        for flow in (self.flow, self.start):
            check_contains_body(flow)
        if self.start.levels != self.flow.levels:
            raise ModelError(
                f"The starting flow has {self.start.levels} levels and the recorded one {self.flow.levels}; "
                "each level starts from the same level, so give "
                f"start=FlowSettings(..., levels={self.flow.levels})."
            )
        if self.checkpoint_every < 1:
            raise ModelError(f"checkpoint_every is {self.checkpoint_every}; it must be at least 1, like 200.")
        _check_box(self.box, self.flow)
        for stage in self.stages():
            _check_stage(stage)

    def stages(self) -> tuple[Stage, ...]:
        """List the stages in the order they run."""
        main = Stage("main", self.flow, _steps(self.watch, self.flow), "settle", self.snapshots)
        return (
            Stage("shed", self.start, _steps(self.shed, self.start), None),
            Stage("settle", self.flow, _steps(self.settle, self.flow), "shed"),
            main,
            *(self._window(window) for window in self.windows),
        )

    def _window(self, window: Window) -> Stage:
        flow = replace(self.flow, time_step=window.time_step)
        steps = _steps(window.settle, flow) + window.snapshots
        return Stage(f"dt-{window.time_step:g}", flow, steps, "main", window.snapshots)


def _steps(duration: float, flow: FlowSettings) -> int:
    return round(duration / flow.time_step)


def _check_stage(stage: Stage) -> None:
    if stage.steps < 1 or not 0 <= stage.snapshots <= stage.steps:
        raise ModelError(
            f"Stage '{stage.name}' has {stage.steps} time steps and {stage.snapshots} snapshots to record; "
            "it needs at least 1 step and no more snapshots than steps. Give more time or fewer snapshots."
        )


def _check_box(box: Box, flow: FlowSettings) -> None:
    for (low, high), (start, stop), axis in zip(box, flow.extent, "xy", strict=True):
        if not start + flow.spacing <= low < high <= stop - flow.spacing:
            raise ModelError(
                f"The recorded box spans {axis} = {low:g} to {high:g}, but the finest grid spans {start:g} "
                f"to {stop:g}. The box must lie inside it, one cell from its edge: the paper's is {WAKE}."
            )
