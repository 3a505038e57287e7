"""The command line as a user meets it: words in, text, files and exit codes out."""

import json
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from hiddenphysics.cli import app, spread, terminal
from tests.test_identification import HEAT, heat, heat_snapshots

runner = CliRunner()


def call(*words):
    return runner.invoke(app, spread([str(w) for w in words]))


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "heat.csv"
    pd.concat(pd.DataFrame({"t": s.t, "x": s["x"], "u": s["u"]}) for s in heat_snapshots()).to_csv(
        path, index=False
    )
    return path


def test_identify_prints_the_equation(csv):
    answer = call("identify", csv, "--pde", HEAT, "-q")
    assert answer.exit_code == terminal.OK
    assert answer.stdout.startswith("u_t - 0.20")
    assert answer.stderr == ""


def test_json_has_the_documented_shape(csv):
    answer = call("identify", csv, "--pde", HEAT, "--json", "-q")
    told = json.loads(answer.stdout)
    low, high = told["parameters"]["b"]["interval95"]
    assert low < told["parameters"]["b"]["estimate"] < high
    assert told["parameters"]["b"]["std"] > 0
    assert {"noise_std", "evidence", "status", "model", "equation"} <= set(told)
    assert told["status"] == "converged"
    assert told["model"] == "flow"
    assert told["reason"]


def test_progress_goes_to_stderr_with_a_stage_for_compiling(csv):
    answer = call("identify", csv, "--pde", HEAT)
    assert "smoothing" in answer.stderr
    assert "smoothing" not in answer.stdout


def test_files_are_written_and_kept(csv, tmp_path):
    picture, result = tmp_path / "heat.png", tmp_path / "heat.nc"
    words = ("identify", csv, "--pde", HEAT, "--plot", picture, "--save", result, "-q")
    assert call(*words).exit_code == terminal.OK
    before = picture.read_bytes(), result.read_bytes()
    refused = call(*words)
    assert refused.exit_code == terminal.DATA
    assert "exists and is not overwritten" in refused.stderr
    assert (picture.read_bytes(), result.read_bytes()) == before
    assert call(*words, "--force").exit_code == terminal.OK


def test_a_folder_that_stays_on_disk(tmp_path):
    """2.1 million values: thinned they are fitted; a NaN among them is a sentence, and so is a time that is cut off."""
    folder, x, t = tmp_path / "run", np.linspace(0, 6, 700_000), np.array([0.0, 0.05, 0.1])
    folder.mkdir()
    u = np.stack([heat(s, x) for s in t])
    for name, array in {"t": t, "x": x, "u": u}.items():
        np.save(folder / f"{name}.npy", array)
    words = ("identify", folder, "--pde", HEAT, "-q")
    answer = call(*words, "--times", 0.0, 0.1, "--points", 30, "--model", "midpoint")
    assert answer.stdout.startswith("u_t - 0.1999")
    u[1, 17] = np.nan
    np.save(folder / "u.npy", u)
    answer = call(*words)
    assert answer.exit_code == terminal.DATA
    assert "run: u at t = 0.05 is NaN or infinite at 1 point, first at index 17" in answer.stderr
    (folder / "u.npy").write_bytes((folder / "u.npy").read_bytes()[:-8])
    answer = call(*words, "--times", 0.0, 0.1)
    assert answer.exit_code == terminal.DATA
    assert "run: u at t = 0.1 could not be read (u.npy ends after 2099999 of 2100000" in answer.stderr
    (folder / "u.npy").unlink()  # 17 MB, which pytest would keep for three more runs
    (tmp_path / "field.zarr").mkdir()
    assert call("identify", tmp_path / "field.zarr", "--pde", HEAT).exit_code in (
        terminal.DATA,
        terminal.EXTRA,
    )


