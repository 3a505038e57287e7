"""What a search answers: its numbers with all that widens them, and a verdict on how it ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

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
from hiddenphysics.models.flow.domain import Domain, grows
from hiddenphysics.models.flow.findings import AT_AN_OPTIMUM, UNSETTLED, Finding, above_the_floor, as_misfit
from hiddenphysics.models.flow.gauss_newton import Searched, SoFar
from hiddenphysics.models.flow.innovations import from_innovations
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.left_over import left_over, rows_of, scores
from hiddenphysics.models.flow.linear_density import sampling_density
from hiddenphysics.models.flow.polish import QUIET, Correction, polish
from hiddenphysics.models.flow.reach import is_stretched, reach
from hiddenphysics.models.flow.sensor_check import sensors_off
from hiddenphysics.models.flow.shares import agreement, from_inputs
from hiddenphysics.models.flow.unfinished import numbers_of, stopped_at
from hiddenphysics.models.flow.unknown_prior import Mixture, prior_mixture
from hiddenphysics.models.flow.windows import Windows
from hiddenphysics.models.model import Fit

OVERFLOW = "The motion left the numbers at every start that was tried: the fields overflow."

FINEST = 32.0
"""How much finer a grid is asked whether its shortest waves grow: what is ill-posed shows there, whatever the gap."""

BEYOND = 10.0
"""How many times more, and more than the noise, left-overs may be than those of the last round; see `_elsewhere`, where
it was 3e4. With it 12 of 14 wrong equations are misfits, two are stopped by their limit (19 November 2026)."""


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
    verdict = _verdict(polished, scale_at, covariance, against, rivals, stretched=stretched)
    stated, criticism = covariance, None
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
        criticism = criticise(
            stops,
            scores(learned, polished.task.windows, stops, say, rows),
            sensors_off(polished.task, polished.last),
        )
        # What is left over moves parameters by parts of what the information tells; in `heavy` it is counted already.
        criticism = criticism.beside(*_numbers(polished, covariance - heavy, scale_at))
        # A bound that is in the way leaves much over, and says so itself. A search that the data draw where the
        # equation is ill-posed cannot settle: diffusion that is to stand for a growth becomes negative.
        settled = polished.last.settled or polished.last.found or _cornered(polished, against)
        if settled and verdict.status is not Status.AT_BOUND:
            widening = criticism.wider
        if criticism.speaks_against and settled and verdict.status is not Status.AT_BOUND:
            verdict = as_misfit(criticism.sentence(), verdict)
        if criticism.speaks_against and not settled and verdict.status is Status.WEAKLY_IDENTIFIED:
            # Shorter windows may settle: that the data leave a number open is told by what explains them.
            verdict = Verdict(Status.NOT_CONVERGED, f"{UNSETTLED} {criticism.sentence()}")
        if agreed is not None and agreed.speaks_against and settled and verdict.status is not Status.AT_BOUND:
            verdict = as_misfit(agreed.sentence(), verdict)
            # What the equation leaves over, and what experiments disagree on, is often the same.
            widening = max(widening, agreed.widening)
        stated = covariance * widening**2
        if verdict.status is Status.MISFIT and against(polished) is not None and not found_again:
            # What may be a false optimum is off by nobody knows what.
            stated = np.full_like(covariance, np.inf)
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
        otherwise=AT_AN_OPTIMUM,
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


def _data_waves(domain: Domain, windows: Windows) -> float:
    """How much finer the data's points are spaced than the motion's grid, along the finest side."""
    grid = domain.features.grid
    spacing = np.array(grid.lengths) / np.array(grid.shape)
    return float(np.max(spacing / (windows.region.extent / windows.per_side)))
