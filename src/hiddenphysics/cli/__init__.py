"""The command line: thin, quick to answer `--help`, JAX loaded only when there is something to compute."""

from hiddenphysics.cli.app import app, main
from hiddenphysics.cli.arguments import spread

__all__ = ["app", "main", "spread"]
