"""What is shown of a fit's stages when nobody said where: one line that changes, in a notebook and on a terminal."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

Say = Callable[[str], None]
HOW_TO_TURN_OFF = "progress=False shows nothing"


@contextmanager
def stage_line() -> Iterator[Say]:
    """Yield a function that shows a stage in place of the last one: in a notebook, on a terminal, elsewhere nowhere.

    Only in the main thread: several fits at a time would write over each other.
    """
    if threading.current_thread() is not threading.main_thread():
        yield _nowhere
    elif _is_in_a_kernel():
        with _in_a_notebook() as say:
            yield say
    elif sys.stderr is not None and sys.stderr.isatty():
        with _on_a_terminal() as say:
            yield say
    else:
        yield _nowhere


def _nowhere(_stage: str) -> None:
    pass


def _is_in_a_kernel() -> bool:
    """Whether IPython runs behind a notebook, which shows what is displayed; its own shell is a terminal."""
    core = sys.modules.get("IPython")
    return core is not None and hasattr(core.get_ipython(), "kernel")


@contextmanager
def _in_a_notebook() -> Iterator[Say]:
    from IPython.display import HTML, display

    last = ""

    def shown(words: str) -> Any:
        return HTML(f"<small>{escape(words)}</small>")

    handle = display(shown("starting"), display_id=True)

    def say(stage: str) -> None:
        nonlocal last
        last = stage
        handle.update(shown(stage))

    try:
        yield say
    finally:
        handle.update(shown(f"{last}; {HOW_TO_TURN_OFF}"))


@contextmanager
def _on_a_terminal() -> Iterator[Say]:
    from rich.console import Console
    from rich.text import Text

    def worded(stage: str) -> Text:
        return Text.assemble(stage, (f"  {HOW_TO_TURN_OFF}", "dim"))

    with Console(stderr=True).status(worded("starting")) as status:
        yield lambda stage: status.update(worded(stage))
