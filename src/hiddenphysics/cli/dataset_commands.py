"""`hiddenphysics datasets`: list, make and find the data sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from hiddenphysics.cli.arguments import check_output
from hiddenphysics.cli.options import Force, Json, Quiet, Verbose, datasets_beginning
from hiddenphysics.cli.progress import progress_bar
from hiddenphysics.cli.terminal import INTERRUPTED, Answer, sentences

app = typer.Typer(
    no_args_is_help=True, help="Data to try: made on this machine from a seed, nothing is downloaded."
)

Name = Annotated[
    str, typer.Argument(help="One of `datasets list`.", show_default=False, autocompletion=datasets_beginning)
]
Folder = Annotated[
    Path | None, typer.Option(help="Where data sets are kept; the user's cache folder by default.")
]


@app.command("list")
def list_them(folder: Folder = None, as_json: Json = False, verbose: Verbose = False) -> None:
    """List the data sets: name, whether it is there, what it shows."""
    with sentences(as_json=as_json, verbose=verbose) as answer:
        from hiddenphysics.datasets import entry, names, path

        width = max(map(len, names()))
        listed = {}
        for name in names():
            place, summary = path(name, folder=folder), entry(name).summary
            ready = place.exists()
            listed[name] = {"ready": ready, "path": str(place), "summary": summary}
            answer.tell(f"{name:<{width}}  {'ready' if ready else '-':<5}  {summary}", datasets=listed)


@app.command()
def make(
    name: Name, folder: Folder = None, as_json: Json = False, quiet: Quiet = False, verbose: Verbose = False
) -> None:
    """Make a data set, or go on with a run that was interrupted; print where it is."""
    with sentences(as_json=as_json, verbose=verbose) as answer:
        from hiddenphysics import datasets

        resumable = datasets.entry(name).resumable
        with _interruptible(answer, name, folder, resumable), progress_bar(name, quiet) as progress:
            place = datasets.make(name, folder=folder, progress=progress)
        answer.tell(place, path=str(place))


@app.command()
def path(name: Name, folder: Folder = None, as_json: Json = False, verbose: Verbose = False) -> None:
    """Print where a data set is, or will be."""
    with sentences(as_json=as_json, verbose=verbose) as answer:
        from hiddenphysics import datasets

        place = datasets.path(name, folder=folder)
        answer.tell(place, path=str(place), ready=place.exists())


@app.command()
def extract(
    file: Annotated[Path, typer.Argument(help="The .npz file to write.", show_default=False)],
    folder: Folder = None,
    snapshots: Annotated[int, typer.Option(help="Consecutive snapshots.")] = 12,
    first: Annotated[int, typer.Option(help="Number of the first one.")] = 0,
    points: Annotated[int, typer.Option(help="Points, drawn without replacement.")] = 4000,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    as_json: Json = False,
    force: Force = False,
    verbose: Verbose = False,
) -> None:
    """Cut snapshots at scattered points out of the cylinder's run; by default those that ship as cylinder_extract."""
    with sentences(as_json=as_json, verbose=verbose) as answer:
        from hiddenphysics import datasets

        check_output(None, file, force=force)
        cut = {"snapshots": snapshots, "first": first, "points": points, "seed": seed}
        datasets.cut_extract(_recording(folder), file, overwrite=force, **cut)
        answer.tell(file, files=[str(file)])


@app.command()
def picture(
    file: Annotated[
        Path, typer.Argument(help="The picture to write (.png, .pdf, .svg).", show_default=False)
    ],
    folder: Folder = None,
    as_json: Json = False,
    force: Force = False,
    verbose: Verbose = False,
) -> None:
    """Draw the vorticity at the end of the cylinder's run."""
    with sentences(as_json=as_json, verbose=verbose) as answer:
        from hiddenphysics import datasets
        from hiddenphysics.result import write_figure

        check_output(file, force=force)
        write_figure(datasets.plot_vorticity(_recording(folder)), file, overwrite=force)
        answer.tell(file, files=[str(file)])


def _recording(folder: Path | None) -> Path:
    from hiddenphysics import datasets

    datasets.load("cylinder", folder=folder)  # where there is none, the error says how to make it
    return datasets.path("cylinder", folder=folder)


@contextmanager
def _interruptible(answer: Answer, name: str, folder: Path | None, resumable: bool) -> Iterator[None]:
    """Answer Ctrl-C with what is left and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        again = f"hiddenphysics datasets make {name}" + (f" --folder {folder}" if folder else "")
        left = f"What is done is kept; go on with: {again}" if resumable else "Nothing was written."
        answer.fail(INTERRUPTED, f"interrupted. {left}", before="")
