"""The commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from hiddenphysics.cli.compare_command import compare
from hiddenphysics.cli.configuration import NAME
from hiddenphysics.cli.data_options import Columns, Experiment, TimeUnit
from hiddenphysics.cli.dataset_commands import app as datasets
from hiddenphysics.cli.group import Commands
from hiddenphysics.cli.options import (
    STUDIES,
    Constants,
    Force,
    Json,
    Kernel,
    Model,
    Pde,
    Plot,
    Quiet,
    Save,
    Seed,
    TimeLimit,
    Verbose,
    studies_beginning,
)
from hiddenphysics.cli.studio_command import studio
from hiddenphysics.cli.terminal import EXIT_CODES, sentences

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Identify the unknown parameters of a PDE, with honest uncertainty, from a few noisy snapshots.",
)
app.add_typer(datasets, name="datasets")
app.command()(studio)
app.command(epilog=EXIT_CODES)(compare)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version as version_of

        typer.echo(version_of("hiddenphysics"))
        raise typer.Exit


@app.callback(epilog=EXIT_CODES)
def _hiddenphysics(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"Take options from this file; {NAME} of this folder by default, if it is there.",
        ),
    ] = None,
    no_config: Annotated[bool, typer.Option("--no-config", help=f"Do not look for {NAME}.")] = False,
) -> None:
    del version  # its callback has answered
    if config is None and not no_config and Path(NAME).exists():
        config = Path(NAME)
    if config is not None:
        from hiddenphysics.cli.configuration import defaults, said

        commands = context.command.commands  # type: ignore[attr-defined]  # of a group
        context.default_map = defaults(config, commands)
        asked = context.invoked_subcommand or ""
        typer.echo(said(config, commands[asked], context.default_map[asked]), err=True)


@app.command(epilog=EXIT_CODES)
def identify(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV (t,x,u), .xlsx, .parquet, .npz, .mat, netCDF, HDF5, .zarr, a folder of .npy, or a folder of such "
            "files, each an experiment.",
            show_default=False,
        ),
    ],
    pde: Pde,
    model: Model = "auto",
    kernel: Kernel = None,
    times: Annotated[
        list[float] | None, typer.Option(help="Which snapshots to use: --times 2.0 2.1.")
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="How far a snapshot may lie from an asked time.")
    ] = None,
    every: Annotated[
        int, typer.Option(min=1, metavar="N", help="Use every N-th snapshot only, beginning with the first.")
    ] = 1,
    points: Annotated[
        list[int] | None, typer.Option(help="Draw that many points per snapshot: --points 71 69.")
    ] = None,
    seed: Seed = 0,
    add_noise: Annotated[
        float, typer.Option(help="Add noise, relative to each field's std (for studies).")
    ] = 0.0,
    column: Columns = None,
    time_unit: TimeUnit = None,
    experiment: Experiment = None,
    each: Annotated[
        bool, typer.Option("--each", help="Fit the experiments one by one, each with parameters of its own.")
    ] = False,
    known: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="NAME=FILE",
            help="A field that is known and has no equation, such as a forcing, measured at times and points of its "
            "own; repeatable. One that was measured with the rest is a column of the file.",
            show_default=False,
        ),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FIELD",
            help="Which field of the data, named as the file or --column names it, stands for a field of the "
            "equation; repeatable. --column names what is read, --field chooses among it.",
        ),
    ] = None,
    constant: Constants = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help='Limits of a parameter, such as "b > 0"; repeatable.'),
    ] = None,
    sensor_offsets: Annotated[
        bool, typer.Option("--sensor-offsets", help="Every sensor is off by an unknown constant.")
    ] = False,
    position_error: Annotated[
        float | None,
        typer.Option(metavar="SIZE", help="Sensors stand about so far off the places that are stated."),
    ] = None,
    sensor_gains: Annotated[
        bool,
        typer.Option("--sensor-gains", help="Every sensor tells its value times an unknown factor near 1."),
    ] = False,
    boundary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="driven|still|x=0:KIND",
            help="Open edges: something unknown comes in at every snapshot, or nothing does; by default the data tell. "
            "One end of a line: x=0:measured, fixed (u = 0), reflecting (u_x = 0), driven, still, or x=0:FILE with "
            "a table of t and u there; repeatable.",
        ),
    ] = None,
    missing: Annotated[
        Literal["refuse", "drop"], typer.Option(help="NaN and inf in the data: refuse, or drop those points.")
    ] = "refuse",
    noise: Annotated[
        Literal["gaussian", "robust", "auto"],
        typer.Option(help="Of one size; with outliers that are left out; or robust where evidence says so."),
    ] = "gaussian",
    inference: Annotated[
        Literal["laplace", "nuts"],
        typer.Option(help="Intervals from the curvature at the optimum, or from chains that sample."),
    ] = "laplace",
    time_limit: TimeLimit = None,
    plot: Plot = None,
    save: Save = None,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Identify the parameters of a PDE from snapshots in a file."""
    from hiddenphysics.cli.actions import Choice, Output, identify_file

    choice = Choice(tuple(times or ()), tolerance, every, tuple(points or ()), seed, add_noise)
    with sentences(as_json=as_json, verbose=verbose) as answer:
        identify_file(
            file,
            ";".join([pde, *(bounds or [])]),
            choice,
            Output(answer, plot, save, force, quiet, verbose),
            model=model,
            kernel=kernel,
            columns=column or [],
            time_unit=time_unit,
            experiment=experiment,
            each=each,
            known=known or [],
            fields=field or [],
            constants=constant or [],
            missing=missing,
            noise=noise,
            inference=inference,
            time_limit=time_limit,
            sensors={
                "offsets": sensor_offsets,
                "position_error": False if position_error is None else position_error,
                "gains": sensor_gains,
            },
            boundary=boundary,
        )


