"""One fit of the flow: searches from several beginnings, the last correction, and the verdict.

Halved or doubled, its constants move no answer by a hundredth of its deviation (`benchmarks.constants`),
unless they say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hiddenphysics.gaussian import covariance_of
from hiddenphysics.learning import (
    Heterogeneity,
    LeftOver,
    Progress,
    Status,
    Stopped,
    Verdict,
    at_bound,
    criticise,
    gravest,
    is_free,
    undetermined,
    when,
)
from hiddenphysics.models.flow.beginning import Beginning, beginning_of, widened
from hiddenphysics.models.flow.domain import Domain, carry_over, domain_of
from hiddenphysics.models.flow.findings import (
    Finding,
    above_the_floor,
    explained_better,
    first_of,
    noisier_together,
    unexplained,
)
from hiddenphysics.models.flow.gauss_newton import (
    FINER_GRID,
    MOST_ROUNDS,
    SHORTEST,
    FlowTask,
    SoFar,
    between,
    run,
)
from hiddenphysics.models.flow.innovations import from_innovations
from hiddenphysics.models.flow.instruments import check_sensors
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.left_over import left_over, rows_of, scores
from hiddenphysics.models.flow.linear_density import sampling_density
from hiddenphysics.models.flow.log_determinant import log_determinant_slopes
from hiddenphysics.models.flow.one_round import Point, Round
from hiddenphysics.models.flow.path import MOST_GROWTH, fastest_growth
from hiddenphysics.models.flow.program import Program
from hiddenphysics.models.flow.reach import is_stretched, reach
from hiddenphysics.models.flow.shares import agreement, from_inputs
from hiddenphysics.models.flow.unfinished import numbers_of, stopped_at
from hiddenphysics.models.flow.unknown_prior import Mixture, prior_mixture
from hiddenphysics.models.flow.wide_fit import fit_wide, is_wide
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.models.model import Fit
from hiddenphysics.priors import Kernel

MOST_BOXES = 8
"""Boxes that a search may move through; one was enough in 16 fits of `benchmarks.answers`."""

FALLS = 1e-4
"""Where the noise has come down to what a box carries, the next one carries that much less."""
FACTORS = (1.0, 0.3, 2.0, 0.0)
"""Factors on the regressed parameters to start from."""
SOME_STEPS = 16
"""Steps in time with which these are compared."""
OVERFLOW = "The motion left the numbers at every start that was tried: the fields overflow."
UNSETTLED = "The rounds ended before the parameters settled."
FARTHEST = 3.0
"""How many times farther off than the last round the first one in a new box may be: its grid and its state are others.
"""
RIVAL_PART = 3.0
"""What another local optimum of the first guess may leave over, in that of the nearest start, to be searched from."""

OTHERWISE = 0.1
"""Distance from where a search ended, in natural sizes, from which on a start is another one."""

MOST_RIVALS = 2
"""Of these, so many are searched from."""

EVEN = 5.0
"""Log evidence by which an optimum has to exceed another one to be the answer: odds of 150. The two of `rivals_of` are
2.5 apart; with it three fresh draws of Hill's kinetics and 22 of other equations are right or vague (19 November 2026).
"""

APART = 5.0
"""Deviations from which on two optima are two."""

ARRIVED = 2.0
"""Deviations from where another search has settled at which a search is left. Two equations for twelve recordings of a
scratch assay that both do not explain them ended four searches at one optimum each, from starts a factor of seven
apart, and half of the rounds were the last tenth of the way."""

MORE = 4
"""How many times the usual number of rounds a search gets that explains most, and has not settled."""
MOST_STARTS = 3
"""Of these, so many are tried when the first searches end badly."""

QUIET = 1e-6
"""Noise variance, in units of the fields', below which the state is known too well for its volume to matter."""

NEARBY, BENT = 0.5, 1.5
"""Over corrections below this many standard deviations log|K| is straight: they are made once. In a plane, where asking
for its slope again takes as long as all rounds, its curvature is counted on over so many."""

FINEST = 32.0
"""How much finer a grid is asked whether its shortest waves grow: what is ill-posed shows there, whatever the gap."""

