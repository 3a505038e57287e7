"""The command that compares equations by their evidence."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiddenphysics.cli.data_options import Columns, Experiment, TimeUnit, columns_by_name
from hiddenphysics.cli.options import Constants, Json, Quiet, TimeLimit
from hiddenphysics.cli.terminal import DOUBTFUL, sentences


def compare(
    file: Annotated[Path, typer.Argument(help="Any file that identify takes.", show_default=False)],
    pde: Annotated[
        list[str], typer.Option(help="An equation; repeat it for every one to compare.", show_default=False)
    ],
    model: Annotated[str, typer.Option(help="One model for all: flow, midpoint or paper.")] = "flow",
    column: Columns = None,
    time_unit: TimeUnit = None,
    experiment: Experiment = None,
    constant: Constants = None,
    time_limit: TimeLimit = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare equations for the same data by their evidence."""
    from hiddenphysics.cli.arguments import numbers_by_name, seconds_of
    from hiddenphysics.cli.progress import stages
    from hiddenphysics.snapshots import read_experiments

    with sentences(as_json=as_json) as answer:
        known, limit = numbers_by_name(constant or []), seconds_of(time_limit)
        columns = columns_by_name(column or [])
        runs = read_experiments(file, columns=columns, time_unit=time_unit, experiment=experiment)
        with stages(quiet, timed=False) as say:
            say("loading JAX")
            from hiddenphysics.rival_equations import compare as compared

            found = compared(pde, runs, model=model, constants=known, progress=say, time_limit=limit)
        answer.tell(found, **found.plain())
        if found.equations[0].verdict != "converged":
            raise typer.Exit(DOUBTFUL)
