"""Experiments and inputs from the shell: what is printed, and what is refused before any fit."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from hiddenphysics.batch import Failure
from hiddenphysics.cli import app
from hiddenphysics.snapshots import Experiments

X = np.linspace(0.0, 1.0, 6)
HEAT = ["--pde", "u_t = D*u_xx", "--quiet"]


@pytest.fixture
def dishes(tmp_path: Path) -> Path:
    parts = [
        pd.DataFrame({"dish": dish, "t": t, "x": X, "u": np.sin(X + t + dish)})
        for dish in (1, 2)
        for t in (0.0, 0.1)
    ]
    path = tmp_path / "dishes.csv"
    pd.concat(parts).to_csv(path, index=False)
    return path


def refused(words: list[str]) -> str:
    ended = CliRunner().invoke(app, words)
    assert ended.exit_code not in (0, 1)
    return ended.stderr


def test_each_is_fitted_by_itself(dishes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with a row for every dish; the fits are stood in for."""
    asked: list[Experiments] = []

    def identify_many(equation: str, runs: Experiments, **options: object) -> list[Failure]:
        asked.append(runs)
        return [Failure(f"{equation} was not fitted.") for _ in runs]

    monkeypatch.setattr("hiddenphysics.batch.identify_many", identify_many)
    words = ["identify", str(dishes), *HEAT, "--experiment", "dish", "--each"]
    ended = CliRunner().invoke(app, words)
    assert [line.split()[:2] for line in ended.stdout.splitlines()] == [["1", "failed"], ["2", "failed"]]
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert [one["name"] for one in told["experiments"]] == ["1", "2"]
    assert asked[0].names == ("1", "2")
    np.testing.assert_allclose(asked[0]["2"][1]["u"], np.sin(X + 2.1))


def test_noise_is_drawn_anew_for_each(dishes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed for all would give all experiments the same errors."""
    asked: list[Experiments] = []
    monkeypatch.setattr(
        "hiddenphysics.batch.identify_many",
        lambda _, runs, **__: asked.append(runs) or [Failure("")] * len(runs),
    )
    words = ["identify", str(dishes), *HEAT, "--experiment", "dish", "--each", "--add-noise", "0.1"]
    CliRunner().invoke(app, words)
    errors = [asked[0][k][0]["u"] - np.sin(X + k + 1) for k in (0, 1)]
    assert abs(np.corrcoef(*errors)[0, 1]) < 0.9


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--experiment", "plate"], "there is no column plate to tell the experiments"),
        (["--experiment", "dish", "--model", "paper"], "There are 2 experiments, and it takes one"),
        (["--experiment", "dish", "--each", "--save", "fit.nc"], "--each makes many results"),
        (["--experiment", "dish", "--input", "w"], "needed is NAME=FILE"),
    ],
)
def test_what_is_refused(dishes: Path, words: list[str], sentence: str) -> None:
    assert sentence in " ".join(refused(["identify", str(dishes), *HEAT, *words]).split())