BEYOND = 10.0
"""How many times more, and more than the noise, left-overs may be than those of the last round; see `_elsewhere`, where
it was 3e4. With it 12 of 14 wrong equations are misfits, two are stopped by their limit (19 November 2026)."""

MOST_POLISHES = 3
"""Corrections by log|K| in a row."""
LEAST_CORRELATION = 1e-12
"""Part of the largest eigenvalue of the parameters' correlations below which a direction counts as this: it is open."""
WORTH = 0.05
"""Corrections by log|K| below this many standard deviations are not worth another round. With twice of it one of a
tenth is left out."""


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


def fit_windows(windows: Windows, kernels: Mapping[str, Kernel], say: Progress) -> Fit:
    """Smooth, guess, search from one beginning after the other, correct, and say how it went."""
    say("smoothing each snapshot")
    check_sensors(windows)
    start = beginning_of(windows, kernels, say)
    noise = start.windows.quiet + float(np.exp(start.theta[-1]))
    doubt = max(one.doubt for one in start.smoothed)
    if start.thinned is start.windows:
        against = first_of(
            explained_better(float(sum(one.evidence for one in start.smoothed))),
            noisier_together(noise, doubt, QUIET),
        )
    else:
        against = unexplained(noise, doubt)
    if is_wide(start):
        return fit_wide(start, np.clip(start.parameters, *limits_of(start.windows).T), say)
    searched: list[Searched] = []
    begun: list[np.ndarray] = []
    found_again = False
    for begin, parameters in beginnings(start):
        begun.append(parameters)
        searched.append(_search(begin, parameters, say, searched))
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
            searched.append(_search(start, parameters, say))
            if searched[-1].stopped:
                break
        sound = [one for one in searched if one.last.settled and not one.stopped and against(one) is None]
        best = max([best, *sound], key=lambda one: one.evidence)
    count = sum(one.rounds for one in searched)
    rivals = _even(searched, best, against)
    return answered(best, start.scale_at, say, count, against, rivals=rivals, found_again=found_again)


