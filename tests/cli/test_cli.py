"""The command line as a user meets it: words in, text, files and exit codes out."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import hiddenphysics as hp
from hiddenphysics import fit_watch, identification
from hiddenphysics.cli import app, spread, terminal
from hiddenphysics.cli.arguments import seconds_of
from hiddenphysics.learning import Watch
from tests.test_identification import HEAT, heat, heat_snapshots

runner = CliRunner()


def call(*words):
    return runner.invoke(app, spread([str(w) for w in words]))


def write_table(snapshots, path):
    pd.concat(pd.DataFrame({"t": s.t, "x": s["x"], "u": s["u"]}) for s in snapshots).to_csv(path, index=False)
    return path


@pytest.fixture
def csv(tmp_path):
    return write_table(heat_snapshots(), tmp_path / "heat.csv")


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
        (("--pde", HEAT, "--field", "u"), terminal.DATA, "needed is NAME=FIELD"),
        (("--pde", HEAT, "--field", "u=w"), terminal.DATA, "the data hold u"),
        (("--pde", HEAT, "--column", "x"), terminal.DATA, "needed is NAME=COLUMN, as in --column x=position"),
        (("--pde", HEAT, "--column", "x=x", "--column", "x=u"), terminal.DATA, "--column x= was typed twice"),
        (
            ("--pde", HEAT, "--column", "x=place"),
            terminal.DATA,
            "x is to be the column 'place', but the names found",
        ),
        (("--pde", HEAT, "--time-unit", "h"), terminal.DATA, "plain numbers without a unit"),
        (("--pde", HEAT, "--times", "7", "8"), terminal.DATA, "7"),
        (("--pde", HEAT, "--missing", "ignore"), terminal.USAGE, "refuse"),
        (
            ("--pde", HEAT, "--time-limit", "0"),
            terminal.MODEL,
            "A time limit of 0.0 was given; needed is a positive",
        ),
        (("--pde", HEAT, "--time-limit", "-2m"), terminal.MODEL, "A time limit of -120.0 was given"),
        (("--pde", HEAT, "--time-limit", "nan"), terminal.MODEL, "A time limit of nan was given"),
        (
            ("--pde", HEAT, "--time-limit", "soon"),
            terminal.MODEL,
            "needed is a number of seconds, or one with its unit",
        ),
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


# ---- time limit and Ctrl-C --------------------


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ("60", 60.0),
        ("90s", 90.0),
        ("10m", 600.0),
        ("2h", 7200.0),
        ("1.5 H", 5400.0),
        ("none", float("inf")),
        ("inf", float("inf")),
        (None, None),
    ],
)
def test_durations(typed, seconds):
    assert seconds_of(typed) == seconds


class ShortOfTime(Watch):
    """A watch whose time is over once the second search of a fit has begun."""

    def __init__(self, say, limit_seconds):
        self.now = 0.0
        super().__init__(say, limit_seconds, clock=lambda: self.now)

    def __call__(self, stage):
        super().__call__(stage)
        if "longer lengths" in stage:
            self.now = 1e6


@pytest.mark.parametrize("command", ["identify", "demo"])
def test_a_fit_out_of_time_still_writes_its_files(csv, tmp_path, monkeypatch, command):
    monkeypatch.setattr(fit_watch, "Watch", ShortOfTime)
    monkeypatch.setattr(identification, "IN_ORDER", ("midpoint", "paper"))  # what `demo` asks, too
    picture, result = tmp_path / "fit.png", tmp_path / "fit.nc"
    words = (csv, "--pde", HEAT) if command == "identify" else ()
    answer = call(command, *words, "--time-limit", "1m", "--json", "--plot", picture, "--save", result)
    assert answer.exit_code == terminal.DOUBTFUL
    told = json.loads(answer.stdout)
    assert (told["status"], told["model"]) == ("not_converged", "midpoint")
    assert told["explanation"].startswith("The time limit of 60 s was reached. ")
    assert all(number["std"] is None for number in told["parameters"].values())
    assert hp.load(result).status == "not_converged"
    assert picture.stat().st_size > 1000
    assert "asking a second model" not in answer.stderr
    assert "at most" not in answer.stderr  # only what nobody typed has to be told


def test_the_usual_limit_is_the_first_line_of_a_fit(csv):
    lines = call("identify", csv, "--pde", HEAT, "--model", "paper").stderr.splitlines()
    assert lines[:2] == ["loading JAX", "at most 600 s; --time-limit (time_limit=) changes that (0 s)"]


def test_an_interrupted_fit_gives_its_answer(tmp_path):
    csv = write_table(heat_snapshots(count=200, noise=1e-3), tmp_path / "heat.csv")
    result = tmp_path / "fit.nc"
    words = ["identify", csv, "--pde", HEAT, "--model", "midpoint", "--json", "--save", result]
    with subprocess.Popen(
        [sys.executable, "-m", "hiddenphysics", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        for line in process.stderr:
            if line.startswith("learning"):
                process.send_signal(signal.SIGINT)
                break
        out, said = process.communicate(timeout=120)
    assert process.returncode == terminal.DOUBTFUL
    told = json.loads(out)
    assert told["status"] == "not_converged"
    assert told["explanation"].startswith("Interrupted. ")
    assert "interrupt: stopping after this step, again to stop now" in said
    assert "Traceback" not in said
    assert result.exists()
