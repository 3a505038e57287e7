"""Which fits there are to make, and making those that are not made yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from benchmarks.neighbours.fit import Fit, Job, append, load
from benchmarks.neighbours.problems import PROBLEMS
from benchmarks.neighbours.recording import Recording, record

METHODS = {
    "hiddenphysics": "ours",
    "PySINDy strong": "sindy",
    "PySINDy weak": "sindy",
    "DeepXDE": "pinn",
}
"""Method -> the module whose `fit` makes it."""


@dataclass(frozen=True)
class Plan:
    """What to compare; `folder` is None for our own data sets, `rows` keeps the fits of a run that was stopped.

    `gaps` holds "short" and "long", for pairs of snapshots, and "all", for the whole recording: the neighbours get that
    in any case, ours where it is asked for.
    """

    folder: Path | None
    problems: tuple[str, ...]
    methods: tuple[str, ...]
    noises: tuple[float, ...]
    gaps: tuple[str, ...]
    pairs: int
    rows: Path | None = None


def jobs(plan: Plan, name: str, method: str, noise: float, recording: Recording) -> Iterator[Job]:
    """Yield the jobs of one method on one noisy recording.

    The neighbours get all snapshots. Ours, and those neighbours that can, get pairs. The weak form cannot: a subdomain
    must be shorter than the recording and hold two of its times; of two snapshots PySINDy builds none, with an error.
    """
    if method == "DeepXDE" and len(PROBLEMS[name].fields) > 1:
        return
    if method != "hiddenphysics" or "all" in plan.gaps:
        yield Job(name, noise, method, 0, 0)
    if method == "PySINDy weak":
        return
    short, long = PROBLEMS[name].gaps
    for word, gap in (("short", short), ("long", long)):
        if word in plan.gaps:
            # A network takes minutes a pair: it gets the middle one alone.
            starts = (
                recording.starts(gap, 3)[1:2] if method == "DeepXDE" else recording.starts(gap, plan.pairs)
            )
            yield from (Job(name, noise, method, gap, index) for index in starts)


def carry_out(plan: Plan, say: Callable[[str], None]) -> list[Fit]:
    """Make the fits of the plan, keep each at once, and return all that the plan holds."""
    known = load(plan.rows) if plan.rows else []
    done = {fit.job for fit in known}
    wanted: set[Job] = set()
    for name in plan.problems:
        for noise in plan.noises:
            recording = record(PROBLEMS[name], plan.folder, noise)
            for method in plan.methods:
                for job in jobs(plan, name, method, noise, recording):
                    wanted.add(job)
                    if job not in done:
                        say(f"{name}, noise {100 * noise:g} %, {method}, gap {job.gap}, from {job.index}")
                        fits = import_module(f"benchmarks.neighbours.{METHODS[method]}").fit(job, recording)
                        if plan.rows:
                            append(plan.rows, fits)
                        known += fits
    return [fit for fit in known if fit.job in wanted]
