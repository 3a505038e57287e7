"""`simulate`: a saved result in, its trajectory out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import typer

from hiddenphysics.cli.compilation import keep_compiled_code
from hiddenphysics.cli.progress import stages
from hiddenphysics.errors import DataError


@dataclass(frozen=True)
class Run:
    """How far, how finely, and how many trajectories."""

    until: float
    frames: int
    points: int
    draws: int
    seed: int


def simulate_file(
    file: Path, run: Run, plot: Path | None, save: Path | None, *, force: bool, quiet: bool
) -> None:
    """Load a result, move it on, write the trajectory and its picture."""
    for path in (plot, save):
        if path is not None and path.exists() and not force:
            raise DataError(f"{path} exists and is not overwritten. Choose another name, or add --force.")
    keep_compiled_code()
    with stages(quiet) as say:
        say("loading the result")
        from hiddenphysics.plots import plot_trajectory, write_figure
        from hiddenphysics.result.files import load

        result = load(file)
        start = float(result.snapshots.times[0])
        if not run.until > start or run.frames < 2:
            raise DataError(
                f"A run until t = {run.until:g} in {run.frames} frames was asked for; it starts at the first snapshot, "
                f"t = {start:g}, and needs at least two frames. Type a later --until."
            )
        say("moving the fields on")
        trajectory = result.simulate(
            np.linspace(start, run.until, run.frames), points=run.points, draws=run.draws, seed=run.seed
        )
        if save is not None:
            trajectory.to_netcdf(save, engine="h5netcdf")
        if plot is not None:
            write_figure(plot_trajectory(result, trajectory), plot, overwrite=force)
    typer.echo(result.identified())
    for path in (save, plot):
        if path is not None and not quiet:
            typer.echo(f"wrote {path}", err=True)
