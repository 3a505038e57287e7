"""The commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from hiddenphysics.cli.dataset_commands import app as datasets
from hiddenphysics.cli.studio_command import studio
from hiddenphysics.cli.terminal import EXIT_CODES, sentences

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Identify the unknown parameters of a PDE, with honest uncertainty, from a few noisy snapshots.",
)
app.add_typer(datasets, name="datasets")
app.command()(studio)

Pde = Annotated[
    str, typer.Option(help='The equation, such as "u_t + a*u*u_x - b*u_xx = 0".', show_default=False)
]
Constants = Annotated[
    list[str] | None,
    typer.Option("--constant", metavar="NAME=VALUE", help="A known number in the equation; repeatable."),
]
Plot = Annotated[Path | None, typer.Option(help="Write a picture (.png, .pdf, .svg).")]
Save = Annotated[Path | None, typer.Option(help="Write the result (netCDF).")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Model = Annotated[str, typer.Option(help="Forward model: auto, flow, midpoint or paper.")]
Kernel = Annotated[
    str | None,
    typer.Option(
        help="Prior: squared_exponential, matern:NU, rational_quadratic, sech, periodic:PERIOD; sums with +, shortest "
        "scale first.",
        show_default=False,
    ),
]
TimeLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SECONDS",
        help="Return the best so far after that time: 60, 90s, 10m, 2h, or none; 600 s by default. Ctrl-C does the "
        "same at once.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of sub-sampling and added noise.")]


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version as version_of

        typer.echo(version_of("hiddenphysics"))
        raise typer.Exit


@app.callback(epilog=EXIT_CODES)
def _hiddenphysics(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version  # its callback has answered


@app.command(epilog=EXIT_CODES)
def identify(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV (t,x,u), .npz, .mat, netCDF, .zarr, or a folder of .npy.", show_default=False
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
    points: Annotated[
        list[int] | None, typer.Option(help="Draw that many points per snapshot: --points 71 69.")
    ] = None,
    seed: Seed = 0,
    add_noise: Annotated[
        float, typer.Option(help="Add noise, relative to each field's std (for studies).")
    ] = 0.0,
    field: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COLUMN", help="Use this column for a field of the equation; repeatable."),
    ] = None,
    constant: Constants = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help='Limits of a parameter, such as "b > 0"; repeatable.'),
    ] = None,
    missing: Annotated[
        Literal["refuse", "drop"], typer.Option(help="NaN and inf in the data: refuse, or drop those points.")
    ] = "refuse",
    time_limit: TimeLimit = None,
    plot: Plot = None,
    save: Save = None,
    as_json: Json = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Identify the parameters of a PDE from snapshots in a file."""
    from hiddenphysics.cli.actions import Choice, Output, identify_file

    choice = Choice(tuple(times or ()), tolerance, tuple(points or ()), seed, add_noise)
    with sentences():
        identify_file(
            file,
            ";".join([pde, *(bounds or [])]),
            choice,
            Output(plot, save, as_json, force, quiet),
            model=model,
            kernel=kernel,
            fields=field or [],
            constants=constant or [],
            missing=missing,
            time_limit=time_limit,
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
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Move what was found onwards by the identified equation (model flow)."""
    from hiddenphysics.cli.actions import Run, simulate_file

    with sentences():
        simulate_file(file, Run(until, frames, points, draws, seed), plot, save, force=force, quiet=quiet)


@app.command()
def explain(pde: Annotated[str, typer.Argument(show_default=False)], constant: Constants = None) -> None:
    """Say how an equation is understood: fields, parameters, order, linear or not."""
    with sentences():
        from hiddenphysics.cli.arguments import numbers_by_name
        from hiddenphysics.equation import Equation

        typer.echo(Equation.parse(pde, constants=numbers_by_name(constant or [])).explain())


@app.command()
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
) -> None:
    """Identify Burgers' equation from 140 noisy points of its exact solution."""
    from hiddenphysics.cli.actions import Output, run_demo

    with sentences():
        run_demo(noise, seed, csv, Output(plot, save, as_json, force, quiet), time_limit)


@app.command()
def reproduce(
    studies: Annotated[
        list[str] | None,
        typer.Argument(help="burgers, kdv, ks, schrodinger, navier-stokes, fractional.", show_default=False),
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
    quiet: Quiet = False,
) -> None:
    """Make the paper's tables and figures again; a run that was stopped goes on where it was."""
    from hiddenphysics.cli.reproduce import reproduce_studies

    with sentences():
        reproduce_studies(
            studies or [],
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
        )
