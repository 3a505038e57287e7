"""What identify, demo and simulate do once their words are read: files in, work, files and text out."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import typer

from hiddenphysics.cli.arguments import (
    check_output,
    files_by_name,
    names_by_name,
    numbers_by_name,
    seconds_of,
)
from hiddenphysics.cli.data_options import columns_by_name
from hiddenphysics.cli.progress import stages
from hiddenphysics.cli.terminal import DOUBTFUL, Answer, say_details
from hiddenphysics.errors import DataError
from hiddenphysics.snapshots import Experiments, Snapshots, read_experiments
from hiddenphysics.writer import in_memory, write_file

if TYPE_CHECKING:
    from hiddenphysics.result import Result


@dataclass(frozen=True)
class Choice:
    """Which part of a file to use: times, every n-th of them, points per snapshot, and noise to add for a study."""

    times: tuple[float, ...]
    tolerance: float | None
    every: int
    points: tuple[int, ...]
    seed: int
    noise: float

    def of_each(self, runs: Experiments) -> Experiments:
        """Choose from every experiment, each with noise and points of its own."""
        seeds = itertools.count(self.seed)
        return runs.each(lambda run: replace(self, seed=next(seeds)).of(run))

    def of(self, recording: Snapshots) -> Snapshots:
        """Choose times, thin them, add noise relative to the whole field, then draw points."""
        chosen = recording.at(self.times, self.tolerance) if self.times else recording
        chosen = self._thinned(chosen)
        if self.noise:
            chosen = chosen.with_noise(self.noise, self.seed)
        if not self.points:
            return chosen
        counts = self.points[0] if len(self.points) == 1 else self.points
        return chosen.subsample(counts, self.seed)

    def _thinned(self, recording: Snapshots) -> Snapshots:
        """Keep every n-th snapshot, beginning with the first; refuse to leave one alone."""
        if self.every == 1:
            return recording
        kept = recording[:: self.every]
        if len(kept) < 2:
            raise DataError(
                f"--every {self.every} leaves {len(kept)} of {len(recording)} snapshots; two are needed. "
                f"Type --every {max(len(recording) - 1, 1)} or less."
            )
        return kept


@dataclass(frozen=True)
class Output:
    """Where the answer goes, and how much is said beside it."""

    answer: Answer
    plot: Path | None
    save: Path | None
    force: bool
    quiet: bool
    verbose: bool

    def check(self, *others: Path | None) -> None:
        """Refuse what may not be written before the work, not after it."""
        check_output(self.plot, self.save, *others, force=self.force)

    def write(self, result: Result) -> None:
        """Print the result and write what was asked for; a doubtful status ends in its own exit code."""
        self.answer.tell(result, **result.summary())
        if self.save is not None:
            result.save(self.save, overwrite=self.force)
        if self.plot is not None:
            result.plot(self.plot, overwrite=self.force)
        self.answer.wrote(self.save, self.plot, quiet=self.quiet)
        if result.status != "converged":
            raise typer.Exit(DOUBTFUL)


def explain_equation(pde: str, constants: list[str], answer: Answer) -> None:
    """Say how an equation is understood."""
    from hiddenphysics.equation import Equation

    equation = Equation.parse(pde, constants=numbers_by_name(constants))
    answer.tell(
        equation.explain(),
        equations=list(equation.statements()),
        fields=list(equation.fields),
        evolving=list(equation.evolution),
        parameters={
            name: [limit if np.isfinite(limit) else None for limit in equation.bounds[name]]
            for name in equation.numbers
        },
        functions=[one.call for one in equation.functions],
        constants=dict(equation.constants),
        coordinates=list(equation.coordinates),
        order=equation.order,
        linear=equation.linear,
    )


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
    experiment: list[str] | None,
    each: bool,
    known: list[str],
    fields: list[str],
    constants: list[str],
    missing: Literal["refuse", "drop"],
    noise: str,
    inference: str,
    time_limit: str | None,
    sensors: dict[str, bool | float],
    boundary: list[str] | None,
) -> None:
    """Run `identify` on a file, or on every experiment of it by itself."""
    output.check()
    options: dict[str, Any] = {"model": model, "fields": names_by_name(fields)}
    options["inputs"] = files_by_name(known)
    options |= {"constants": numbers_by_name(constants), "time_limit": seconds_of(time_limit)}
    named = columns_by_name(columns)
    recordings = read_experiments(
        file, columns=named, missing=missing, time_unit=time_unit, experiment=experiment
    )
    runs = choice.of_each(recordings)
    if output.verbose:  # to describe a recording is to read it
        say_details(f"{file}: {recordings.describe()}", f"Used: {runs.describe()}")
    with stages(output.quiet, timed=False, foreseen=True, verbose=output.verbose) as say:
        say("loading JAX")
        from hiddenphysics.identification import identify
        from hiddenphysics.models import Sensors
        from hiddenphysics.priors import kernel_from_text

        options |= {"sensors": Sensors(**sensors), "boundary": boundary, "noise": noise}
        options["inference"] = inference
        options["kernel"] = tuple(map(kernel_from_text, kernel.split("+"))) if kernel else None
        if each:
            tell_each(pde, runs, options, output, say)
            return
        result = identify(pde, runs, progress=say, **options)
    recording = _as_named(recordings.only, result) if len(recordings) == 1 else None
    output.write(result.with_recording(recording))


def tell_each(
    pde: str, runs: Experiments, options: dict[str, Any], output: Output, say: Callable[[str], None]
) -> None:
    """Fit experiments one by one, each with parameters of its own, and print a table of them."""
    if output.save is not None or output.plot is not None:
        raise DataError(
            "--each makes many results, and --save and --plot take one. Leave them out, or --each."
        )
    from hiddenphysics.batch import Failure, identify_many

    limit = options.pop("time_limit")
    limit = None if limit is None or not np.isfinite(limit) else limit
    fits = identify_many(pde, runs, progress=say, time_limit=limit, **options)
    lines = []
    for name, fit in zip(runs.names, fits, strict=True):
        told = fit.explanation if isinstance(fit, Failure) else _parameters(fit)
        lines.append(f"{name:<{max(map(len, runs.names))}}  {fit.status:<17}  {told}")
    summaries = [
        {"name": name}
        | (
            {"status": str(fit.status), "explanation": fit.explanation}
            if isinstance(fit, Failure)
            else fit.summary()
        )
        for name, fit in zip(runs.names, fits, strict=True)
    ]
    output.answer.tell("\n".join(lines), experiments=summaries)
    if any(fit.status != "converged" for fit in fits):
        raise typer.Exit(DOUBTFUL)


def _parameters(result: Result) -> str:
    return "   ".join(f"{name} = {estimate}" for name, estimate in result.parameters.items())


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
    with stages(output.quiet, timed=False, foreseen=True, verbose=output.verbose) as say:
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
    if not output.answer.as_json:
        typer.echo("truth:      u_t + 1 u u_x - 0.1 u_xx = 0\nidentified: ", nl=False)
    output.write(result.with_recording(recording))


def simulate_file(file: Path, run: Run, output: Output) -> None:
    """Load a result, move it on, write the trajectory and its picture."""
    output.check()
    with stages(output.quiet, verbose=output.verbose) as say:
        say("loading the result")
        from hiddenphysics.result import load, plot_trajectory, write_figure

        result = load(file)
        if output.verbose:
            say_details(f"{file}:", str(result))
        start = float(result.snapshots.times[0])
        if not run.until > start or run.frames < 2:
            raise DataError(
                f"A run until t = {run.until:g} in {run.frames} frames was asked for; it starts at the first snapshot, "
                f"t = {start:g}, and needs at least two frames. Type a later --until."
            )
        say("moving the fields on")
        times = np.linspace(start, run.until, run.frames)
        trajectory = result.simulate(times, points=run.points, draws=run.draws, seed=run.seed)
        if output.save is not None:
            write_file(output.save, in_memory(trajectory), overwrite=output.force)
        if output.plot is not None:
            write_figure(plot_trajectory(result, trajectory), output.plot, overwrite=output.force)
    ranges = {str(name): [float(field.min()), float(field.max())] for name, field in trajectory.items()}
    output.answer.tell(
        result.identified(),
        equation=result.identified(),
        times=times.tolist(),
        shape={str(name): size for name, size in trajectory.sizes.items()},
        ranges={name: limits if np.all(np.isfinite(limits)) else None for name, limits in ranges.items()},
    )
    output.answer.wrote(output.save, output.plot, quiet=output.quiet)
