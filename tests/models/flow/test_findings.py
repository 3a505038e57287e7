"""What may be said against where a search ended: noise that snapshots do not have one by one."""

from types import SimpleNamespace

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.learning import Status
from hiddenphysics.models.flow.findings import first_of, noisier_together
from hiddenphysics.simulate import simulate

KAWAHARA = "u_t + a*u*u_x + b*u_xxx - c*u_xxxxx = 0"


def ended(noise):
    """A search that ended with so much variance of noise."""
    return SimpleNamespace(last=SimpleNamespace(point=None), task=SimpleNamespace(noise=lambda point: noise))


@pytest.mark.parametrize(
    ("together", "doubt", "quiet", "said"),
    [
        (1.2e-4, 0.14, 1e-6, False),  # ln 1.2 = 0.18 is 1.3 doubts
        (2.0e-4, 0.14, 1e-6, True),  # ln 2 = 0.69 is 5
        (2.0e-4, 0.40, 1e-6, False),  # so few values do not tell the noise
        (2.0e-4, 0.14, 1e-3, False),  # below what is judged
        (np.nan, 0.14, 1e-6, True),
    ],
)
def test_snapshots_are_not_noisier_together_than_one_by_one(together, doubt, quiet, said):
    verdict = noisier_together(1e-4, doubt, quiet)(ended(together))
    assert (verdict is not None) == said
    if said:
        assert verdict.status is Status.NOT_CONVERGED
        assert "times the variance of noise that each has by itself" in verdict.explanation


def test_the_first_finding_speaks():
    assert first_of(lambda one: None, lambda one: "second", lambda one: "third")(None) == "second"
    assert first_of(lambda one: None)(None) is None


def test_a_false_optimum_of_waves_that_turn_many_times_is_left():
    """Was c = 0.0798 ± 0.0003, `converged`, 60 deviations off: the first search ends where waves match a turn later."""
    truth = {"a": 1.0, "b": 0.5, "c": 0.1}
    run = simulate(
        KAWAHARA,
        {"u": lambda x: 1.5 * np.exp(-(x**2) / 2)},
        box=(-15.0, 15.0),
        shape=256,
        times=[0.0, 0.3, 0.8, 1.3],
        parameters=truth,
    )
    data = hp.read(run)[1:].subsample(70, seed=8).with_noise(0.01, seed=108)
    fit = hp.identify(KAWAHARA, data, model="flow")
    for name, value in truth.items():
        found = fit.parameters[name]
        assert abs(found.estimate - value) < 5 * found.std
