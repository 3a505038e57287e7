"""How a fit ended, in a word and a sentence: success is what no check speaks against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hiddenphysics.inference.fit import Status

UNDETERMINED = 0.5
"""A standard deviation that large, relative to the parameter's natural scale, leaves the parameter open."""

VAGUE, NOTICEABLE = 5.0, 0.05
"""So does one of so many times the estimate, where it is noticeable on the natural scale."""


@dataclass(frozen=True)
class Verdict:
    """Status and explanation."""

    status: Status
    explanation: str


@dataclass(frozen=True)
class Evidence:
    """What the verdict rests on.

    Attributes
    ----------
    names, estimate, covariance, scale
        The parameters, their values, their covariance, and for each the change that alters the rate of the fields by
        as much as they change.
    limits
        (P, 2) bounds.
    settled
        Whether the rounds ended because nothing moved.
    joint, separate
        Log evidence of all snapshots with the equation, and of each by itself without it.
    tamed
        Whether the growth of short waves had to be held back at the end.
    unstable
        Whether waves as short as the distance between the data would have to be held back, were there any.
    """

    names: Sequence[str]
    estimate: np.ndarray
    covariance: np.ndarray
    scale: np.ndarray
    limits: np.ndarray
    settled: bool
    joint: float
    separate: float
    tamed: bool
    unstable: bool


def judge(found: Evidence) -> Verdict:
    """Return the verdict: the gravest finding first."""
    if not (np.all(np.isfinite(found.estimate)) and np.isfinite(found.joint)):
        return Verdict(
            Status.FAILED, "The motion left the numbers at every start that was tried: the fields overflow."
        )
    if found.joint < found.separate:
        return Verdict(
            Status.NOT_CONVERGED,
            "The snapshots are explained better one by one, without any equation, than together by this one (log "
            f"evidence {found.separate:.1f} against {found.joint:.1f}): the equation does not hold for these data, or "
            "the search ended in a false optimum. The numbers are not to be used.",
        )
    if found.tamed:
        return Verdict(
            Status.NOT_CONVERGED,
            "With the estimated parameters the shortest waves grow without bound: the equation is ill-posed forward "
            "in time there, and its flow was held back. Check signs, or give bounds.",
        )
    if found.unstable:
        return Verdict(
            Status.WEAKLY_IDENTIFIED,
            "The estimate is ill-posed for waves as short as the distance between the points, which these smooth data "
            "do not contain: they do not determine the coefficient of the highest derivative. Give it bounds, or use "
            "later snapshots.",
        )
    weak = weak_words(found)
    if weak:
        return Verdict(Status.WEAKLY_IDENTIFIED, weak)
    held = [
        name
        for name, value, (low, high) in zip(found.names, found.estimate, found.limits, strict=True)
        if value <= low or value >= high
    ]
    if held:
        return Verdict(
            Status.AT_BOUND,
            f"{', '.join(held)} ended at a bound; the interval only says that it is in the way.",
        )
    if not found.settled:
        return Verdict(Status.NOT_CONVERGED, "The rounds ended before the parameters settled.")
    return Verdict(
        Status.CONVERGED, "The rounds settled at an optimum that every parameter has curvature at."
    )


def weak_words(found: Evidence) -> str:
    """Name what the data do not determine, and the combination that they leave open; empty when all is determined."""
    deviation = np.sqrt(np.diagonal(found.covariance))
    reference = found.scale
    wide = ~(deviation < UNDETERMINED * reference)
    vague = (deviation > VAGUE * np.abs(found.estimate)) & (deviation > NOTICEABLE * reference)
    open_ones = [name for name, weak in zip(found.names, wide | vague, strict=True) if weak]
    if not open_ones:
        return ""
    text = f"The data do not determine {' and '.join(open_ones)}"
    values, vectors = np.linalg.eigh(np.nan_to_num(found.covariance / np.outer(reference, reference)))
    weakest = vectors[:, -1]
    shares = [
        f"{weight:+.2g} {name}"
        for name, weight in zip(found.names, weakest / np.abs(weakest).max() * reference, strict=True)
        if abs(weight) > 0.1 * np.abs(weakest * reference).max()
    ]
    if len(shares) > 1:
        text += (
            f": they leave open the direction in which the parameters change together by {', '.join(shares)}"
        )
    return f"{text} (standard deviation {np.sqrt(values[-1]):.2g} of the natural size)."
