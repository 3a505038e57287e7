"""Which cut into windows is believed, and what longer windows have to say against it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from hiddenphysics.learning import Criticism, Status, Verdict
from hiddenphysics.models import MODELS, Fit
from hiddenphysics.models.flow.cuts import best_cut


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
    # Ice with a still edge: D = −0.6 in shorter windows, unsettled, and more left over than noise.
    told = Criticism(p_value=1e-37, of_change=9.0)
    assert best_cut([worse, replace(lost, criticism=told)], ["D"]) is worse
    # Ice without offsets: open in shorter windows, unsettled, and just as much left over.
    vague = fit(0.01, 0.1, Status.WEAKLY_IDENTIFIED, 90.0)
    assert best_cut([worse, vague], ["D"]) is not worse
    assert best_cut([worse, replace(vague, criticism=told)], ["D"]) is worse


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


def test_a_misfit_stands_where_shorter_windows_say_the_same():
    """They are no second opinion: nine sensors, five times had D = 0.1353(27) so, `converged`; D was 0.1."""
    misfit, good = fit(1.02, 0.05, Status.MISFIT, 20.0), fit(1.0, 0.01, Status.CONVERGED, 50.0)
    told = replace(misfit, criticism=Criticism(p_value=1e-6, widening=5.0, of_change=0.5))
    best = best_cut([told, good], ["D"])
    assert best.verdict.status is Status.MISFIT
    assert best.covariance[0, 0] == 0.05**2
    assert best.verdict.explanation.endswith("say the same.")
    # Far apart, but shorter windows explain the data no better with all their states: ice with a still edge.
    likelier = replace(fit(3.0, 0.05, Status.MISFIT, 60.0), criticism=told.criticism)
    assert best_cut([likelier, good], ["D"]).verdict.explanation.endswith("no better.")
    assert best_cut([likelier, good], ["D"]).verdict.status is Status.MISFIT
    # What is left over widens a deviation; whether two cuts say the same it does not tell.
    elsewhere = replace(fit(1.1, 0.05, Status.MISFIT, 20.0), criticism=told.criticism)
    assert best_cut([elsewhere, good], ["D"]).verdict.status is Status.CONVERGED


def test_a_misfit_stands_where_the_time_is_over():
    """Half a search in shorter windows, which explains more, took the place of a misfit that had been found."""
    misfit, half = fit(1.0, 0.05, Status.MISFIT, 20.0), fit(0.3, 0.01, Status.NOT_CONVERGED, 90.0)
    assert best_cut([misfit, replace(half, stopped=True)], ["D"]) is misfit
    assert MODELS["flow"].finish(None, misfit, "The time limit was reached.") is misfit
