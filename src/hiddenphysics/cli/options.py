"""Options that several commands have, and the words that a shell may complete behind them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

MODELS = ("auto", "flow", "midpoint", "paper")
KERNELS = ("squared_exponential", "matern:", "rational_quadratic", "sech", "periodic:")
STUDIES = ("burgers", "kdv", "ks", "schrodinger", "navier-stokes", "fractional")
DATASETS = (
    "burgers",
    "kdv",
    "kuramoto_sivashinsky",
    "schrodinger",
    "cylinder",
    "cylinder_dt_0.01",
    "cylinder_dt_0.005",
    "cylinder_extract",
    "brownian",
    "levy",
    "sine_gordon",
    "allen_cahn",
    "reaction_diffusion_2d",
    "taylor_green",
)
"""Names for help and completion, which must not wait for the modules that hold them; a test compares."""


def models_beginning(incomplete: str) -> list[str]:
    """Complete the name of a model."""
    return [name for name in MODELS if name.startswith(incomplete)]


def kernels_beginning(incomplete: str) -> list[str]:
    """Complete the last kernel of a sum."""
    before, plus, last = incomplete.rpartition("+")
    return [f"{before}{plus}{name}" for name in KERNELS if name.startswith(last)]


def studies_beginning(incomplete: str) -> list[str]:
    """Complete the name of a study."""
    return [name for name in STUDIES if name.startswith(incomplete)]


def datasets_beginning(incomplete: str) -> list[str]:
    """Complete the name of a data set."""
    return [name for name in DATASETS if name.startswith(incomplete)]


Pde = Annotated[
    str, typer.Option(help='The equation, such as "u_t + a*u*u_x - b*u_xx = 0".', show_default=False)
]
Constants = Annotated[
    list[str] | None,
    typer.Option("--constant", metavar="NAME=VALUE", help="A known number in the equation; repeatable."),
]
Plot = Annotated[Path | None, typer.Option(help="Write a picture (.png, .pdf, .svg).")]
Save = Annotated[Path | None, typer.Option(help="Write the result (netCDF).")]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document, also for an error, and nothing else on stdout."),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Say more on stderr: what was read, every stage, where an error came from."
    ),
]
Model = Annotated[
    str, typer.Option(help="Forward model: auto, flow, midpoint or paper.", autocompletion=models_beginning)
]
Kernel = Annotated[
    str | None,
    typer.Option(
        help="Prior: squared_exponential, matern:NU, rational_quadratic, sech, periodic:PERIOD; sums with +, shortest "
        "scale first.",
        show_default=False,
        autocompletion=kernels_beginning,
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
