"""What a command says on stderr while it works: a bar with the time left on a terminal, lines elsewhere."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, Task

SHARES: tuple[tuple[str, float, float], ...] = (
    ("compiling, and smoothing|smoothing|looking at the recording", 0.02, 0.0),
    ("compiling the likelihood|guessing the parameters", 0.3, 0.0),
    ("learning, from the regression", 0.3, 0.0),
    ("round 1", 0.4, 0.0),
    (r"\d+ window\(s\), (\d+) of (\d+) stops", 0.4, 0.2),
    ("choosing windows", 0.6, 0.0),
    ("learning", 0.65, 0.0),
    (r"design \d+, point (\d+) of (\d+)", 0.65, 0.25),
    ("measuring the uncertainty", 0.7, 0.0),
    ("round", 0.85, 0.0),
    ("correcting for the volume|state at the top", 0.9, 0.0),
)
"""Share of a fit's time that is over when a stage begins, and how much of it the stage's own count adds.

Roughly as on one core: flow on the demo, with and without compiled code, and midpoint on 120 points of a heat equation;
those of whole recordings are guessed.
"""
FIRST = "reading equation"
"""The first stage of a fit; what was loaded before it, once in a while slowly, says nothing about its time."""
ENOUGH = 0.25
"""Share that has to be over before the end is foreseen."""
TIME = re.compile(r" \(\d+ s\)$")
"""The seconds that a fit writes behind its stages; a bar has a clock of its own."""


class Forecast:
    """The end of a fit, foreseen from the stages it has passed.

    Parameters
    ----------
    clock
        Returns seconds.

    Examples
    --------
    >>> now = 0.0
    >>> forecast = Forecast(lambda: now)
    >>> forecast.hear("reading equation and data (0 s)")
    >>> now = 6.0
    >>> forecast.hear("round 1 (6 s)")
    >>> forecast.share, round(forecast.left)
    (0.4, 9)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = self._heard = clock()
        self.share = 0.0

    def hear(self, stage: str) -> None:
        """Take note of a stage; one that is known already, or was passed, changes nothing."""
        if stage.startswith(FIRST):
            self._began = self._clock()
        for pattern, begins, adds in SHARES:
            match = re.match(pattern, stage)
            if match is None:
                continue
            if adds:
                at, total = map(int, match.groups())
                begins += adds * (at - 1) / max(total, 1)
            if begins > self.share:
                self.share, self._heard = begins, self._clock()
            return

    @property
    def left(self) -> float | None:
        """Seconds that are left; None where that cannot be told: at the start, and past what was foreseen."""
        if self.share < ENOUGH:
            return None
        left = (self._heard - self._began) / self.share - (self._clock() - self._began)
        return left if left > 0 else None


@contextmanager
def stages(
    quiet: bool, *, timed: bool = True, foreseen: bool = False, verbose: bool = False
) -> Iterator[Callable[[str], None]]:
    """Yield a function that announces a stage: beside a bar or a spinner on a terminal, a line each elsewhere.

    Parameters
    ----------
    quiet
        Say nothing.
    timed
        With the elapsed time behind every line, unless what speaks here tells it.
    foreseen
        The stages are those of a fit: on a terminal they make a bar, with the time that may be left.
    verbose
        Keep every stage as a line on a terminal, too.
    """
    if quiet:
        yield lambda stage: None
        return
    from rich.console import Console

    console = Console(stderr=True)
    began = time.perf_counter()

    def worded(stage: str) -> str:
        return f"{stage} ({time.perf_counter() - began:.0f} s)" if timed else stage

    def line(stage: str) -> None:
        console.print(worded(stage), markup=False, soft_wrap=True)

    if not console.is_terminal:
        yield line
        return
    if foreseen:
        with _bar(console) as bar:
            yield _on_bar(bar, line if verbose else None)
        return
    with console.status("starting") as status:

        def show(stage: str) -> None:
            if verbose:
                line(stage)
            status.update(worded(stage))

        yield show


@contextmanager
def progress_bar(name: str, quiet: bool) -> Iterator[Callable[[float], None]]:
    """Yield a function that takes the finished part: a bar on a terminal, a line for every tenth elsewhere."""
    if quiet:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(name)
        return
    with Progress(*Progress.get_default_columns(), TimeElapsedColumn(), console=console) as shown:
        task = shown.add_task(name, total=1.0)
        yield lambda done: shown.update(task, completed=done)


def _bar(console: Console) -> Progress:
    """Make a bar: the stage, how far, seconds since the start, and what is left."""
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    class Left(ProgressColumn):
        """What is left, asked whenever the bar is drawn."""

        def render(self, task: Task) -> Text:
            return Text(in_words(task.fields["forecast"].left))

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(bar_width=24))
    return Progress(*columns, TimeElapsedColumn(), Left(), console=console, transient=True)


def _on_bar(bar: Progress, line: Callable[[str], None] | None) -> Callable[[str], None]:
    """Return a function that shows a stage on a bar, and keeps its `line` where one is wanted."""
    forecast = Forecast()
    task = bar.add_task("starting", total=1.0, forecast=forecast)

    def show(stage: str) -> None:
        forecast.hear(stage)
        bar.update(task, description=TIME.sub("", stage), completed=forecast.share)
        if line is not None:
            line(stage)

    return show


def in_words(left: float | None) -> str:
    """Say what is left.

    >>> in_words(8.6), in_words(200.0), in_words(None)
    ('about 9 s left', 'about 3.3 min left', '')
    """
    if left is None:
        return ""
    from hiddenphysics.workers import duration

    return f"about {duration(max(left, 1.0))} left"


def _lines(name: str) -> Callable[[float], None]:
    """Return a function that prints every tenth of the work once."""
    told = -1

    def tell(done: float) -> None:
        nonlocal told
        if int(10 * done) > told:
            told = int(10 * done)
            typer.echo(f"{name}: {10 * told} %", err=True)

    return tell
