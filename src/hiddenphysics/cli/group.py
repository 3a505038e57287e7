"""The group of all commands: what it does with a word that is no option, when the answer is to be JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from hiddenphysics.cli.terminal import failure, print_json

FIRST = ("demo", "identify", "studio", "explain", "compare", "simulate")
"""The commands that a stranger needs, in the order in which they are met; the others stand behind them."""
NEEDED = {"pde": 'Type the equation, as in --pde "u_t + a*u*u_x - b*u_xx = 0".'}
"""What to type where something is missing, by its name."""


class Commands(TyperGroup):
    """Commands whose usage errors are JSON, too, where --json stands among the words or in the configuration file."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, in the order of the help."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))

    def invoke(self, ctx: Any) -> Any:
        """Run a command; where a file asks for JSON, a mistake in its words is a document and a sentence."""
        try:
            return super().invoke(ctx)
        except typer.TyperException as mistake:
            name = getattr(getattr(mistake, "param", None), "name", None)
            mistake.message = mistake.message or NEEDED.get(name or "", "")
            options = getattr(getattr(mistake, "ctx", None), "default_map", None) or {}
            if options.get("as_json") is not True:
                raise
            raise typer.Exit(_told(mistake)) from None

    def main(self, args: Sequence[str] | None = None, *given: Any, **named: Any) -> Any:
        """Run the words; with --json, a mistake in them is a document on stdout and a sentence on stderr."""
        words = sys.argv[1:] if args is None else list(args)
        if "--json" not in words or named.get("standalone_mode") is False:
            return super().main(args, *given, **named)
        try:
            code = super().main(args, *given, **named | {"standalone_mode": False})
        except typer.TyperException as mistake:
            code = _told(mistake)
        return sys.exit(code if isinstance(code, int) else 0)


def _told(mistake: typer.TyperException) -> int:
    """Print a document on stdout and a sentence on stderr; return the exit code."""
    print_json(failure(mistake.exit_code, mistake.format_message()))
    typer.echo(f"error: {mistake.format_message()}", err=True)
    return int(mistake.exit_code)