def rivals_of(start: Beginning, known: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return local optima of the first guess that leave about as little over as the best, and lie away from known ones.

    With b u²/(K² + u²) − m u, u from 1.0 to 1.8 and 0.3 % of noise, b = −7.5, K = 3.8 and m = −0.84 explain the data as
    well as the truth, 1.21, 0.61 and 0.54, and were 165 deviations off, `converged`: a nonlinear equation may say the
    same of what was seen with other numbers.
    """
    limits = limits_of(start.windows)
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


Correction = Callable[[Searched, Progress], tuple[Searched, np.ndarray]]
"""Goes from where a search ended to the optimum of the marginal likelihood; returns it, and the covariance there."""


def answered(
    best: Searched,
    scale_at: Callable[[np.ndarray], np.ndarray],
    say: Progress,
    count: int,
    against: Finding,
    correct: Correction | None = None,
    rivals: Sequence[np.ndarray] = (),
    *,
    found_again: bool = False,
) -> Fit:
    """Correct for the volume of states, and say how it went.

    Parameters
    ----------
    best
        Where the searches ended.
    scale_at
        Parameters (P,) -> their natural sizes there, (P,).
    count
        Rounds so far.
    against
        Speaks first when it has something to say.
    correct
        How the optimum of generalised least squares becomes that of the marginal likelihood; `polish` by default.
    rivals
        Other parameters (P,) that explain the data as well: the distance to them is a deviation.
    found_again
        Whether searches from far apart came here: then the equation is wrong, not the optimum.
    """
    if best.stopped:
        return stopped_at(SoFar.of(best.task, best.last, count), best.stopped, count)
    say("correcting for the volume of states")
    polished, covariance = (correct or polish)(best, say)
    curvature = covariance
    agreed: Heterogeneity | None = None
    beyond: Mixture | None = None
    heavy, stretched = np.zeros_like(covariance), False
    try:
        if np.isfinite(polished.evidence) and not polished.stopped:
            covariance = covariance * above_the_floor(polished.task, polished.last) ** 2
            covariance = covariance + from_inputs(polished.task, polished.last, say)
            heavy = from_innovations(polished.task, polished.last)
            covariance = covariance + heavy
            beyond = prior_mixture(polished.task, polished.last)
            if beyond is not None:
                covariance, curvature = covariance + beyond.covariance, curvature + beyond.covariance
            near = covariance
            covariance = reach(polished.task, polished.last, covariance, say)
            flat = np.flatnonzero(polished.task.border.is_flat)
            block = np.ix_(flat, flat)
            stretched = is_stretched(polished.last.point.parameters[flat], near[block], covariance[block])
            for other in rivals:
                away = other - polished.last.point.parameters
                covariance = covariance + np.outer(away, away)
            agreed = agreement(polished.task, polished.last, scale_at, say)
    except Stopped as stop:
        polished = replace(polished, stopped=stop.reason)
    if polished.stopped:
        count += polished.rounds
        return stopped_at(SoFar.of(polished.task, polished.last, count), polished.stopped, count)
    verdict, stated, criticism = (
        _verdict(polished, scale_at, covariance, against, rivals, stretched=stretched),
        covariance,
        None,
    )
    if beyond is not None:
        verdict = replace(verdict, explanation=f"{verdict.explanation} {beyond.sentence()}")
    own = len(polished.task.windows.equation.parameters)
    widening = 1.0
    learned = LearnedFlow.of(polished.task, polished.last, covariance)
    if verdict.status is not Status.FAILED:
        say("criticising the equation")
        stops = left_over(learned, polished.task.windows)
        if not all(
            np.all(np.isfinite(e)) for window in stops for stop in window for e in stop.values.values()
        ):
            verdict = Verdict(Status.FAILED, OVERFLOW)
    # Nothing is said of a point where no round has been, and where the state has not followed the last step.
    reached = polished.last.settled or verdict.status is Status.FAILED
    if not (reached or _cornered(polished, against)) and _elsewhere(stops, polished):
        if verdict.status is Status.CONVERGED:
            verdict = Verdict(Status.NOT_CONVERGED, UNSETTLED)
    elif verdict.status is not Status.FAILED:
        rows = rows_of(polished.task, polished.last)
        criticism = criticise(stops, scores(learned, polished.task.windows, stops, say, rows))
        # What is left over moves parameters by parts of what the information tells; in `heavy` it is counted already.
        criticism = criticism.beside(*_numbers(polished, covariance - heavy, scale_at))
        # A bound that is in the way leaves much over, and says so itself. A search that the data draw where the
        # equation is ill-posed cannot settle: diffusion that is to stand for a growth becomes negative.
        settled = polished.last.settled or polished.last.found or _cornered(polished, against)
        if settled and verdict.status is not Status.AT_BOUND:
            widening = criticism.wider
        if criticism.speaks_against and settled and verdict.status is not Status.AT_BOUND:
            further = f" {verdict.explanation}" if verdict.status.is_bad else ""
            verdict = Verdict(Status.MISFIT, criticism.sentence() + further)
        if agreed is not None and agreed.speaks_against and settled and verdict.status is not Status.AT_BOUND:
            further = f" {verdict.explanation}" if verdict.status.is_bad else ""
            verdict = Verdict(Status.MISFIT, agreed.sentence() + further)
            # What the equation leaves over, and what experiments disagree on, is often the same.
            widening = max(widening, agreed.widening)
        stated = covariance * widening**2
        if verdict.status is Status.MISFIT and against(polished) is not None and not found_again:
            stated = np.full_like(
                covariance, np.inf
            )  # what may be a false optimum is off by nobody knows what
    return Fit(
        values=numbers_of(polished.task, polished.last.point.parameters, polished.last.tuned.theta),
        covariance=np.pad(stated[:own, :own], (0, len(polished.task.prior.names))),
        evidence=polished.evidence,
        verdict=verdict,
        jitter=0.0,
        evaluations=count + polished.rounds,
        learned=learned,
        criticism=criticism,
        heterogeneity=agreed,
        # Chains know the curvature and the prior's doubt; what is beyond, as far valleys of the evidence, they do not.
        posterior=sampling_density(polished.last, polished.task.slope, curvature)
        if np.all(polished.task.border.is_flat)
        else None,
        # Of next to no noise the state is known whatever the prior says, and chains take minutes.
        needs_chains=beyond is not None
        and not beyond.is_reliable
        and polished.task.noise(polished.last.point) > QUIET,
    )


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


def _finished(likeliest: Searched, settled: Searched, say: Progress) -> Searched:
    """Return the search that explains most; one that had not settled by then gets more rounds to do so.

    A breather of sine-Gordon crawled through more than fifty rounds to the truth, while another start had settled in
    a false valley, a hundred lower in log evidence.
    """
    if settled.stopped or likeliest.last.settled or likeliest.evidence <= settled.evidence:
        return settled
    task, last = likeliest.task, likeliest.last
    made = run(task, last.point, last.dt, say, most=MORE * MOST_ROUNDS)
    longer = gone_through(task, made, likeliest.rounds, last)
    best = max(longer, settled, key=lambda one: (one.last.settled, one.evidence))
    return replace(best, stopped=longer.stopped)


def _cold(start: Beginning) -> FlowTask:
    """Return the task before its first round."""
    return FlowTask.of(start.windows, start.prior, start.domain, start.theta, start.scale)


def beginnings(start: Beginning) -> Iterator[tuple[Beginning, np.ndarray]]:
    """Yield where searches begin: the guessed parameters, those in a wider box, then other parameters.

    A guess whose waves grow without bound, or one among several, is compared with the others first.
    """
    guess = np.clip(start.parameters, *limits_of(start.windows).T)
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
    points = list({tuple(np.clip(one, *limits_of(start.windows).T)): None for one in tried})

    return sorted(map(np.array, points), key=lambda point: start_misfit(start, point))


def start_misfit(start: Beginning, parameters: np.ndarray) -> float:
    """Return what the smoothed first snapshots, carried on with some parameters, leave over; ∞ where they overflow."""
    task = _cold(start)
    total = float(task.sweep(start.z, task.begun(parameters), start.windows.span / SOME_STEPS).misfit)
    return total if np.isfinite(total) else np.inf


def _search(
    start: Beginning, parameters: np.ndarray, say: Progress, known: Sequence[Searched] = ()
) -> Searched:
    """Run rounds, in a new box whenever the prior has left what the old one carries, unless they come to a known end.

    Where the way into a new box ends in an overflow, half of it is gone, as inside of a box; where a tiny part of it
    still does, the search ends in the box before. KdV's waves as those of Burgers' equation want a negative viscosity.
    """
    task = _cold(start)
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
            made = run(task, at, left.last.dt, say, farthest=farthest)
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
        bends = task.domain.program.coarsely and shift @ information @ shift < BENT**2
        far = not shift @ information @ shift < NEARBY**2
        curved = np.diagonal(information - best.last.information)
        # A slope that falls on the way would overshoot, and come back with the next correction.
        there = slope - (curved if bends else far * np.maximum(curved, 0.0)) * shift
        point = _corrected(task, best.last, there) if bends else best.last.point
        task = replace(task, slope=there)
        made = run(task, point, best.last.dt, say, most=MOST_ROUNDS // 2)
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


# ---- how it ended --------------------


def _verdict(
    ended: Searched,
    scale_at: Callable[[np.ndarray], np.ndarray],
    covariance: np.ndarray,
    against: Finding,
    rivals: Sequence[np.ndarray] = (),
    *,
    stretched: bool = False,
) -> Verdict:
    """Say how it went, the gravest finding first."""
    task, domain, windows = ended.task, ended.task.domain, ended.task.windows
    names = windows.equation.parameters
    parameters = ended.last.point.parameters[: len(names)]
    if not (np.all(np.isfinite(ended.last.point.parameters)) and np.isfinite(ended.evidence)):
        return Verdict(Status.FAILED, OVERFLOW)
    scale = scale_at(parameters)
    own = [names.index(name) for name in windows.equation.numbers]
    return gravest(
        against(ended),
        when(
            grows(domain, windows, parameters, finer=1.0),
            Status.NOT_CONVERGED,
            "With the estimated parameters the shortest waves grow without bound: the equation is ill-posed forward "
            "in time there, and its flow was held back. Check signs, or give bounds.",
        ),
        when(
            grows(domain, windows, parameters, finer=_data_waves(domain, windows)),
            Status.WEAKLY_IDENTIFIED,
            "The estimate is ill-posed for waves as short as the distance between the points, which these smooth data "
            "do not contain: they do not determine the coefficient of the highest derivative. Give it bounds, or use "
            "later snapshots.",
        ),
        when(
            len(rivals) > 0,
            Status.WEAKLY_IDENTIFIED,
            f"Other numbers explain the data as well: {_told(names, rivals)}. The distance to them is in the "
            "deviations. Give bounds, or data in which the fields take other values.",
        ),
        undetermined([names[p] for p in own], parameters[own], covariance[np.ix_(own, own)], scale[own]),
        when(
            stretched,
            Status.WEAKLY_IDENTIFIED,
            "Far from the optimum the evidence hardly falls: the data leave a number open beyond its own size.",
        ),
        at_bound([names[p] for p in own], is_free(parameters[own], scale[own], task.bounds[own])),
        when(
            not (ended.last.settled or ended.last.found),
            Status.NOT_CONVERGED,
            UNSETTLED,
        ),
        otherwise="The rounds settled at an optimum that every parameter has curvature at.",
    )


def _told(names: Sequence[str], rivals: Sequence[np.ndarray]) -> str:
    """Say parameters (P,) in words."""
    each = (
        ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, one, strict=False)) for one in rivals
    )
    return "; or ".join(each)


def _elsewhere(stops: Sequence[Sequence[LeftOver]], ended: Searched) -> bool:
    """Whether much more is left over where the last round wants to go than it has left itself: it was never there.

    Heat, three points at two times, clean: the round's left-overs are 5e-4 of the noise; D is open, its last step went
    from 0.30 to 0.05, and 3e4 of the noise were left over there: a `misfit` of an equation that holds.
    """
    values = [v for window in stops for stop in window for v in stop.values.values()]
    told = float(np.sqrt(np.mean(np.concatenate(values) ** 2)))
    made = ended.last.misfit / np.sqrt(ended.task.noise(ended.last.point))
    return told > BEYOND * max(made, 1.0)


def _cornered(ended: Searched, against: Finding) -> bool:
    """Whether a search ended where the equation is ill-posed, and snapshots one by one are explained better."""
    windows = ended.task.windows
    domain, own = ended.task.domain, ended.last.point.parameters[: len(windows.equation.parameters)]
    return against(ended) is not None and grows(domain, windows, own, finer=FINEST)


def _numbers(
    ended: Searched, covariance: np.ndarray, scale_at: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the equation's numbers, their deviations and natural sizes: all but coefficients of unknown functions."""
    equation = ended.task.windows.equation
    parameters = ended.last.point.parameters[: len(equation.parameters)]
    own = [equation.parameters.index(name) for name in equation.numbers]
    return parameters[own], np.sqrt(np.diagonal(covariance))[own], scale_at(parameters)[own]


def grows(domain: Domain, windows: Windows, parameters: np.ndarray, finer: float) -> bool:
    """Whether some wave, on a grid so much finer than the motion's, would grow by more than the motion lets happen."""
    if windows.equation.system.coupled:
        return False
    grid = domain.features.grid
    shape = tuple(max(n, 2 * round(0.5 * finer * n)) for n in grid.shape)
    program = Program.of(windows.equation, replace(domain.features, grid=replace(grid, shape=shape)))
    rate = float(fastest_growth(program, np.array(grid.box), np.asarray(parameters)))
    return rate * windows.span > MOST_GROWTH


def limits_of(windows: Windows) -> np.ndarray:
    """Bounds (P, 2) of the parameters."""
    bounds = windows.equation.bounds
    return np.array([bounds[name] for name in windows.equation.parameters], float).reshape(-1, 2)


def _data_waves(domain: Domain, windows: Windows) -> float:
    """How much finer the data's points are spaced than the motion's grid, along the finest side."""
    grid = domain.features.grid
    spacing = np.array(grid.lengths) / np.array(grid.shape)
    return float(np.max(spacing / (windows.region.extent / windows.per_side)))
