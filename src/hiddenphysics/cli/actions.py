"""What identify, demo and simulate do once their words are read: files in, work, files and text out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import typer

from hiddenphysics.cli.arguments import check_output, names_by_name, numbers_by_name, seconds_of
from hiddenphysics.cli.data_options import columns_by_name
from hiddenphysics.cli.terminal import DOUBTFUL, stages
from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import Snapshots, read
from hiddenphysics.writer import in_memory, write_file

if TYPE_CHECKING:
    from hiddenphysics.result import Result


@dataclass(frozen=True)
class Choice:
    """Which part of a file to use: times, points per snapshot, and noise to add for a study."""

    times: tuple[float, ...]
    tolerance: float | None
    points: tuple[int, ...]
    seed: int
    noise: float

    def of(self, recording: Snapshots) -> Snapshots:
        """Choose times, add noise relative to the whole field, then draw points."""
        chosen = recording.at(self.times, self.tolerance) if self.times else recording
        if self.noise:
            chosen = chosen.with_noise(self.noise, self.seed)
        if not self.points:
            return chosen
        counts = self.points[0] if len(self.points) == 1 else self.points
        return chosen.subsample(counts, self.seed)


@dataclass(frozen=True)
class Output:
    """Where the answer goes."""

    plot: Path | None
    save: Path | None
    as_json: bool
    force: bool
    quiet: bool

    def check(self, *others: Path | None) -> None:
        """Refuse what may not be written before the work, not after it."""
        check_output(self.plot, self.save, *others, force=self.force)

    def write(self, result: Result) -> None:
        """Print the result and write what was asked for; a doubtful status ends in its own exit code."""
        typer.echo(json.dumps(result.summary(), indent=2) if self.as_json else str(result))
        if self.save is not None:
            result.save(self.save, overwrite=self.force)
        if self.plot is not None:
            result.plot(self.plot, overwrite=self.force)
        for path in (self.save, self.plot):
            if path is not None and not self.quiet:
                typer.echo(f"wrote {path}", err=True)
        if result.status != "converged":
            raise typer.Exit(DOUBTFUL)


@dataclass(frozen=True)
class Run:
    """How far, how finely, and how many trajectories."""

    until: float
    frames: int
    points: int
    draws: int
    seed: int


def identify_file(
    file: Path,
    pde: str,
    choice: Choice,
    output: Output,
    *,
    model: str,
    kernel: str | None,
    columns: list[str],
    time_unit: str | None,
    fields: list[str],
    constants: list[str],
    missing: Literal["refuse", "drop"],
    time_limit: str | None,
) -> None:
    """Run `identify` on a file."""
    output.check()
    known, chosen, limit = numbers_by_name(constants), names_by_name(fields), seconds_of(time_limit)
    recording = read(file, columns=columns_by_name(columns), missing=missing, time_unit=time_unit)
    snapshots = choice.of(recording)
    with stages(output.quiet, timed=False) as say:
        say("loading JAX")
        from hiddenphysics.identification import identify
        from hiddenphysics.priors import kernel_from_text

        result = identify(
            pde,
            snapshots,
            model=model,
            kernel=tuple(map(kernel_from_text, kernel.split("+"))) if kernel else None,
            fields=chosen,
            constants=known,
            progress=say,
            time_limit=limit,
        )
    output.write(result.with_recording(_as_named(recording, result)))


def _as_named(recording: Snapshots, result: Result) -> Snapshots | None:
    """Return the whole file under the equation's names, where its fields can be told."""
    if len(recording) <= len(result.snapshots) or len(recording.fields) != len(result.snapshots.fields):
        return None
    if recording.complex_fields and result.snapshots.complex_fields:
        return recording.rename({recording.complex_fields[0]: result.snapshots.complex_fields[0]})
    return recording.rename(dict(zip(recording.fields, result.snapshots.fields, strict=True)))


def run_demo(noise: float, seed: int, csv: Path | None, output: Output, time_limit: str | None) -> None:
    """Make 140 points of Burgers' equation and identify it."""
    output.check(csv)
    limit = seconds_of(time_limit)
    with stages(output.quiet, timed=False) as say:
        say("solving Burgers' equation exactly")
        from hiddenphysics.demo import EQUATION, burgers_recording, two_snapshots

        recording = burgers_recording()
        snapshots = two_snapshots(recording, noise, seed)
        if csv is not None:
            table = snapshots.to_table().to_csv(index=False)
            write_file(csv, table.encode(), overwrite=output.force)
        say("loading JAX")
        from hiddenphysics.identification import identify

        result = identify(EQUATION, snapshots, progress=say, time_limit=limit)
    if not output.as_json:
        typer.echo("truth:      u_t + 1 u u_x - 0.1 u_xx = 0\nidentified: ", nl=False)
    output.write(result.with_recording(recording))


def simulate_file(
    file: Path, run: Run, plot: Path | None, save: Path | None, *, force: bool, quiet: bool
) -> None:
    """Load a result, move it on, write the trajectory and its picture."""
    check_output(plot, save, force=force)
    with stages(quiet) as say:
        say("loading the result")
        from hiddenphysics.result import load, plot_trajectory, write_figure

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
            write_file(save, in_memory(trajectory), overwrite=force)
        if plot is not None:
            write_figure(plot_trajectory(result, trajectory), plot, overwrite=force)
    typer.echo(result.identified())
    for path in (save, plot):
        if path is not None and not quiet:
            typer.echo(f"wrote {path}", err=True)
