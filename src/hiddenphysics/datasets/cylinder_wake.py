"""Flow past a cylinder at Re = 100: the run of half an hour, the extract of it that ships, the picture of its wake."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from hiddenphysics.datasets.recipe import Entry, Progress
from hiddenphysics.errors import DataError, WriteError
from hiddenphysics.loader import read_archive
from hiddenphysics.result import load_figure_class
from hiddenphysics.simulate.cylinder import (
    CHECKPOINT,
    FIELDS,
    RADIUS,
    FlowSettings,
    RunPlan,
    extract,
    nested_grids,
    open_recording,
    read_state,
    run,
)

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EQUATION: Final = (
    "u_t + lambda_1*(u*u_x + v*u_y) + p_x - lambda_2*lap(u) = 0;"
    " v_t + lambda_1*(u*v_x + v*v_y) + p_y - lambda_2*lap(v) = 0;"
    " u = psi_y; v = -psi_x"
)

SHIPPED: Final = Path(__file__).parent / "files" / "cylinder_extract.npz"

CUT: Final = {"first": 0, "snapshots": 12, "points": 4000, "seed": 0}
"""How the shipped extract was cut out of the run."""

VIEW = ((-1.5, 16.0), (-2.6, 2.6))
"""The part of the plane that the picture shows: the cylinder, and the wake far beyond the recorded box."""

DEEPEST = 3.0
"""Vorticity of the deepest colours; beside the cylinder it is larger."""


@dataclass(frozen=True)
class CylinderRecording(Entry):
    """One recording of the run: the main one, or a window with a smaller time step.

    Parameters
    ----------
    plan
        The run; its recordings share one folder.
    stage
        The stage that recorded: "main", or "dt-0.01" for a window.
    """

    plan: RunPlan
    stage: str
    resumable: ClassVar[bool] = True

    def run_folder(self, place: Path) -> Path:
        """Return the folder of the whole run."""
        return place / f"cylinder-{self.digest('cylinder')}"

    def path(self, name: str, place: Path) -> Path:
        """Return the folder with u.npy, v.npy, vorticity.npy and recording.json; there when the stage is finished."""
        return self.run_folder(place) / self.stage

    def make(self, name: str, place: Path, progress: Progress) -> Path:
        """Run what is left of the run; nothing when it is finished."""
        folder = self.run_folder(place)
        try:
            run(folder, self.plan, lambda done, message: progress(done))
        except OSError as problem:
            raise WriteError(
                f"The run could not be written to {folder}: {problem}. What is done is kept: free some space and make "
                f"{name!r} again, or name another place: folder=..."
            ) from problem
        return self.path(name, place)

    def load(self, name: str, place: Path, progress: Progress) -> xr.Dataset:
        """Open the recording memory-mapped: values are read from the disk when they are used."""
        import xarray as xr

        if not self.path(name, place).is_dir():
            raise DataError(self._how_to_make(name, place))
        recording = open_recording(self.path(name, place))
        fields = {field: (("t", "x", "y"), getattr(recording, field)) for field in FIELDS}
        axes = {"t": recording.time, "x": recording.x, "y": recording.y}
        return xr.Dataset(fields, axes, self.attributes(name))

    def _how_to_make(self, name: str, place: Path) -> str:
        begun = self.run_folder(place).exists()
        return (
            f"The data set {name!r} {'is not finished' if begun else 'has not been made'}: its run takes about 35 "
            f"minutes on one core, and 400 MB. {'Go on with' if begun else 'Make'} it, interruptible at any time, by: "
            f"hiddenphysics datasets make {name} --folder {place}. Or take 'cylinder_extract', 12 of its snapshots at "
            "4000 points, which ships with the package and works at once."
        )


@dataclass(frozen=True)
class CylinderExtract(Entry):
    """Snapshots at scattered nodes of the wake, shipped with the package."""

    file: Path

    def path(self, name: str, place: Path) -> Path:
        """Return the shipped file, whatever the folder."""
        return self.file

    def make(self, name: str, place: Path, progress: Progress) -> Path:
        """Return the shipped file; `cut_extract` cuts it out of the run anew."""
        progress(1.0)
        return self.file

    def load(self, name: str, place: Path, progress: Progress) -> xr.Dataset:
        """Return the fields over (t, point), with the coordinates x and y of each point."""
        import xarray as xr

        archive = read_archive(self.file)
        fields = {field: (("t", "point"), archive[field]) for field in FIELDS}
        # Kept in single precision; the nodes lie at multiples of 0.02.
        points = {axis: ("point", np.round(archive[axis].astype(np.float64), 6)) for axis in ("x", "y")}
        return xr.Dataset(fields, {"t": archive["time"]} | points, self.attributes(name))


def recording_of(plan: RunPlan, stage: str, summary: str) -> CylinderRecording:
    """Return the entry of one of the run's recordings."""
    return CylinderRecording(summary, EQUATION, _truth(plan), asdict(plan), plan, stage)


def _truth(plan: RunPlan) -> dict[str, float]:
    return {"lambda_1": 1.0, "lambda_2": 1 / plan.flow.reynolds}


def cut_extract(recording: Path, file: Path, *, overwrite: bool = False, **cut: int) -> None:
    """Write an extract of a recording (`path("cylinder")`); by default the one that ships, byte for byte."""
    extract(open_recording(recording), file, overwrite=overwrite, **(CUT | cut))


def plot_vorticity(recording: Path) -> Figure:
    """Draw the vorticity at the last time of a recording (`path("cylinder")`), all grids, and the recorded box."""
    opened = open_recording(recording)
    flow = FlowSettings(**opened.metadata["flow"])
    state, _ = read_state(recording / CHECKPOINT)
    figure: Figure = load_figure_class().Figure(figsize=(10, 3.4), layout="constrained")
    axes = figure.add_subplot()
    # Coarse grids first: each finer one covers the middle of the one before.
    for grid, omega in reversed(list(zip(nested_grids(flow), state.omega, strict=True))):
        image = axes.pcolormesh(
            grid.x, grid.y, omega.T, cmap="RdBu_r", vmin=-DEEPEST, vmax=DEEPEST, shading="nearest"
        )
    _outline(axes, opened.x, opened.y)
    axes.set(xlabel="x", ylabel="y", xlim=VIEW[0], ylim=VIEW[1], aspect="equal")
    axes.set_title(f"Vorticity at t = {state.time:.2f}, Re = {flow.reynolds:g}; recorded in the box")
    figure.colorbar(image, ax=axes, pad=0.01, extend="both")
    return figure


def _outline(axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    """Draw the cylinder and the recorded box."""
    from matplotlib.patches import Circle, Rectangle

    axes.add_patch(Circle((0, 0), RADIUS, color="0.6"))
    axes.add_patch(Rectangle((x[0], y[0]), x[-1] - x[0], y[-1] - y[0], fill=False, linewidth=0.8))


PLAN: Final = RunPlan()

CYLINDER = recording_of(
    PLAN, "main", "Vortex street behind a cylinder at Re = 100; 502 snapshots of the wake, every 0.02."
)

CYLINDER_0_01 = recording_of(PLAN, "dt-0.01", "The same flow a little later; 30 snapshots, every 0.01.")

CYLINDER_0_005 = recording_of(PLAN, "dt-0.005", "The same flow a little later; 30 snapshots, every 0.005.")

CYLINDER_EXTRACT = CylinderExtract(
    "Vortex street behind a cylinder at Re = 100: 12 snapshots, every 0.02, at 4000 points of the wake.",
    EQUATION,
    _truth(PLAN),
    {"run": asdict(PLAN), "extract": CUT},
    SHIPPED,
)
