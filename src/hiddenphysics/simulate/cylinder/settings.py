"""A run as data: the flow, and the stages that lead from rest to a recording of the wake; checked at the door."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from hiddenphysics.errors import ModelError

CFL_LIMIT = 1.0
"""Largest U Δt/d. The flow speeds up to about 1.6 U beside the cylinder, and RK3 is stable up to √3."""

RADIUS = 0.5
"""The cylinder has diameter 1 and stands at the origin."""

DELTA_REACH = 2
"""Cells the body's forces reach beyond its surface: 1.5 of the delta, half of the staggering."""

Box = tuple[tuple[float, float], tuple[float, float]]
"""((x from, x to), (y from, y to))."""

WAKE: Box = ((1.0, 7.5), (-1.7, 1.7))
"""The paper's wake box: away from the body."""


@dataclass(frozen=True)
class FlowSettings:
    """Grid, time step and Reynolds number of the flow; lengths in diameters, speeds in free-stream speeds.

    Parameters
    ----------
    cells
        Cells of the finest grid in x and y: (450, 200) in the paper. Even, at least 8.
    spacing
        Side d of a cell of the finest grid: 0.02. Forces are within a few percent up to 0.05.
    corner
        Lower left corner of the finest grid: (−1, −2), so the finest grid is [−1, 8] × [−2, 2].
    levels
        Nested grids, each twice as large as the one inside it: 4.
    time_step
        Δt = 0.02. U Δt/d must not exceed 1.
    reynolds
        Re = U D/ν = 100.
    """

    cells: tuple[int, int] = (450, 200)
    spacing: float = 0.02
    corner: tuple[float, float] = (-1.0, -2.0)
    levels: int = 4
    time_step: float = 0.02
    reynolds: float = 100.0

    def __post_init__(self) -> None:
        _check_positive("Reynolds number", self.reynolds, "reynolds=100")
        _check_positive("time step", self.time_step, "time_step=0.02")
        _check_positive("grid spacing", self.spacing, "spacing=0.02")
        _check_levels(self.levels)
        _check_cells(self.cells)
        _check_cfl(self.time_step, self.spacing)

    @property
    def extent(self) -> Box:
        """The finest grid's ((x from, x to), (y from, y to))."""
        (x0, y0), (m, n), d = self.corner, self.cells, self.spacing
        return (x0, x0 + m * d), (y0, y0 + n * d)


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


def check_contains_body(settings: FlowSettings) -> None:
    """Refuse a finest grid that does not hold the cylinder and the cells its forces reach."""
    need = RADIUS + DELTA_REACH * settings.spacing
    (x0, x1), (y0, y1) = settings.extent
    if min(-x0, x1, -y0, y1) < need:
        raise ModelError(
            f"The finest grid [{x0:g}, {x1:g}] × [{y0:g}, {y1:g}] does not contain the body: the cylinder of "
            f"diameter 1 at the origin and the two cells around it need [{-need:g}, {need:g}] in x and in y. "
            "Move the corner or use more cells, for example corner=(-1, -2), cells=(450, 200), spacing=0.02."
        )


def _check_positive(name: str, value: float, example: str) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ModelError(f"The {name} is {value:g}; it must be a positive number, for example {example}.")


def _check_levels(levels: int) -> None:
    if not isinstance(levels, int) or levels < 1:
        raise ModelError(
            f"levels is {levels!r}; at least 1 grid is needed to compute on, and 4 nested grids keep the "
            "outer edge far from the wake: levels=4."
        )


def _check_cells(cells: tuple[int, int]) -> None:
    if any(not isinstance(count, int) or count < 8 or count % 2 for count in cells):
        raise ModelError(
            f"cells is {cells}; both counts must be even and at least 8, so that each grid's edge falls on "
            "nodes of the next larger one: cells=(450, 200)."
        )


def _check_cfl(time_step: float, spacing: float) -> None:
    cfl = time_step / spacing
    if cfl > CFL_LIMIT * (1 + 1e-9):
        raise ModelError(
            f"The time step {time_step:g} is too large for cells of {spacing:g}: U Δt/d is {cfl:.3g} and "
            f"must not exceed {CFL_LIMIT:g}, else the advection is unstable. "
            f"Use time_step={CFL_LIMIT * spacing:g} or less."
        )


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
