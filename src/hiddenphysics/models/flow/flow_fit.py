"""One fit of the flow: searches from several beginnings, the last correction, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hiddenphysics.gaussian import covariance_of
from hiddenphysics.learning import Progress
from hiddenphysics.models.flow.answer import answered
from hiddenphysics.models.flow.beginning import beginning_of
from hiddenphysics.models.flow.findings import (
    Finding,
    explained_better,
    first_of,
    noisier_together,
    unexplained,
)
from hiddenphysics.models.flow.flow_search import search
from hiddenphysics.models.flow.gauss_newton import MOST_ROUNDS, Searched, gone_through, run
from hiddenphysics.models.flow.instruments import check_sensors
from hiddenphysics.models.flow.polish import QUIET
from hiddenphysics.models.flow.starting_points import OTHERWISE, beginnings, rivals_of
from hiddenphysics.models.flow.wide_fit import fit_wide, is_wide
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.models.model import Fit
from hiddenphysics.priors import Kernel

EVEN = 5.0
"""Log evidence by which an optimum has to exceed another one to be the answer: odds of 150. The two of `rivals_of` are
2.5 apart; with it three fresh draws of Hill's kinetics and 22 of other equations are right or vague (19 November 2026).
"""

APART = 5.0
"""Deviations from which on two optima are two."""

MORE = 4
"""How many times the usual number of rounds a search gets that explains most, and has not settled."""


def fit_windows(windows: Windows, kernels: Mapping[str, Kernel], say: Progress) -> Fit:
    """Smooth, guess, search from one beginning after the other, correct, and say how it went."""
    say("smoothing each snapshot")
    check_sensors(windows)
    start = beginning_of(windows, kernels, say)
    noise = start.windows.quiet + float(np.exp(start.theta[-1]))
    doubt = max(one.doubt for one in start.smoothed)
    alone = explained_better(float(sum(one.evidence for one in start.smoothed)))
    if start.thinned is start.windows:
        against = first_of(alone, noisier_together(noise, doubt, QUIET))
    else:
        against = unexplained(noise, doubt)
    if is_wide(start):
        return fit_wide(start, np.clip(start.parameters, *start.windows.limits.T), say)
    searched: list[Searched] = []
    begun: list[np.ndarray] = []
    found_again = False
    for begin, parameters in beginnings(start):
        begun.append(parameters)
        searched.append(search(begin, parameters, say, searched))
        best = max(searched, key=lambda one: (one.last.settled, one.evidence))
        if searched[-1].stopped or (best.last.settled and against(best) is None):
            break
        afar = np.abs(parameters - begun[0]) > OTHERWISE * start.scale
        found_again = searched[-1].arrived and bool(np.any(afar))
        if found_again:
            break
    best = _finished(max(searched, key=lambda one: one.evidence), best, say)
    if best.last.settled and not best.stopped and against(best) is None:
        for parameters in rivals_of(start, [best.last.point.parameters[: len(start.parameters)], *begun]):
            searched.append(search(start, parameters, say))
            if searched[-1].stopped:
                break
        sound = [one for one in searched if one.last.settled and not one.stopped and against(one) is None]
        best = max([best, *sound], key=lambda one: one.evidence)
    count = sum(one.rounds for one in searched)
    # What explains no more than snapshots one by one may be a chance match, however often it is found.
    found_again = found_again and start.thinned is start.windows and alone(best) is None
    rivals = _even(searched, best, against)
    return answered(best, start.scale_at, say, count, against, rivals=rivals, found_again=found_again)


def _even(searched: Sequence[Searched], best: Searched, against: Finding) -> list[np.ndarray]:
    """Return where other searches ended, (P,) each, that explain the data as well as the best one, or nearly so."""
    here, information = best.last.point.parameters, best.last.information
    if not (best.last.settled and np.isfinite(best.evidence)):
        return []
    found = []
    for one in searched:
        if one is best or not one.last.settled or best.evidence - one.evidence > EVEN:
            continue
        away = one.last.point.parameters - here
        told = [information, one.last.information]
        # Along a direction that is open anyway, as of a and b in a*b*u_xx, two optima are one.
        wide = np.max([np.diagonal(covariance_of(each)) for each in told], axis=0)
        apart = min(away @ each @ away for each in told) > APART**2 and np.any(away**2 > APART**2 * wide)
        if apart and against(one) is None:
            found.append(one.last.point.parameters)
    return found


def _finished(likeliest: Searched, settled: Searched, say: Progress) -> Searched:
    """Return the search that explains most; one that had not settled by then gets more rounds to do so.

    A breather of sine-Gordon crawled through more than fifty rounds to the truth, while another start had settled in
    a false valley, a hundred lower in log evidence.
    """
    if settled.stopped or likeliest.last.settled or likeliest.evidence <= settled.evidence:
        return settled
    task, last = likeliest.task, likeliest.last
    made = run(task, last.point, last.dt, say, most=MORE * MOST_ROUNDS, rough=last.rough)
    longer = gone_through(task, made, likeliest.rounds, last)
    best = max(longer, settled, key=lambda one: (one.last.settled, one.evidence))
    return replace(best, stopped=longer.stopped)
