"""Where searches begin: the guess, the guess in a wider box, other parameters, and rivals of an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from hiddenphysics.models.flow.beginning import Beginning, widened
from hiddenphysics.models.flow.domain import grows
from hiddenphysics.models.flow.flow_task import FlowTask

FACTORS = (1.0, 0.3, 2.0, 0.0)
"""Factors on the regressed parameters to start from."""

SOME_STEPS = 16
"""Steps in time with which these are compared."""

MOST_STARTS = 3
"""Of these, so many are tried when the first searches end badly."""

RIVAL_PART = 3.0
"""What another local optimum of the first guess may leave over, in that of the nearest start, to be searched from."""

OTHERWISE = 0.1
"""Distance from where a search ended, in natural sizes, from which on a start is another one."""

MOST_RIVALS = 2
"""Of these, so many are searched from."""


def beginnings(start: Beginning) -> Iterator[tuple[Beginning, np.ndarray]]:
    """Yield where searches begin: the guessed parameters, those in a wider box, then other parameters.

    A guess whose waves grow without bound, or one among several, is compared with the others first.
    """
    guess = np.clip(start.parameters, *start.windows.limits.T)
    doubtful = bool(start.others) or grows(start.domain, start.windows, guess, finer=1.0)
    first = starting_points(start)[0] if doubtful else guess
    yield start, first
    wide = widened(start)
    if wide is not None:
        yield wide, starting_points(wide)[0]
    others = [one for one in starting_points(start) if not np.array_equal(one, first)]
    for parameters in others[: MOST_STARTS - 1]:
        yield start, parameters


def starting_points(start: Beginning) -> list[np.ndarray]:
    """Return parameters to start from, those that carry the smoothed first snapshots nearest to the others first.

    A regression on steep fields may give an equation that is ill-posed forward in time, such as a negative viscosity:
    its signs turned around, or no motion at all, are better starts then.
    """
    tried = [factor * start.parameters for factor in FACTORS] + [np.abs(start.parameters), *start.others]
    points = list({tuple(np.clip(one, *start.windows.limits.T)): None for one in tried})

    return sorted(map(np.array, points), key=lambda point: start_misfit(start, point))


def start_misfit(start: Beginning, parameters: np.ndarray) -> float:
    """Return what the smoothed first snapshots, carried on with some parameters, leave over; ∞ where they overflow."""
    task = cold_task(start)
    total = float(task.sweep(start.z, task.begun(parameters), start.windows.span / SOME_STEPS).misfit)
    return total if np.isfinite(total) else np.inf


def rivals_of(start: Beginning, known: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return local optima of the first guess that leave about as little over as the best, and lie away from known ones.

    With b u²/(K² + u²) − m u, u from 1.0 to 1.8 and 0.3 % of noise, b = −7.5, K = 3.8 and m = −0.84 explain the data as
    well as the truth, 1.21, 0.61 and 0.54, and were 165 deviations off, `converged`: a nonlinear equation may say the
    same of what was seen with other numbers.
    """
    limits = start.windows.limits
    points = [np.clip(one, *limits.T) for one in (start.parameters, *start.others)]
    if len(points) < 2:
        return []
    misfits = [start_misfit(start, point) for point in points]
    scale, chosen = start.scale_at(known[0]), list[np.ndarray]()
    for misfit, k in sorted(zip(misfits, range(len(points)), strict=True)):
        near = misfit < RIVAL_PART * min(misfits)
        if near and all(np.any(np.abs(points[k] - one) > OTHERWISE * scale) for one in (*known, *chosen)):
            chosen.append(points[k])
    return chosen[:MOST_RIVALS]


def cold_task(start: Beginning) -> FlowTask:
    """Return the task before its first round."""
    return FlowTask.of(start.windows, start.prior, start.domain, start.theta, start.scale)
