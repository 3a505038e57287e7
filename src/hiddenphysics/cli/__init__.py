"""The command line: thin, quick to answer `--help`, JAX loaded only when there is something to compute."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiddenphysics.cli.arguments import spread
    from hiddenphysics.cli.commands import app

__all__ = ["app", "main", "spread"]

_MODULES = {"app": "commands", "spread": "arguments"}


def main() -> None:
    """Run the command line; Ctrl-C, also during the imports, and a full disk behind stdout end in a sentence."""
    try:
        from hiddenphysics.cli.arguments import spread
        from hiddenphysics.cli.commands import app

        try:
            app(args=spread(sys.argv[1:]))
        except SystemExit as ended:
            if isinstance(ended.__context__, BrokenPipeError):
                os._exit(8)  # the reader of a pipe has seen enough, which needs no words
            learning = sys.modules.get("hiddenphysics.learning")
            if learning is not None and learning.is_left_computing():
                # A fit that was stopped while something was compiled: Python would wait for the compiler.
                _leave(ended.code if isinstance(ended.code, int) else int(ended.code is not None))
            raise
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        if "--json" in sys.argv:
            print(
                '{"error": {"kind": "interrupted", "exit_code": 130, "message": "interrupted"}}', flush=True
            )
        _end("interrupted", 130)
    except OSError as problem:
        _end(f"error: what is printed could not be written: {problem.strerror}.", 8)


def _end(sentence: str, code: int) -> None:
    """Leave at once: Python would try to print what cannot be printed once more."""
    print(sentence, file=sys.stderr, flush=True)
    os._exit(code)


def _leave(code: int) -> None:
    """Leave at once what is not waited for; all that was to be said and written has been."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def __getattr__(name: str) -> Any:
    # Loaded when used, so that Ctrl-C during an import is heard by `main`.
    if name in _MODULES:
        return getattr(import_module(f"hiddenphysics.cli.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'hiddenphysics.cli' has no attribute {name!r}")