@app.command(epilog=EXIT_CODES)
def simulate(
    file: Annotated[Path, typer.Argument(help="A result written by identify --save.", show_default=False)],
    until: Annotated[float, typer.Option(help="Last time.", show_default=False)],
    frames: Annotated[int, typer.Option(help="How many times from the first snapshot on.")] = 101,
    points: Annotated[int, typer.Option(help="Grid points along each coordinate.")] = 200,
    draws: Annotated[int, typer.Option(help="Trajectories drawn from the posterior; 0 for the mean.")] = 0,
    seed: Seed = 0,
    plot: Plot = None,
    save: Annotated[Path | None, typer.Option(help="Write the trajectory as netCDF.")] = None,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Move what was found onwards by the identified equation (model flow)."""
    from hiddenphysics.cli.actions import Output, Run, simulate_file

    with sentences(as_json=as_json, verbose=verbose) as answer:
        output = Output(answer, plot, save, force, quiet, verbose)
        simulate_file(file, Run(until, frames, points, draws, seed), output)


@app.command(epilog=EXIT_CODES)
def explain(
    pde: Annotated[str, typer.Argument(show_default=False)],
    constant: Constants = None,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Say how an equation is understood: fields, parameters, order, linear or not."""
    with sentences(as_json=as_json, verbose=verbose) as answer:
        from hiddenphysics.cli.actions import explain_equation

        explain_equation(pde, constant or [], answer)


@app.command(epilog=EXIT_CODES)
def demo(
    noise: Annotated[float, typer.Option(help="Added noise, relative to the field's std.")] = 0.01,
    seed: Seed = 0,
    csv: Annotated[
        Path | None, typer.Option(help="Also write the 140 points as CSV, to try `identify` on.")
    ] = None,
    time_limit: TimeLimit = None,
    plot: Plot = None,
    save: Save = None,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Identify Burgers' equation from 140 noisy points of its exact solution."""
    from hiddenphysics.cli.actions import Output, run_demo

    with sentences(as_json=as_json, verbose=verbose) as answer:
        run_demo(noise, seed, csv, Output(answer, plot, save, force, quiet, verbose), time_limit)


@app.command(epilog=EXIT_CODES)
def reproduce(
    studies: Annotated[
        list[str] | None,
        typer.Argument(help=f"{', '.join(STUDIES)}.", show_default=False, autocompletion=studies_beginning),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All studies.")] = False,
    smoke: Annotated[bool, typer.Option("--smoke", help="A rehearsal: one pair, few points.")] = False,
    model: Annotated[
        list[str] | None, typer.Option(help="Only this forward model; repeatable.", show_default=False)
    ] = None,
    pairs: Annotated[
        int | None,
        typer.Option(
            min=1, help="So many pairs in every cell, evenly spaced, instead of each table's own number."
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(min=1, help="So many draws of points and noise of every pair, instead of one."),
    ] = None,
    folder: Annotated[Path, typer.Option(help="Where fits and report are written.")] = Path("reproduction"),
    workers: Annotated[int, typer.Option(min=0, help="Processes, one thread each; 0: in this one.")] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A dask.distributed scheduler, instead of processes."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="The original .mat file, or a folder of them.", show_default=False)
    ] = None,
    datasets_folder: Annotated[
        Path | None, typer.Option(help="Where the project's own data sets are kept.", show_default=False)
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run fits again that failed before.")] = False,
    only_report: Annotated[
        bool, typer.Option("--report", help="Fit nothing: write the report of what is done.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make the paper's tables and figures again; a run that was stopped goes on where it was."""
    from hiddenphysics.cli.reproduce import reproduce_studies

    with sentences(as_json=as_json, verbose=verbose) as answer:
        reproduce_studies(
            studies or [],
            answer,
            everything=everything,
            smoke=smoke,
            models=model or [],
            pairs=pairs,
            draws=draws,
            folder=folder,
            workers=workers,
            scheduler=scheduler,
            data=data,
            datasets=datasets_folder,
            retry=retry,
            only_report=only_report,
            quiet=quiet,
            verbose=verbose,
        )
