"""The last correction: from the optimum of generalised least squares to that of the marginal likelihood.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`),
unless they say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from hiddenphysics.gaussian import covariance_of
from hiddenphysics.learning import Progress
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.gauss_newton import MOST_ROUNDS, Searched, gone_through, run
from hiddenphysics.models.flow.log_determinant import log_determinant_slopes
from hiddenphysics.models.flow.one_round import Point, Round

QUIET = 1e-6
"""Noise variance, in units of the fields', below which the state is known too well for its volume to matter."""

NEARBY, BENT = 0.5, 1.5
"""Over corrections below this many standard deviations log|K| is straight: they are made once. In a plane, where asking
for its slope again takes as long as all rounds, its curvature is counted on over so many."""

MOST_POLISHES = 3
"""Corrections by log|K| in a row."""

LEAST_CORRELATION = 1e-12
"""Part of the largest eigenvalue of the parameters' correlations below which a direction counts as this: it is open."""

WORTH = 0.05
"""Corrections by log|K| below this many standard deviations are not worth another round. With twice of it one of a
tenth is left out."""

Correction = Callable[[Searched, Progress], tuple[Searched, np.ndarray]]
"""Goes from where a search ended to the optimum of the marginal likelihood; returns it, and the covariance there."""


def polish(ended: Searched, say: Progress) -> tuple[Searched, np.ndarray]:
    """Move to the optimum of the marginal likelihood, in which log|K| counts; return it with the covariance there."""
    task, last = ended.task, ended.last
    information = last.information
    if not np.isfinite(ended.evidence):
        return replace(ended, rounds=0), np.full_like(information, np.nan)
    # A search that has left its box and found no way into another would leave the numbers with the next steps.
    lost_its_box = not (last.settled or last.found or task.carries(last))
    if lost_its_box or task.noise(last.point) < QUIET:
        return replace(ended, rounds=0), covariance_of(information)
    best = replace(ended, rounds=0)
    for _ in range(MOST_POLISHES):
        slope, curvature = log_determinant_slopes(task, best.last)
        information = _with_curvature(best.last.information, curvature)
        shift = covariance_of(information) @ (slope - task.slope)
        if best.stopped or shift @ information @ shift < WORTH**2:
            break
        bends = task.domain.program.in_a_plane and shift @ information @ shift < BENT**2
        far = not shift @ information @ shift < NEARBY**2
        curved = np.diagonal(information - best.last.information)
        # A slope that falls on the way would overshoot, and come back with the next correction.
        there = slope - (curved if bends else far * np.maximum(curved, 0.0)) * shift
        point = _corrected(task, best.last, there) if bends else best.last.point
        task = replace(task, slope=there)
        made = run(task, point, best.last.dt, say, most=MOST_ROUNDS // 2, rough=best.last.rough)
        best = gone_through(task, made, best.rounds, best.last)
        if bends or not far:
            break
    return best, covariance_of(information)


def _corrected(task: FlowTask, last: Round, slope: np.ndarray) -> Point:
    """Return where a settled round would have gone with this slope (P,) of ½ log|K|: a sweep less in a plane."""
    certain = last.information + np.diag(1.0 / task.scale**2)
    step = np.linalg.solve(certain, task.slope - slope)
    parameters = np.clip(last.point.parameters + step, *task.bounds.T)
    z = last.solved.mean - last.solved.slope @ (parameters - last.at.parameters)
    return Point(z, parameters, last.point.theta)


def _with_curvature(information: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Add the curvature (P,) of ½ log|K| to the information, in every direction no less than half of it, nor twice.

    Parameter by parameter that would not do: r and g of Swift and Hohenberg's equation are known to a third together,
    and half of either one's information less left ± 2e9 of both.
    """
    if not (np.all(np.isfinite(information)) and np.all(np.isfinite(second))):
        return information
    size = np.sqrt(np.maximum(np.diagonal(information), 1e-300))
    sizes, axes = np.linalg.eigh(information / np.outer(size, size))
    half = size[:, None] * axes * np.sqrt(np.maximum(sizes, LEAST_CORRELATION * sizes[-1]))
    whitened = np.linalg.solve(half, np.linalg.solve(half, np.diag(second)).T)
    change, turn = np.linalg.eigh(0.5 * (whitened + whitened.T))
    return np.asarray(half @ (turn * (1.0 + np.clip(change, -0.5, 1.0))) @ turn.T @ half.T)
