"""The default model: the flow where it applies, the midpoint where it does not, and a sentence about it."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.learning import Status, Verdict
from hiddenphysics.models import MODELS, Fit
from hiddenphysics.result import Result
from hiddenphysics.simulate.exact import burgers, gaussian_pulse

pytestmark = pytest.mark.xdist_group("automatic")  # one process: the tests share fits

BURGERS = "u_t + a*u*u_x - b*u_xx = 0"


def exact(t: float, x: np.ndarray) -> np.ndarray:
    return burgers(gaussian_pulse, t, x, 0.1, speed=1.0, reach=16.0, nodes=801)


def snapshots(*times: float, count: int = 60) -> list[hp.Snapshot]:
    generator = np.random.default_rng(0)
    points = [np.sort(generator.uniform(-7.0, 7.0, count)) for _ in times]
    return [hp.Snapshot(t=t, x=x, u=exact(t, x)) for t, x in zip(times, points, strict=True)]


@cache
def found() -> Result:
    return hp.identify(BURGERS, snapshots(1.0, 2.0))


def test_a_long_gap_goes_by_the_flow() -> None:
    result = found()
    assert result.model == "flow"
    assert result.status is Status.CONVERGED
    assert "Every field evolves" in result.reason
    assert result.reason in str(result)
    assert abs(result.parameters["a"].estimate - 1.0) < 1e-3
    assert abs(result.parameters["b"].estimate - 0.1) < 1e-4


def test_it_predicts_derivatives_later_times_and_draws() -> None:
    x = np.linspace(-4.0, 4.0, 9)
    mean, std = found().predict("u", x, t=3.0)
    assert np.max(np.abs(mean - exact(3.0, x))) < 1e-3
    assert np.all(std >= 0)
    slope, _ = found().predict("2*u_x + x", x, t=1.5)
    step = 1e-4
    expected = (exact(1.5, x + step) - exact(1.5, x - step)) / step + x
    assert np.max(np.abs(slope - expected)) < 1e-2
    assert found().sample("u", x, t=3.0, count=3, seed=1).shape == (3, 9)
    with pytest.raises(hp.ModelError, match="not linear in the fields"):
        found().predict("u^2", x, t=1.5)


def test_what_was_found_moves_on() -> None:
    run = found().simulate([1.0, 2.5], points=40)
    assert run["u"].dims == ("t", "x")
    assert np.max(np.abs(run["u"].isel(t=1) - exact(2.5, run["x"].to_numpy()))) < 2e-3
    drawn = found().simulate([2.5], points=40, draws=4, seed=0)
    assert drawn["u"].dims == ("draw", "t", "x")
    assert float(np.abs(drawn["u"].mean("draw") - run["u"].isel(t=1)).max()) < 1e-2
    with pytest.raises(hp.ModelError, match="must increase"):
        found().simulate([2.0, 1.0])


def test_a_saved_flow_comes_back_and_moves_on_from_the_shell(tmp_path) -> None:
    path = found().save(tmp_path / "fit.nc")
    x = np.linspace(-4.0, 4.0, 5)
    loaded = hp.load(path)
    np.testing.assert_allclose(
        loaded.predict("u", x, t=2.2), found().predict("u", x, t=2.2), rtol=1e-8, atol=1e-12
    )
    assert (loaded.reason, loaded.model) == (found().reason, "flow")
    words = [
        "simulate",
        str(path),
        "--until",
        "2.5",
        "--frames",
        "4",
        "--points",
        "30",
        "--plot",
        str(tmp_path / "run.png"),
    ]
    run = subprocess.run(
        [sys.executable, "-m", "hiddenphysics", *words], capture_output=True, text=True, check=True
    )
    assert "u_t + " in run.stdout
    assert (tmp_path / "run.png").stat().st_size > 10_000


def ended(status: Status) -> Fit:
    """A fit of u_t - b*u_xx = 0 that nobody made."""
    return Fit({"b": 0.1}, np.ones((1, 1)), 0.0, Verdict(status, "As it ended."), 0.0, 1, None)


def test_a_hidden_field_goes_by_the_midpoint_and_says_why(monkeypatch) -> None:
    """Who is asked, and why; `test_beyond_the_paper` fits a hidden pressure."""
    monkeypatch.setattr(type(MODELS["midpoint"]), "learn", lambda *words: ended(Status.CONVERGED))
    data, equation = snapshots(1.0, 1.1, count=20), "u_t - b*u_xx + q_x = 0"
    result = hp.identify(equation, data)
    assert result.model == "midpoint"
    assert "no time derivative of q" in result.reason
    with pytest.raises(hp.ModelError, match="Use model='midpoint'"):
        hp.identify(equation, data, model="flow")


def test_models_without_a_later_time_say_so() -> None:
    paper = hp.identify(BURGERS, snapshots(1.0, 1.1, count=40), model="paper")
    with pytest.raises(hp.ModelError, match="Identify with model='flow'"):
        paper.simulate([2.0])
    with pytest.raises(hp.ModelError, match="The model 'flow' knows it later"):
        paper.predict("u", [0.0], t=2.0)


def test_the_likelihood_by_name_is_a_linear_model_s() -> None:
    with pytest.raises(hp.ModelError, match="by name it exists for midpoint, paper"):
        hp.problem(BURGERS, snapshots(1.0, 1.1), model="flow")
    with pytest.raises(hp.ModelError, match="has no likelihood by name"):
        _ = found().problem
    with pytest.raises(hp.ModelError, match="known are auto, flow, midpoint, paper"):
        hp.identify(BURGERS, snapshots(1.0, 1.1), model="guess")


def test_a_model_that_does_not_apply_says_why_and_what_to_type():
    x = np.linspace(0.0, 6.0, 12)
    pair = [hp.Snapshot(t=t, x=x, u=np.sin(x - t)) for t in (0.0, 0.1)]
    with pytest.raises(
        hp.ModelError,
        match=r"The flow model does not apply: .* no time derivative of p.* Use model='midpoint' or model='paper'\.",
    ):
        hp.identify("u_t + a*u*u_x + p_x = 0", pair, model="flow")


def test_the_second_opinion_uses_the_kernels_that_were_given(monkeypatch):
    """A flow that ends badly, and a midpoint that only says what it was asked."""
    asked = []

    def spied(model, question, _say):
        asked.append((model.name, question.kernels))
        raise hp.ModelError("Enough was seen.")

    monkeypatch.setattr(type(MODELS["flow"]), "learn", lambda *words: ended(Status.NOT_CONVERGED))
    monkeypatch.setattr(type(MODELS["midpoint"]), "learn", spied)
    found = hp.identify("u_t - b*u_xx = 0", snapshots(1.0, 2.0), kernel=hp.Matern(4.5))
    assert asked == [("midpoint", hp.Matern(4.5))]
    assert found.reason == "The equation's own flow; no other model takes these data."
