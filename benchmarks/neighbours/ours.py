"""Ours: two snapshots at the paper's numbers of scattered points, other points at each time."""

from __future__ import annotations

import time

import hiddenphysics as hp
from benchmarks.neighbours.fit import Fit, Job
from benchmarks.neighbours.problems import PROBLEMS
from benchmarks.neighbours.recording import Recording


def fit(job: Job, recording: Recording) -> list[Fit]:
    """Identify from one pair with the default settings; points are drawn with the pair's index as seed."""
    problem = PROBLEMS[job.problem]
    pair = recording.pair(job.index, job.gap).subsample(list(problem.points), seed=job.index)
    began = time.perf_counter()
    result = hp.identify(problem.equation, pair)
    seconds = time.perf_counter() - began
    return [
        Fit(
            job=job,
            form="told",
            setting=f"default ({result.model})",
            values=sum(problem.points) * len(problem.fields),
            estimates={name: float(result.parameters[name].estimate) for name in problem.truth},
            extra=(),
            missing=(),
            seconds=seconds,
            answered=str(result.status) in ("converged", "at_bound"),
        )
    ]