def test_a_recording_is_cut_sampled_and_made_noisy(tmp_path):
    x = np.linspace(0, 6, 80)
    t = np.arange(6) * 0.01
    np.savez(tmp_path / "grid.npz", t=t, x=x, temperature=np.stack([heat(s, x) for s in t]))
    words = (
        "identify",
        tmp_path / "grid.npz",
        "--pde",
        HEAT,
        "--times",
        "0.01",
        "0.02",
        "--points",
        "25",
        "24",
    )
    told = json.loads(call(*words, "--seed", 3, "--add-noise", 0.0001, "--json", "-q").stdout)
    assert told["times"] == [0.01, 0.02]
    assert told["points"] == [25, 24]
    refused = call("identify", tmp_path / "grid.npz", "--pde", HEAT, "--model", "paper", "-q")
    assert refused.exit_code == terminal.DATA
    assert "--times 0 0.01" in refused.stderr


def test_bounds_and_constants_are_words_of_the_equation(csv):
    answer = call(
        "identify", csv, "--pde", "u_t - b*c*u_xx = 0", "--constant", "c=2", "--bounds", "b < 0.05", "-q"
    )
    assert answer.exit_code == terminal.DOUBTFUL
    assert "at_bound" in answer.stdout


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--pde", "u_t - b*u_xx + sn(u)"), terminal.EQUATION, "did you mean sin"),
        (("--pde", "v_t - b*v_xx; w_t = v"), terminal.DATA, "field 'u', which the equation does not have"),
        (("--pde", HEAT, "--kernel", "matern:1.5"), terminal.MODEL, "Use a smoother kernel"),
        (("--pde", HEAT, "--kernel", "wavy"), terminal.MODEL, "needed is one of squared_exponential"),
        (("--pde", HEAT, "--constant", "c"), terminal.EQUATION, "needed is NAME=NUMBER"),
        (("--pde", HEAT, "--field", "u"), terminal.DATA, "needed is NAME=COLUMN"),
        (("--pde", HEAT, "--field", "u=w"), terminal.DATA, "the data hold u"),
        (("--pde", HEAT, "--times", "7", "8"), terminal.DATA, "7"),
        (("--pde", HEAT, "--missing", "ignore"), terminal.USAGE, "refuse"),
        ((), terminal.USAGE, "--pde"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, tuple) else None,
)
def test_each_kind_of_mistake_has_its_sentence_and_code(csv, words, code, sentence):
    answer = call("identify", csv, *words, "-q")
    assert answer.exit_code == code
    assert sentence in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize(
    ("name", "content"), [("none.csv", None), ("empty.csv", b""), ("picture.csv", b"\x89PNG\r\n\x1a\n")]
)
def test_files_that_cannot_be_read(tmp_path, name, content):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    answer = call("identify", tmp_path / name, "--pde", HEAT, "-q")
    assert answer.exit_code == terminal.DATA
    assert name in answer.stderr


def test_explain_echoes_what_was_understood():
    answer = call("explain", "u_t + a*u*u_x - b*u_xx = 0; b > 0")
    assert answer.exit_code == terminal.OK
    for words in ("u: evolving", "b > 0", "Order 2 in space", "Nonlinear"):
        assert words in answer.stdout


def test_exit_codes_are_documented():
    assert "7 an answer was printed" in " ".join(call("identify", "--help").stdout.replace("│", " ").split())


def test_help_is_quick_and_does_not_load_jax():
    began = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "hiddenphysics", "--help"], capture_output=True, text=True
    )
    seconds = time.perf_counter() - began
    assert run.returncode == 0
    assert " jax" not in run.stderr
    assert seconds < 2.0  # half a second on an idle core (docs/benchmarks.md); tests share theirs


def test_spread_leaves_other_words_alone():
    assert spread(["--times", "1", "2", "--seed", "3"]) == ["--times", "1", "--times", "2", "--seed", "3"]
    assert spread(["a.csv", "--points", "7", "--json"]) == ["a.csv", "--points", "7", "--json"]
    assert spread(["--times", "-1", "-0.5"]) == ["--times", "-1", "--times", "-0.5"]


def test_the_version_is_told_without_a_command():
    outcome = call("--version")
    assert outcome.exit_code == 0
    assert outcome.output.strip()[0].isdigit()
