"""What may be said against where a search ended: too little is explained, or too much is left."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hiddenphysics.learning import Status, Verdict, when
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.gauss_newton import Searched
from hiddenphysics.models.flow.one_round import Round

UNEXPLAINED = 1.3
"""Variance that is left over that of the noise of single snapshots, from which on the equation leaves too much."""

LEAST_GAIN = 3.0
"""Log evidence that an equation has to gain over snapshots one by one: odds of twenty. A chance match reaches it once
in twenty times. Of a wave train that had crossed the window three times between two snapshots one had c = −0.477 ±
0.004, `converged`, for c = 1; no draw of twelve gains 3. Heat through a window gains 20, three points at two times 6,
snapshots that do not overlap 4."""

DOUBTS = 4.0
"""Standard deviations that are allowed for in that noise."""

MANY, MORE_THAN_NOISE = 20, 1.5
"""Values for every column of the state from which on what is left over tells the noise, and how many times the smallest
noise that can be told it has to be to count instead. All 102 912 values of KdV without noise leave twenty times that,
what their own solver made: 5.9999970(6) and 0.9999984(2), 5.4 and 6.9 deviations off, are 5.999997(10) and
0.9999984(43) with it (18 November 2026)."""

NOISIER, TOLD = 2.0, 0.25
"""Doubts by which together snapshots may be noisier than one by one, and the doubt up to which that noise is told.

Both noises are of the same values, and differ by less than their doubt: of 80 pairs of Burgers' and Korteweg and de
Vries' equations at 1 and 5 % none by more than 0.9 of it. Three snapshots of Kawahara's equation, eight draws: six
searches ended up to 60 deviations off, `converged`, at 2.7 to 6.1, one 31 off at 1.2, and a right one at 0.3. Where
this sends the search on, three of the six end within 4 deviations and three 8 to 10 off; with 1.5 in place of 2 the
searches take a minute more and end no better (18 November 2026)."""

UNSETTLED = "The rounds ended before the parameters settled."

AT_AN_OPTIMUM = "The rounds settled at an optimum that every parameter has curvature at."

Finding = Callable[[Searched], Verdict | None]
"""What may be said against where a search ended."""


def explained_better(separate: float) -> Finding:
    """Return the finding that snapshots one by one have more evidence than this, or as much, without any equation."""

    def finding(ended: Searched) -> Verdict | None:
        gain = ended.evidence - separate
        how = f"(log evidence {separate:.1f} against {ended.evidence:.1f})"
        findings = (
            when(
                not gain >= 0,
                Status.NOT_CONVERGED,
                "The snapshots are explained better one by one, without any equation, than together by this one "
                f"{how}: the equation does not hold for these data, or the search ended in a false optimum. The "
                "numbers are not to be used.",
            ),
            when(
                gain < LEAST_GAIN,
                Status.NOT_CONVERGED,
                "The snapshots are explained as well one by one, without any equation, as together by this one "
                f"{how}: what was seen in one of them is hardly seen in another, and some value of the parameters "
                "always matches by chance. The numbers are not to be used. Take snapshots that lie closer in time, or "
                "more of them.",
            ),
        )
        return next((one for one in findings if one is not None), None)

    return finding


def noisier_together(noise: float, doubt: float, quiet: float) -> Finding:
    """Return the finding that together the snapshots are noisier than the variance that each by itself has.

    `doubt` is the standard deviation of that variance's logarithm; below a variance of `quiet` nothing is said.
    """

    def finding(ended: Searched) -> Verdict | None:
        ratio = ended.task.noise(ended.last.point) / noise
        return when(
            noise > quiet and doubt < TOLD and not np.log(ratio) < NOISIER * doubt,
            Status.NOT_CONVERGED,
            f"Together the snapshots have {ratio:.2g} times the variance of noise that each has by itself: the "
            "equation does not hold for these data, or the search ended in a false optimum. The numbers are not to "
            "be used. Take snapshots that lie closer in time, or give bounds.",
        )

    return finding


def first_of(*findings: Finding) -> Finding:
    """Return the finding that says what the first of these has to say."""
    return lambda ended: next((said for one in findings if (said := one(ended)) is not None), None)


def unexplained(noise: float, doubt: float) -> Finding:
    """Return the finding that more is left unexplained than the variance of the noise of snapshots one by one.

    `doubt` is the standard deviation of that variance's logarithm.
    """
    return lambda ended: too_much_left(ended.last.misfit, noise, doubt)


def too_much_left(misfit: float, noise: float, doubt: float) -> Verdict | None:
    """Say so where the root mean square of what is left is that much above the noise; see `unexplained`."""
    ratio = misfit**2 / noise
    return when(
        not ratio < UNEXPLAINED * np.exp(DOUBTS * doubt),
        Status.NOT_CONVERGED,
        f"The equation leaves {ratio:.2g} times the variance unexplained that the noise of single snapshots has: "
        "it does not hold for these data, or the search ended in a false optimum. The numbers are not to be used.",
    )


def above_the_floor(task: FlowTask, last: Round) -> float:
    """How many times the noise is left over where that is the smallest that can be told, of very many values; else 1.

    Data without noise still hold what their own solver and their printed digits made.
    """
    lowest = float(last.tuned.theta[-1]) <= task.prior_bounds[-1, 0] + 1e-6
    many = task.count > MANY * np.shape(last.point.z)[-1]
    if not (lowest and many) or task.seen.known is not None:
        return 1.0
    times = last.misfit / np.sqrt(task.noise(last.point))
    return float(times) if times > MORE_THAN_NOISE else 1.0


def as_misfit(sentence: str, verdict: Verdict) -> Verdict:
    """Return that the equation does not hold, and behind it what was bad about the fit already."""
    further = f" {verdict.explanation}" if verdict.status.is_bad else ""
    return Verdict(Status.MISFIT, sentence + further)
