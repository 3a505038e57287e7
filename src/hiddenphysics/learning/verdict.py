"""How a fit ended, in a word and a sentence: success is what no check speaks against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

UNDETERMINED = 0.5
"""A standard deviation that large, relative to the parameter's natural scale, leaves the parameter open."""

VAGUE, NOTICEABLE = 5.0, 0.05
"""So does one of so many times the estimate, where it is noticeable on the natural scale."""

ENORMOUS = 1e30
"""What an infinite variance counts as, where the direction that is left open is sought."""


class Status(StrEnum):
    """How a fit ended. Only `CONVERGED` is a success without reservations."""

    CONVERGED = "converged"
    AT_BOUND = "at_bound"
    WEAKLY_IDENTIFIED = "weakly_identified"
    MISFIT = "misfit"
    NOT_CONVERGED = "not_converged"
    FAILED = "failed"

    @property
    def is_bad(self) -> bool:
        """Whether the numbers are not to be used."""
        return self in (Status.FAILED, Status.NOT_CONVERGED, Status.MISFIT)


@dataclass(frozen=True)
class Verdict:
    """Status and explanation."""

    status: Status
    explanation: str


def gravest(*findings: Verdict | None, otherwise: str) -> Verdict:
    """Return the first finding that there is; where there is none, success with the sentence `otherwise`."""
    return next((one for one in findings if one is not None), Verdict(Status.CONVERGED, otherwise))


def when(condition: bool, status: Status, sentence: str) -> Verdict | None:
    """Return a finding where there is one."""
    return Verdict(status, sentence) if condition else None


def undetermined(
    names: Sequence[str], estimate: np.ndarray, covariance: np.ndarray, scale: np.ndarray
) -> Verdict | None:
    """Name the parameters that the data do not determine, and the combination that they leave open.

    Parameters
    ----------
    estimate, covariance
        (P,) and (P, P).
    scale
        (P,) for each parameter the change that alters the rate of the fields by as much as they change.
    """
    deviation = np.sqrt(np.diagonal(covariance))
    wide = ~(deviation < UNDETERMINED * scale)
    vague = (deviation > VAGUE * np.abs(estimate)) & (deviation > NOTICEABLE * scale)
    open_ones = [name for name, weak in zip(names, wide | vague, strict=True) if weak]
    if not open_ones:
        return None
    relative = np.nan_to_num(covariance / np.outer(scale, scale), posinf=ENORMOUS, neginf=-ENORMOUS)
    values, vectors = np.linalg.eigh(relative)
    weakest = vectors[:, -1]
    share = weakest / np.abs(weakest).max()  # in natural sizes, so that units do not decide what is named
    shares = [f"{s * size:+.2g} {n}" for n, s, size in zip(names, share, scale, strict=True) if abs(s) > 0.1]
    text = f"The data do not determine {' and '.join(open_ones)}"
    if len(shares) > 1:
        text += (
            f": they leave open the direction in which the parameters change together by {', '.join(shares)}"
        )
    return Verdict(
        Status.WEAKLY_IDENTIFIED,
        f"{text} (standard deviation {np.sqrt(values[-1]):.2g} of the natural size).",
    )


def at_bound(names: Sequence[str], free: np.ndarray) -> Verdict | None:
    """Name the parameters that ended at a bound: those that are not free (P,)."""
    held = [name for name, away in zip(names, free, strict=True) if not away]
    sentence = f"{', '.join(held)} ended at a bound; the interval only says that it is in the way."
    return when(bool(held), Status.AT_BOUND, sentence)


def unfinished(reason: str) -> Verdict:
    """Say that a fit was stopped, for that reason, and what its numbers are then."""
    return Verdict(
        Status.NOT_CONVERGED,
        f"{reason} These are the best numbers so far, not an optimum; how far they are off is not known.",
    )
