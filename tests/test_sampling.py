"""`inference="nuts"`: chains that agree with the curvature where the posterior is normal, kept in files and ArviZ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics import identification
from hiddenphysics.errors import ModelError
from hiddenphysics.learning import Status
from hiddenphysics.models.flow import answer, unknown_prior
from hiddenphysics.result import chains

HEAT = "u_t - D*u_xx = 0"


def pair(noise: float = 0.02) -> hp.Snapshots:
    random = np.random.default_rng(0)
    x = np.linspace(0, 2 * np.pi, 24)
    return hp.Snapshots(
        hp.Snapshot(t=t, x=x, u=np.exp(-t) * np.sin(x) + noise * random.standard_normal(x.size))
        for t in (0.0, 0.3)
    )


@pytest.mark.parametrize("model", ["flow", "midpoint"])
def test_chains_tell_what_the_curvature_does(
    model: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With fewer draws than usual, which may differ more."""
    monkeypatch.setattr(identification, "WARM", 60)
    monkeypatch.setattr(identification, "DRAWS", 150)
    monkeypatch.setattr(chains, "AGREED", 1.1)
    plain = hp.identify(HEAT, pair(), model=model)
    drawn = hp.identify(HEAT, pair(), model=model, inference="nuts")
    one, other = plain.parameters["D"], drawn.parameters["D"]
    assert drawn.status is Status.CONVERGED
    assert other.estimate == pytest.approx(one.estimate, abs=0.4 * one.std)
    assert other.std == pytest.approx(one.std, rel=0.35)
    assert "4 chains of 150 draws" in str(drawn)
    assert drawn.summary()["r_hat"]["D"] < 1.1
    loaded = hp.load(drawn.save(tmp_path / "drawn.nc"))
    assert loaded.chains is not None
    assert drawn.chains is not None
    np.testing.assert_array_equal(loaded.chains.draws, drawn.chains.draws)
    if model == "flow":
        posterior = pytest.importorskip("arviz").extract(drawn.to_arviz())
        assert posterior.sizes["sample"] == 4 * 150


def test_chains_that_do_not_agree_are_not_believed() -> None:
    random = np.random.default_rng(0)
    apart = chains.Chains(("D",), random.standard_normal((4, 100, 1)) + np.arange(4)[:, None, None])
    assert not apart.agree
    assert "they do not agree" in apart.sentence()
    assert chains.Chains.of_plain(apart.plain()).r_hat == apart.r_hat


def test_other_ways_are_refused() -> None:
    with pytest.raises(ModelError, match="inference='gibbs' was given; known are laplace, nuts"):
        hp.identify(HEAT, pair(), inference="gibbs")


def test_weights_that_cannot_be_believed_send_a_fit_to_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pareto's k was told, and nobody was sampled."""
    monkeypatch.setattr(identification, "WARM", 60)
    monkeypatch.setattr(identification, "DRAWS", 150)
    monkeypatch.setattr(chains, "AGREED", 1.1)
    plain = hp.identify(HEAT, pair(), model="flow")
    assert plain.chains is None
    monkeypatch.setattr(unknown_prior, "WORTH", -np.inf)
    monkeypatch.setattr(unknown_prior, "RELIABLE", -np.inf)
    drawn = hp.identify(HEAT, pair(), model="flow")
    assert drawn.chains is not None
    assert drawn.parameters["D"].std == pytest.approx(plain.parameters["D"].std, rel=0.35)
    monkeypatch.setattr(chains, "SAME", 100.0)
    confirmed = hp.identify(HEAT, pair(), model="flow")
    assert confirmed.chains is not None
    assert confirmed.values == plain.values  # the prior's doubt is in the deviation alone
    monkeypatch.setattr(chains, "SAME", 0.0)
    moved = hp.identify(HEAT, pair(), model="flow")
    assert moved.parameters["D"].estimate == pytest.approx(np.mean(moved.chains.draws))
    monkeypatch.setattr(chains, "AGREED", 0.0)
    apart = hp.identify(HEAT, pair(), model="flow")
    assert apart.chains is None
    assert apart.status is Status.CONVERGED
    assert "they do not agree" in apart.explanation


def test_chains_leave_in_the_interval_what_they_cannot_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """They sample around one optimum: what the evidence says far from it was lost, and the interval was narrow."""
    monkeypatch.setattr(identification, "WARM", 60)
    monkeypatch.setattr(identification, "DRAWS", 150)
    monkeypatch.setattr(chains, "AGREED", 1.1)
    plain = hp.identify(HEAT, pair(), model="flow").parameters["D"].std
    monkeypatch.setattr(answer, "reach", lambda task, last, covariance, say: 9.0 * covariance)
    wide = hp.identify(HEAT, pair(), model="flow", inference="nuts").parameters["D"].std
    assert wide == pytest.approx(3.0 * plain, rel=0.2)


def test_chains_that_nobody_asked_for_have_little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clean pair of Burgers' equation was sampled for minutes, unasked."""
    monkeypatch.setattr(unknown_prior, "WORTH", -np.inf)
    monkeypatch.setattr(unknown_prior, "RELIABLE", -np.inf)
    monkeypatch.setattr(identification, "UNASKED", 0.0)
    noisy = hp.identify(HEAT, pair(), model="flow")
    assert noisy.status is Status.CONVERGED
    assert noisy.chains is None
    assert "Nobody asked for them" in noisy.explanation
    clean = hp.identify(HEAT, pair(noise=0.0), model="flow")
    assert "Chains" not in clean.explanation
