"""`inference="nuts"`: chains that agree with the curvature where the posterior is normal, kept in files and ArviZ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics import identification
from hiddenphysics.errors import ModelError
from hiddenphysics.learning import Status
from hiddenphysics.result import chains

HEAT = "u_t - D*u_xx = 0"


def pair() -> hp.Snapshots:
    random = np.random.default_rng(0)
    x = np.linspace(0, 2 * np.pi, 24)
    return hp.Snapshots(
        hp.Snapshot(t=t, x=x, u=np.exp(-t) * np.sin(x) + 0.02 * random.standard_normal(x.size))
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
