"""`hiddenphysics reproduce`: the paper's tables and figures, made again."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hiddenphysics.cli.progress import in_words, stages
from hiddenphysics.cli.terminal import FAILED, INTERRUPTED, Answer
from hiddenphysics.errors import DataError

if TYPE_CHECKING:
    from hiddenphysics.reproduction import Progress

EVERY = 10.0
"""Seconds between two lines of progress where there is no terminal."""


def reproduce_studies(
    words: list[str],
    answer: Answer,
    *,
    everything: bool,
    smoke: bool,
    models: list[str],
    pairs: int | None,
    draws: int | None,
    folder: Path,
    workers: int,
    scheduler: str | None,
    data: Path | None,
    datasets: Path | None,
    retry: bool,
    only_report: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run the chosen studies, unless only a report of what is done was asked for, and write the report."""
    if not words and not everything:
        raise DataError(
            "No study was named. Name some, as in: hiddenphysics reproduce burgers kdv; or add --all."
        )
    from hiddenphysics.reproduction import choose, rehearsal, report, restrict, run

    studies = choose(() if everything else words)
    if data is not None and data.is_file() and len(studies) > 1:
        raise DataError(
            f"--data {data} is one file, and {len(studies)} studies were chosen. Give a folder of files."
        )
    if smoke:
        studies = tuple(rehearsal(study) for study in studies)
    studies = restrict(studies, models, pairs, draws)
    try:
        with stages(quiet, verbose=verbose) as say:
            say("opening the data, and making what is missing")
            outcome = run(
                studies,
                folder,
                workers=workers,
                scheduler=scheduler,
                data=data,
                datasets=datasets,
                retry=retry,
                fit=not only_report,
                progress=_telling(say),
            )
            say("writing the report")
            page = report(outcome, folder)
    except KeyboardInterrupt:
        again = shlex.join(["hiddenphysics", *sys.argv[1:]])
        answer.fail(INTERRUPTED, f"interrupted. What is done is kept; go on with: {again}", before="")
    answer.tell(page, report=str(page), fits=len(outcome.rows), failed=outcome.failed)
    if outcome.failed:
        sentence = f"{outcome.failed} of {len(outcome.rows)} fits failed; the report says why."
        answer.fail(FAILED, f"{sentence} Try those again with --retry.", before="")


def _telling(say: Callable[[str], None]) -> Callable[[Progress], None]:
    """Say how far the run is: at every fit on a terminal, now and then elsewhere."""
    told = -EVERY

    def tell(progress: Progress) -> None:
        nonlocal told
        now = time.monotonic()
        if sys.stderr.isatty() or now - told >= EVERY or progress.done == progress.total:
            told = now
            say(sentence(progress))

    return tell


def sentence(progress: Progress) -> str:
    """Write progress as one line."""
    left = "" if progress.left is None else f", {in_words(progress.left)}"
    return f"{progress.done} of {progress.total} fits{left}: {progress.doing}"
