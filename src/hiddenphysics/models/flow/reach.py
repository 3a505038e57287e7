"""How far vague parameters can go before the evidence falls: deviations as wide as the data leave them.

The curvature at an optimum says how the evidence falls next to it. Of a parameter that is known to a third of itself
it says little: along the way the state and the prior's lengths become others, and the evidence may fall by a tenth of
what the curvature promises, or rise again. So it is asked at points 2, 4, 8, … deviations away along the principal
axes, state and prior found anew at each. A point at a distance d, by which the log evidence has fallen by Δ, speaks for
a deviation of d/√(2Δ); the largest counts. Rue, Martino & Chopin (2009), J. R. Stat. Soc. B 71, 319, section 3.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hiddenphysics.learning import Progress
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.one_round import Point, Round

VAGUE = 0.15
"""Deviation of a parameter, in parts of it, from which on it is asked. Smaller ones are the rule, and there the
curvature is right: the coverage of Burgers' 140 points is that of their deviations."""

MOST_VALUES = {1: 1000, 2: 300, 3: 300}
"""Values up to which it is asked: a round takes milliseconds there. In a plane it takes a second: with the 1000 values
of the wake it took 26 s to widen λ₂ by a twentieth (18 November 2026)."""

NEAREST, FURTHEST = 2.0, 64.0
"""Distances in deviations: the first point, and the last; each is twice as far as the one before."""

FEW_VALUES, CLOSER = 100, np.sqrt(2.0)
"""Values up to which no fall ends the search, and by how much further each point is then: beyond a valley the evidence
may be as high again. Three sensors at nine times, D = 0.2: 62.2 at 0.01, 56.7 at 0.08, 60.8 at 0.2; it was 0.016 ±
0.010, `converged`, and is asked in two seconds (18 November 2026)."""

FAR, RETURNED = 16.0, 8.0
"""Deviations up to which every point counts of so few values, and the fall of the log evidence, four deviations' worth,
up to which one further out does: where the noise is free to grow the evidence falls but as a logarithm, and points that
lie further and further would tell any deviation. Twins of glacier ice, 9 thermometers with offsets, seven days, five
draws: errors of 0.004 to 0.048 where the curvature states 0.011, 0.013, 0.017, 0.011 and 0.009, up to 5.6 deviations;
with all points it would be 0.08, 0.09, 0.07 and 0.04 of the last four (18 November 2026)."""

OPEN = 3.0
"""Fall of the log evidence up to which the next point is asked, too. Three sensors at nine times, D = 0.2: with short
lengths the evidence is level from 0.01 to 0.08, falls by 1.7, and is as high again at 0.17 with long ones."""

LEAST_FALL = 0.02
"""A smaller fall counts as this: there is no fall at all, and a deviation of five times the distance is enough."""

STRETCHED = 3.0
"""Widening from which on a deviation that exceeds its number leaves that number open. A day of nine thermometers whose
places and offsets are unknown said 0.101 ± 0.36, `converged`, where the curvature has a tenth of that."""

SINGULAR = 1e-12
"""Eigenvalues of the numbers' correlations below this are rounding."""

MOST_ROUNDS, ENOUGH = 6, 0.05
"""Rounds for state and prior at a point, and a gain of log evidence that is worth no further one."""


def reach(task: FlowTask, last: Round, covariance: np.ndarray, say: Progress) -> np.ndarray:
    """Return the covariance (P, P) of the parameters, wider along axes on which the evidence falls too slowly.

    Errors of sensors follow the equation's numbers as they do in the covariance.
    """
    own = np.flatnonzero(task.border.is_flat)
    estimate, near = np.asarray(last.point.parameters)[own], covariance[np.ix_(own, own)]
    deviation = np.sqrt(np.diagonal(near))
    vague = np.any(deviation > VAGUE * np.abs(estimate))
    most = MOST_VALUES[len(task.domain.shortest)]
    many = task.windows.count > most or bool(task.windows.equation.functions)
    if many or not vague or not np.all(np.isfinite(covariance)) or not np.all(deviation > 0):
        return covariance
    given = replace(task, given=True)
    sizes, axes = np.linalg.eigh(near / np.outer(deviation, deviation))
    # Numbers that only a sum is known of have a singular covariance, and nothing follows what is open between them.
    inverse = np.where(sizes > SINGULAR, 1.0 / np.maximum(sizes, SINGULAR), 0.0)
    follow = covariance[:, own] / deviation @ (axes * inverse) @ axes.T / deviation
    follow[own] = np.eye(own.size)
    top = _evidence(given, last, np.asarray(last.point.parameters), say)
    if not np.isfinite(top):
        return covariance
    few = task.windows.count <= FEW_VALUES
    widths = np.ones(len(sizes))
    for axis, (size, direction) in enumerate(zip(sizes, axes.T, strict=True)):
        one = deviation * direction * np.sqrt(max(size, 0.0))
        for sign in (1.0, -1.0):
            distance = NEAREST
            while distance <= FURTHEST:
                step = sign * distance * one
                if np.any(estimate + step < task.bounds[own, 0]) or np.any(
                    estimate + step > task.bounds[own, 1]
                ):
                    break
                fall = top - _evidence(given, last, np.asarray(last.point.parameters) + follow @ step, say)
                if not np.isfinite(fall):
                    break
                if distance <= FAR or fall < RETURNED:
                    widths[axis] = max(widths[axis], distance / np.sqrt(2 * max(fall, LEAST_FALL)))
                if fall > OPEN and not few:
                    break
                distance *= CLOSER if few else 2.0
    half = follow @ (deviation[:, None] * axes * np.sqrt(np.maximum(sizes, 0.0)))
    return np.asarray(covariance + (half * (widths**2 - 1)) @ half.T)


def is_stretched(estimate: np.ndarray, near: np.ndarray, covariance: np.ndarray) -> bool:
    """Whether a number's deviation was widened so far from that of `near` (P, P) that it is more than the number."""
    before, after = np.sqrt(np.diagonal(near)), np.sqrt(np.diagonal(covariance))
    return bool(np.any((after > STRETCHED * before) & (after > np.abs(estimate))))


def _evidence(task: FlowTask, near: Round, parameters: np.ndarray, say: Progress) -> float:
    """Log evidence of given parameters, but for a constant; −∞ where the motion overflows.

    State and prior are found for them, and errors of sensors, which begin as in `parameters` (P,).
    """
    z = near.point.z - near.solved.slope @ (parameters - np.asarray(near.point.parameters))
    at, dt, rough, value = Point(z, parameters, near.tuned.theta), near.dt, near.rough, -np.inf
    for _ in range(MOST_ROUNDS):
        say("how far the parameters can go")
        now = task.round(at, dt, rough=rough)
        at, dt, rough, before, value = now.point, now.dt, now.rough, value, -float(now.tuned.at.value)
        if now.lost:
            return -np.inf
        if not np.isfinite(value) or (now.found and abs(value - before) < ENOUGH):
            break
    return value
