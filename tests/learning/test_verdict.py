"""One verdict for all models: what it names, and from which size on."""

import numpy as np
import pytest

from hiddenphysics.learning import Status, Verdict, at_bound, gravest, rounds, undetermined
from hiddenphysics.learning.verdict import NOTICEABLE, UNDETERMINED, VAGUE

NAMES, SCALE = ("a", "b"), np.array([2.0, 1e-3])


def spread(*relative):
    """A covariance with deviations in natural sizes."""
    return np.diag((np.array(relative) * SCALE) ** 2)


@pytest.mark.parametrize(
    ("deviations", "estimate", "named"),
    [
        ((0.9 * UNDETERMINED, 0.01), (1.0, 1.0), ""),
        ((1.1 * UNDETERMINED, 0.01), (1.0, 1.0), "a"),
        ((0.01, np.inf), (1.0, 1.0), "b"),
        ((0.01, np.nan), (1.0, 1.0), "b"),
        ((1.1 * NOTICEABLE, 0.01), (0.0, 1.0), "a"),  # many times the estimate, and noticeable
        ((0.9 * NOTICEABLE, 0.01), (0.0, 1.0), ""),  # many times an estimate of nothing, but small
        ((1.1 * NOTICEABLE, 0.01), (1.2 * NOTICEABLE * 2.0 / VAGUE, 1.0), ""),
    ],
)
def test_what_is_open_is_named(deviations, estimate, named):
    finding = undetermined(NAMES, np.array(estimate), spread(*deviations), SCALE)
    if not named:
        assert finding is None
        return
    assert finding.status is Status.WEAKLY_IDENTIFIED
    assert finding.explanation.startswith(f"The data do not determine {named}")


def test_the_open_direction_is_told():
    along = np.outer(SCALE, SCALE) * (np.array([[1.0, -1.0], [-1.0, 1.0]]) * 1e4 + 1e-4 * np.eye(2))
    finding = undetermined(NAMES, np.ones(2), along, SCALE)
    assert "change together by" in finding.explanation
    assert "determine a and b" in finding.explanation


def test_units_do_not_matter():
    for factor in (1e-9, 1e9):
        unit = np.array([factor, 1.0])
        one = undetermined(NAMES, np.ones(2), spread(0.6, 0.1), SCALE)
        other = undetermined(NAMES, unit, spread(0.6, 0.1) * np.outer(unit, unit), SCALE * unit)
        assert one.explanation == other.explanation


def test_the_gravest_finding_speaks():
    bad, weak = Verdict(Status.FAILED, "bad"), Verdict(Status.WEAKLY_IDENTIFIED, "weak")
    assert gravest(None, bad, weak, otherwise="fine") is bad
    assert gravest(None, None, otherwise="fine") == Verdict(Status.CONVERGED, "fine")
    assert at_bound(NAMES, np.array([True, True])) is None
    assert at_bound(NAMES, np.array([True, False])).explanation.startswith("b ended at a bound")
    assert [status.is_bad for status in Status] == [False, False, False, True, True, True]


def test_rounds_end_when_nothing_moves_or_patience_is_over():
    """Newton's rounds for the square root of two; each knows the one before."""
    said = []

    def advance(before):
        x = 1.0 if before is None else before[0]
        return (0.5 * (x + 2.0 / x), x)

    made = rounds(advance, lambda last: abs(last[0] - last[1]) < 1e-12, 50, said.append)
    assert made[-1][0] == pytest.approx(np.sqrt(2), rel=1e-15)
    assert said == [f"round {n + 1}" for n in range(len(made))]
    assert len(rounds(advance, lambda last: False, 3, said.append)) == 3
