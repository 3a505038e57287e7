"""One noise for several fields: in proportion to their sizes, or the same for all; the evidence chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar

from hiddenphysics.flow.box import LEAST_NOISE
from hiddenphysics.flow.smooth import Smoothed, evidence_at
from hiddenphysics.flow.task import Task

ALIKE = 1.5
"""Fields whose sizes differ by less than this factor need no choice."""


def with_common_noise(task: Task, smoothed: Sequence[Smoothed]) -> tuple[Task, list[Smoothed]]:
    """Return the data, and their smoothing, in the units in which all measured fields have the same noise.

    One instrument per field has errors in proportion to what it measures; the parts of a complex field, or the
    components of a velocity, rather have the same error, however small one of them happens to be. The units of a task
    are the sizes of the fields in the first case, and the largest of them in the second.
    """
    sizes = task.sizes[list(task.measured)]
    largest = float(sizes.max())
    if largest < ALIKE * sizes.min():
        return task, list(smoothed)
    shifts = 2 * np.log(sizes / largest)
    if _best(task, smoothed, -shifts) <= _best(task, smoothed, np.zeros(len(sizes))):
        return task, list(smoothed)
    counts = np.count_nonzero(task.weights, axis=(0, 1, 3))
    moved = [
        replace(one, theta=_shifted(one.theta, shift), evidence=one.evidence - 0.5 * float(count * shift))
        for one, shift, count in zip(smoothed, shifts, counts, strict=True)
    ]
    return task.in_units(largest), moved


def _shifted(theta: np.ndarray, shift: float) -> np.ndarray:
    """Variance and noise in other units."""
    moved = theta.copy()
    moved[[0, -1]] += shift
    moved[-1] = max(moved[-1], np.log(LEAST_NOISE[theta.size - 2]))
    return moved


def _best(task: Task, smoothed: Sequence[Smoothed], offsets: np.ndarray) -> float:
    """Largest log evidence of all fields by themselves when their log noises differ by the offsets."""
    least = np.log(LEAST_NOISE[task.points.shape[-1]])
    alone = np.array([one.theta[-1] for one in smoothed]) - offsets
    terms = [evidence_at(task, row, smoothed[row]) for row in range(len(smoothed))]

    def loss(noise: float) -> float:
        logs = np.clip(noise + offsets, least, None)
        return -float(sum(term(log) for term, log in zip(terms, logs, strict=True)))

    # A common optimum lies between those of the fields by themselves.
    return -float(minimize_scalar(loss, bounds=(alone.min() - 0.1, alone.max() + 0.1), method="bounded").fun)
