import json
import sys

import numpy as np
import pytest
from scipy.io import savemat
from typer.testing import CliRunner

from hiddenphysics.cli.commands import app
from hiddenphysics.cli.reproduce import sentence
from hiddenphysics.demo import burgers_recording
from hiddenphysics.reproduction import Checkpoint, Progress
from hiddenphysics.reproduction.checkpoint import failure

pytestmark = pytest.mark.xdist_group("reproduce")  # one process: the tests share fits


@pytest.fixture
def typed():
    return lambda *words: CliRunner().invoke(app, ["reproduce", *map(str, words)])


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """A folder of files as the paper's authors name them: Burgers' field exact, smooth waves in the others."""
    folder = tmp_path_factory.mktemp("originals")
    t, x, u = burgers_recording().field_grid("u")
    savemat(folder / "burgers.mat", {"t": t, "x": x, "usol": u.T})
    t, x = np.linspace(0, 20, 201), np.linspace(-5, 5, 128, endpoint=False)
    wave = np.sin(2 * np.pi * (x[:, None] - t) / 10) + 0.3 * np.cos(4 * np.pi * x[:, None] / 10)
    for name, field in (("kdv", wave), ("kuramoto_sivishinky", wave), ("nls", wave * np.exp(1j * t))):
        savemat(folder / f"{name}.mat", {"t": t, "x": x, "usol": field})
    return folder


@pytest.fixture(scope="module")
def burgers(originals):
    return originals / "burgers.mat"


def test_a_rehearsal_of_everything_makes_the_report_and_resumes(typed, originals, tmp_path):
    own = ("--datasets-folder", tmp_path / "own")
    words = ("--all", "--smoke", "--workers", 0, "--data", originals, *own, "--folder", tmp_path)
    answer = typed(*words)
    assert answer.exit_code == 0, answer.stderr
    assert answer.stdout.strip() == str(tmp_path / "report.html")
    assert "fits" in answer.stderr
    found = json.loads((tmp_path / "tables.json").read_text())
    labels = [
        "burgers.mat",
        "kdv.mat",
        "kuramoto_sivishinky.mat",
        "nls.mat",
        "cylinder_extract",
        "brownian",
        "levy",
    ]
    assert [s["data"] for s in found["studies"]] == labels
    for study in found["studies"]:
        ended = "converged" if study["name"] == "burgers" else "built"
        cells = [c for t in study["tables"] for c in t["cells"] if not c["missing"]]
        assert all(c["models"]["paper"]["statuses"] == {ended: 1} for c in cells)
    kept = (tmp_path / "fits.jsonl").read_text()
    again = typed("burgers", *words[1:], "--quiet")
    assert (again.exit_code, again.stderr) == (0, "")
    assert (tmp_path / "fits.jsonl").read_text() == kept
    assert json.loads((tmp_path / "tables.json").read_text())["studies"] == found["studies"][:1]
    # More is asked for than was done, and only a report of that: nothing is fitted.
    assert typed("burgers", *words[1:], "--pairs", 3, "--report", "--quiet").exit_code == 0
    assert (tmp_path / "fits.jsonl").read_text() == kept
    cell = json.loads((tmp_path / "tables.json").read_text())["studies"][0]["tables"][0]["cells"][0]
    assert cell["models"]["paper"]["asked"] == 3


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 4, "No study was named"),
        (("burger",), 4, "did you mean burgers?"),
        (("burgers", "--model", "flw"), 5, "these studies have authors, paper, midpoint, flow"),
        (("burgers", "--data", "nowhere"), 4, "there is no such file or folder"),
        (("burgers", "--pairs", "0"), 2, "greater than or equal to 1"),
    ],
)
def test_what_was_typed_wrongly_is_a_sentence(typed, tmp_path, words, code, said):
    answer = typed(*words, "--folder", tmp_path)
    assert answer.exit_code == code
    assert said in " ".join(answer.stderr.split())


def test_one_file_serves_one_study(typed, burgers, tmp_path):
    answer = typed("--all", "--data", burgers, "--folder", tmp_path)
    assert answer.exit_code == 4
    assert "is one file, and 7 studies were chosen" in answer.stderr


def test_a_cluster_needs_its_package(typed, burgers, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    words = ("burgers", "--smoke", "--data", burgers, "--folder", tmp_path)
    answer = typed(*words, "--scheduler", "tcp://127.0.0.1:1")
    assert answer.exit_code == 6
    assert 'pip install "hiddenphysics[cluster]"' in answer.stderr


def test_ctrl_c_says_how_to_go_on(typed, burgers, tmp_path, monkeypatch):
    def interrupt(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr("hiddenphysics.reproduction.run", interrupt)
    answer = typed("burgers", "--data", burgers, "--folder", tmp_path)
    assert answer.exit_code == 130
    assert "What is done is kept; go on with: hiddenphysics" in answer.stderr


def test_progress_in_words():
    assert sentence(Progress(3, 40, 150.0, "kdv, flow")) == "3 of 40 fits, about 2.5 min left: kdv, flow"
    assert sentence(Progress(0, 40, None, "kdv, flow")) == "0 of 40 fits: kdv, flow"


def test_fits_that_failed_are_an_exit_code(typed, burgers, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "hiddenphysics.reproduction.runner.perform", lambda task: failure("the worker process ended")
    )
    words = ("burgers", "--smoke", "--workers", 0, "--data", burgers, "--folder", tmp_path)
    for _ in range(2):
        answer = typed(*words, "-q")
        assert answer.exit_code == 9
        assert "fits failed; the report says why. Try those again with --retry." in answer.stderr
    assert (tmp_path / "report.html").exists()


def test_a_second_process_in_one_folder_is_told(typed, burgers, tmp_path):
    with Checkpoint(tmp_path).held():
        answer = typed("burgers", "--smoke", "--workers", 0, "--data", burgers, "--folder", tmp_path, "-q")
    assert answer.exit_code == 8
    assert "Another process is at work in" in answer.stderr


def test_a_report_of_what_is_done_may_be_written_meanwhile(typed, burgers, tmp_path):
    with Checkpoint(tmp_path).held():
        answer = typed("burgers", "--smoke", "--data", burgers, "--folder", tmp_path, "--report", "-q")
    assert answer.exit_code == 0, answer.output


def test_rows_without_a_value_are_made_again(typed, burgers, tmp_path, monkeypatch):
    """They were KeyErrors and TypeErrors in the report."""
    fitted = {"estimate": 1.0, "std": None, "interval95": [None, None]}
    row = {"status": "converged", "explanation": "", "parameters": {"a": fitted, "b": fitted}, "seconds": 1.0}
    row["equation"] = "u_t = 0"
    monkeypatch.setattr("hiddenphysics.reproduction.runner.perform", lambda task: dict(row))
    words = ("burgers", "--smoke", "--workers", 0, "--data", burgers, "--folder", tmp_path, "-q")
    assert typed(*words).exit_code == 0
    file = tmp_path / "fits.jsonl"
    rows = [
        {k: v for k, v in json.loads(line).items() if k != "sum"} for line in file.read_text().splitlines()
    ]
    for k, name in enumerate(("status", "parameters", "digest", "key")):
        rows[2 * k % len(rows)][name] = 7
        rows[(2 * k + 1) % len(rows)].pop(name)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + "\xff\xfe\n")
    assert typed(*words).exit_code == 0
    assert len(Checkpoint(tmp_path).read()) == len(rows)
