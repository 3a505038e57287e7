"""A search from one beginning, in a new box whenever the prior has left what the old one carries.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hiddenphysics.learning import Progress
from hiddenphysics.models.flow.beginning import Beginning
from hiddenphysics.models.flow.carried_state import carry_over
from hiddenphysics.models.flow.domain import domain_of, grows
from hiddenphysics.models.flow.flow_task import FINER_GRID, FlowTask
from hiddenphysics.models.flow.gauss_newton import SHORTEST, Searched, between, gone_through, run
from hiddenphysics.models.flow.one_round import Point, Round
from hiddenphysics.models.flow.starting_points import cold_task

MOST_BOXES = 8
"""Boxes that a search may move through; one was enough in 16 fits of `benchmarks.answers`."""

FALLS = 1e-4
"""Where the noise has come down to what a box carries, the next one carries that much less."""

FARTHEST = 3.0
"""How many times farther off than the last round the first one in a new box may be: its grid and its state are others.
"""


def search(
    start: Beginning, parameters: np.ndarray, say: Progress, known: Sequence[Searched] = ()
) -> Searched:
    """Run rounds, in a new box whenever the prior has left what the old one carries, unless they come to a known end.

    Where the way into a new box ends in an overflow, half of it is gone, as inside of a box; where a tiny part of it
    still does, the search ends in the box before. KdV's waves as those of Burgers' equation want a negative viscosity.
    """
    task = cold_task(start)
    at, dt = Point(start.z, task.begun(parameters), start.theta), task.longest_step
    known = tuple(known)
    ended = gone_through(task, run(task, at, dt, say, cold=True), known=known)
    for _ in range(1, MOST_BOXES):
        if ended.stopped or ended.last.lost or ended.arrived:
            break
        moved = other_box(ended.task, ended.last, 1.0)
        if moved is None:
            break
        ended, entered = _entered(ended, moved, say, known)
        if not entered:
            break
    return ended


def _entered(
    left: Searched, moved: tuple[FlowTask, Point] | None, say: Progress, known: Sequence[Searched]
) -> tuple[Searched, bool]:
    """Go on in another box, and say whether there was a way into it; else the search stays where it was."""
    windows, farthest = left.task.windows, FARTHEST * left.last.misfit
    own = len(windows.equation.parameters)
    share = 1.0
    while moved is not None and share >= SHORTEST:
        task, at = moved
        if not grows(task.domain, windows, at.parameters[:own], finer=1.0):
            made = run(task, at, left.last.dt, say, rough=left.last.rough, farthest=farthest)
            ended = gone_through(task, made, left.rounds, known=known)
            if ended.stopped or (not ended.last.lost and ended.last.misfit <= farthest):
                return ended, True
        share /= 2
        moved = other_box(left.task, left.last, share) if share >= SHORTEST else None
    last = left.last
    return replace(left, last=last._replace(point=last.at._replace(theta=last.tuned.theta))), False


def other_box(task: FlowTask, last: Round, share: float) -> tuple[FlowTask, Point] | None:
    """Return the task and the point in another box where this one no longer carries the prior, or the motion.

    The point is a share of the way that the last round wants to go.
    """
    point = between(last.at, last.point, share)
    if not task.carried(point):
        return rebox(task, point)
    if task.resolves(last):
        return None
    domain = task.domain.finer(FINER_GRID[len(task.domain.shortest)])
    theta = np.asarray(last.point.theta)
    fresh = FlowTask.of(task.windows, task.prior, domain, theta, task.scale)
    return replace(fresh, slope=task.slope), point


def rebox(task: FlowTask, at: Point) -> tuple[FlowTask, Point] | None:
    """Return the task and the point in a box that carries what the prior has become; None where this one does."""
    prior, old, noise = task.prior, task.domain, task.noise(at)
    if noise <= 1.01 * old.quietest:
        noise *= FALLS
    outside, history = max(old.program.outside, default=0), old.program.history
    lengths, relative = task.lengths(at), task.relative(at)
    new = domain_of(task.windows, prior, old.envelopes, lengths, noise, old.room, outside, relative, history)
    if new.features == old.features and new.quietest == old.quietest:
        return None
    z = carry_over(task.windows, prior, at.theta, at.z, at.parameters, old, new)
    fresh = FlowTask.of(task.windows, prior, new, np.asarray(at.theta), task.scale)
    return replace(fresh, slope=task.slope), Point(z, at.parameters, at.theta)
