"""Stages of long work, on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that announces a stage: a spinner with the elapsed time on a terminal, a line each elsewhere."""
    if quiet:
        yield lambda stage: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    began = time.perf_counter()
    if not console.is_terminal:
        yield lambda stage: console.print(f"[{time.perf_counter() - began:5.1f} s] {stage}", markup=False)
        return
    with console.status("starting") as status:
        yield lambda stage: status.update(f"{stage} ({time.perf_counter() - began:.0f} s)")
