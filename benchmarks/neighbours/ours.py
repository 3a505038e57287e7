"""Ours: two snapshots at the paper's numbers of scattered points, other points at each time; or all of it."""

from __future__ import annotations

import time

import hiddenphysics as hp
from benchmarks.neighbours.fit import Fit, Job
from benchmarks.neighbours.problems import PROBLEMS
from benchmarks.neighbours.recording import Recording


def fit(job: Job, recording: Recording) -> list[Fit]:
    """Identify with the default settings and no limit of time; points of a pair are drawn with its index as seed."""
    problem = PROBLEMS[job.problem]
    seen = recording.snapshots
    if job.gap:
        seen = recording.pair(job.index, job.gap).subsample(list(problem.points), seed=job.index)
    began = time.perf_counter()
    result = hp.identify(problem.equation, seen, time_limit=float("inf"))
    seconds = time.perf_counter() - began
    return [
        Fit(
            job=job,
            form="told",
            setting=f"default ({result.model})",
            values=sum(map(len, seen)) * len(problem.fields),
            estimates={name: float(result.parameters[name].estimate) for name in problem.truth},
            extra=(),
            missing=(),
            seconds=seconds,
            answered=str(result.status) in ("converged", "at_bound"),
        )
    ]
