"""Which cut into windows is believed, and what longer windows have to say against it."""

from types import SimpleNamespace

import numpy as np
import pytest

from hiddenphysics.learning import Status, Verdict
from hiddenphysics.models import Fit
from hiddenphysics.models.flow.flow_fit import best_cut


def fit(value, std, status, evidence):
    verdict = Verdict(status, f"{status} it is.")
    return Fit(
        {"D": value, "noise.variance": 1.0},
        np.diag([std**2, 0.0]),
        evidence,
        verdict,
        0.0,
        1,
        SimpleNamespace(),
    )


def test_the_cut_that_ended_well_is_taken_as_it_is():
    lost, good = fit(3.0, 0.1, Status.NOT_CONVERGED, 90.0), fit(1.0, 0.1, Status.CONVERGED, 50.0)
    assert best_cut([lost, good], ["D"]) is good
    worse = fit(2.0, 0.1, Status.MISFIT, 20.0)
    assert best_cut([worse, lost], ["D"]) is lost


@pytest.mark.parametrize(
    ("longer", "status"),
    [(1.1, Status.CONVERGED), (0.2, Status.WEAKLY_IDENTIFIED), (40.0, Status.WEAKLY_IDENTIFIED)],
)
def test_what_longer_windows_say_is_in_the_deviation(longer, status):
    """Shorter windows see less: that they have nothing to say against an equation does not make them right."""
    misfit, good = fit(longer, 0.01, Status.MISFIT, 20.0), fit(1.0, 0.01, Status.CONVERGED, 50.0)
    best = best_cut([misfit, good], ["D"])
    assert best.values["D"] == 1.0
    assert best.verdict.status is status
    assert f"say D = {longer:.4g}" in best.verdict.explanation
    assert np.sqrt(best.covariance[0, 0]) == pytest.approx(np.hypot(0.01, 1.0 - longer))
    assert best.covariance[1, 1] == 0.0
