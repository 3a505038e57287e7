"""Run the command line: `python -m hiddenphysics`."""

from hiddenphysics.cli import main

main()
