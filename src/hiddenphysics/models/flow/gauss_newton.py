"""Rounds until they settle: Gauss–Newton in state and parameters with the prior learned on the way.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`),
unless they say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from hiddenphysics.gaussian import Belief, covariance_of
from hiddenphysics.learning import Progress, Stopped, keep
from hiddenphysics.models.flow.acceleration import DEPTH, further
from hiddenphysics.models.flow.flow_task import ROUGH, FlowTask
from hiddenphysics.models.flow.one_round import GAINED, Point, Round

MOST_ROUNDS = 25
"""Two to seven were enough in 16 fits of `benchmarks.answers`; a search that needs more is finished only if it explains
most (`flow_fit`)."""

SHORTEST = 2.0**-7
"""Smallest part of a step that is tried."""

PART = 0.1
"""A step has to lower the objective by this part of what it promises."""

EXACTER, EXACT = 1 / 30, 1e-6
"""How much more exact derivatives have to be once a step was refused, and the most exact that they have to be. What
turns a step by a little can turn it by much where the noise is next to nothing: Korteweg, de Vries and Burgers'
equation, clean, went to and fro with derivatives that were off by 0.015, and ended `not_converged` (19 November 2026).
"""

HOPELESS = 10.0
"""How many times more than before a step may leave over, for its steps in time to be made finer: of more, half of the
step is tried. Of u − u³ from two snapshots, draw 5, a step left 1e9 over, and was followed in ever finer steps for a
minute."""

ARRIVED = 2.0
"""Deviations from where another search has settled at which a search is left. Two equations for twelve recordings of a
scratch assay that both do not explain them ended four searches at one optimum each, from starts a factor of seven
apart, and half of the rounds were the last tenth of the way."""

ROUNDING = 1e-5
"""Relative accuracy of the objective where the noise is next to nothing."""


class SoFar(NamedTuple):
    """How far a search is: what it would answer now, as plain arrays.

    Attributes
    ----------
    task, at, dt
        What is searched in, where the last round wants to go or where the search begins, and its steps in time.
    belief
        What is believed of state and parameters there.
    evidence, rounds
        Log restricted likelihood, NaN before the first round, and how many there were.
    """

    task: FlowTask
    at: Point
    dt: float
    belief: Belief
    evidence: float = np.nan
    rounds: int = 0

    @classmethod
    def of(cls, task: FlowTask, last: Round, rounds: int) -> SoFar:
        """Return what a round has led to."""
        at = last.point._replace(theta=np.asarray(last.tuned.theta))
        return cls(
            task, at, last.dt, last.belief(covariance_of(last.information)), task.evidence(last), rounds
        )


def run(
    task: FlowTask,
    at: Point,
    dt: float,
    say: Progress,
    most: int = MOST_ROUNDS,
    *,
    rough: float | None = None,
    cold: bool = False,
    farthest: float = np.inf,
) -> Iterator[Round]:
    """Yield rounds until the parameters settle, the lengths leave what the box carries, or the first misfit is too far.

    A step is judged by the next round: where it has not lowered the objective, with the prior's vector that it was made
    with, half of it is tried. State and parameters go together: far from the truth the state that goes with the old
    parameters may be bent so far that it overflows. From a cold start the prior is held in the first round. Rounds that
    creep are carried on to where they lead (`acceleration`). The steps in time begin with dt, and with `rough` for the
    derivatives; where a step has been refused these are asked for more exactly.
    """
    before: Round | None = None
    made: list[Round] = []
    count, share, tried, ahead, turned = 0, 1.0, at, False, ROUGH
    begun = partial(SoFar, task, at, task.longest_step)
    keep(say, lambda: begun(task.prior_belief(at)), task.count, -np.inf, task.named(at))
    while count < most:
        say(f"round {count + 1}")
        hold = task.frozen or (cold and before is None)
        now = task.round(tried, dt, before, rough=rough, turned=turned, hold=hold)
        hopeless = before is not None and now.misfit > HOPELESS * before.misfit
        if now.lost or not hopeless:
            dt, rough = now.dt, now.rough
        if before is None and not now.misfit <= farthest:
            yield now
            break
        if not (now.fine or now.lost or hopeless):
            continue
        if before is not None and not _lower(before, now, task.slope) and share > SHORTEST:
            # What rounds together promised is given up first, then the step of the last one, half by half.
            share, ahead, made = (share if ahead else share / 2), False, [before]
            tried = between(before.at, before.point, share)
            turned = max(EXACTER * turned, EXACT)
            continue
        done = task.frozen and now.found
        share, count, before = 1.0, count + 1, now
        keep(say, partial(SoFar.of, task, now, count), task.count, task.evidence(now), task.named(now.point))
        yield now
        if now.lost or now.settled or done or (not now.held and not task.carries(now)):
            break
        made = [*made, now][-DEPTH:]
        farther = further(made, task.bounds)
        ahead, tried = farther is not None, now.point if farther is None else farther


def between(one: Point, other: Point, share: float) -> Point:
    """Return the point at a share of the way, with the other's prior."""
    z = one.z + share * (other.z - one.z)
    return Point(z, one.parameters + share * (other.parameters - one.parameters), other.theta)


def _lower(before: Round, now: Round, slope: np.ndarray) -> bool:
    """Whether a step has lowered the objective by a part of what it promised, up to rounding.

    The slope (P,) of ½ log|K| belongs to it: without that, a correction by more than a deviation would be taken back.

    A bent flow can send a state to and fro around its optimum for ever, each time a little beyond it.
    """
    here, there = float(before.solved.merit), float(now.solved.merit_before)
    there += 2 * float(slope @ (now.at.parameters - before.at.parameters))
    wanted = here - PART * float(before.solved.promised) + ROUNDING * abs(here) + GAINED / 2
    return bool(np.isfinite(there) and there <= wanted)


@dataclass(frozen=True)
class Searched:
    """Where a search ended.

    Attributes
    ----------
    task, last, rounds
        What was searched in, the last round, and how many there were.
    stopped
        Why it was told to stop; empty where it ended by itself.
    arrived
        Whether it came to where another search had ended, and was left there.
    """

    task: FlowTask
    last: Round
    rounds: int
    stopped: str = ""
    arrived: bool = False

    @property
    def evidence(self) -> float:
        """Log restricted likelihood, −∞ where it is not a number; free of units."""
        return self.task.evidence(self.last)


def gone_through(
    task: FlowTask,
    made: Iterator[Round],
    count: int = 0,
    fallback: Round | None = None,
    known: Sequence[Searched] = (),
) -> Searched:
    """Go through rounds to their end, or until they are told to stop: then the last one made is what there is.

    Rounds that come to where one of the `known` searches has settled are left there.
    """
    last, stopped, arrived = fallback, "", False
    try:
        for now in made:
            last, count = now, count + 1
            arrived = any(_has_come_to(one, task, now) for one in known)
            if arrived:
                break
    except Stopped as stop:
        stopped = stop.reason
    if last is None:
        raise Stopped(stopped)
    return Searched(task, last, count, stopped, arrived)


def _has_come_to(known: Searched, task: FlowTask, now: Round) -> bool:
    """Whether a round is where another search has settled, and knows no better."""
    if not known.last.settled or now.held or not task.evidence(now) <= known.evidence:
        return False
    away = now.at.parameters - known.last.point.parameters
    return bool(away @ known.last.information @ away < ARRIVED**2)
