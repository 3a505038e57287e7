"""The command line: thin, quick to answer `--help`, JAX loaded only when there is something to compute."""

from hiddenphysics.cli.app import main

__all__ = ["main"]
