"""The command that opens the studio."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hiddenphysics.cli.terminal import sentences


def studio(
    file: Annotated[
        Path | None,
        typer.Argument(help="What to open at once: any file that identify takes.", show_default=False),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0: a free port.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    ahead: Annotated[
        bool, typer.Option(help="Begin a fit of few values while you are still on the way to the button.")
    ] = True,
) -> None:
    """Open a page of this machine's own: drop a file, type an equation, watch the fit."""
    from hiddenphysics.studio import serve

    with sentences():
        serve(file, port=port, browser=browser, ahead=ahead, say=lambda line: typer.echo(line, err=True))
