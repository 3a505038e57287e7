"""What a shell needs of every command: JSON and nothing else on stdout, documented exit codes, completion."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import hiddenphysics as hp
from hiddenphysics import datasets
from hiddenphysics.cli import app, options, spread, terminal
from hiddenphysics.cli.actions import Choice
from hiddenphysics.errors import DataError
from tests.result.test_saved import SAVED
from tests.test_identification import HEAT

pytestmark = pytest.mark.xdist_group("result")  # one process: the tests share compiled code
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")


def call(*words):
    return CliRunner().invoke(app, spread([str(w) for w in words]))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a saved result and a table; fits, and the making of data, are stood in for."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(SAVED / "flow.nc", "saved.nc")
    rows = (f"{t},{x},{np.sin(x)}\n" for t in range(5) for x in range(5))
    Path("heat.csv").write_text("t,x,u\n" + "".join(rows))
    monkeypatch.setattr("hiddenphysics.identification.identify", lambda *given, **named: hp.load("saved.nc"))
    monkeypatch.setattr(
        "hiddenphysics.datasets.make", lambda name, **named: datasets.entry(name) and Path(name)
    )
    return tmp_path


def leaves(group, before=()):
    """Yield every command with its words."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, (*before, name))
        else:
            yield (*before, name), command


COMMANDS = dict(leaves(typer.main.get_command(app)))

ANSWERS = {
    ("identify",): (("heat.csv", "--pde", HEAT, "--save", "new.nc"), {"parameters", "status", "files"}),
    ("demo",): (("--csv", "points.csv"), {"parameters", "equation", "files"}),
    ("simulate",): (("saved.nc", "--until", "0.2", "--frames", "3", "--points", "9"), {"equation", "shape"}),
    ("explain",): ((HEAT,), {"fields", "parameters", "linear"}),
    ("datasets", "list"): (("--folder", "."), {"datasets"}),
    ("datasets", "path"): (("burgers", "--folder", "."), {"path", "ready"}),
    ("datasets", "make"): (("burgers", "--folder", "."), {"path"}),
}
"""Words that end well, and what then stands in the document; the other commands have tests of their own below."""


@pytest.mark.parametrize("name", ANSWERS, ids=" ".join)
def test_json_is_all_that_stdout_gets(here, name):
    words, keys = ANSWERS[name]
    answer = call(*name, *words, "--json")
    assert answer.exit_code == terminal.OK, answer.output
    told = json.loads(answer.stdout)
    assert keys <= told.keys()
    assert "error" not in told
    assert all(Path(file).exists() for file in told.get("files", []))


MISTAKES = {
    ("compare",): (("none.csv", "--pde", HEAT), terminal.DATA, "none.csv"),
    ("identify",): (("none.csv", "--pde", HEAT), terminal.DATA, "none.csv"),
    ("demo",): (("--plot", "demo.txt"), terminal.DATA, "Use an ending such as .png"),
    ("simulate",): (("heat.csv", "--until", "1"), terminal.DATA, "heat.csv"),
    ("explain",): (("u_t - sn(u) = 0",), terminal.EQUATION, "did you mean sin"),
    ("reproduce",): (("no_such_study",), terminal.DATA, "no_such_study"),
    ("datasets", "list"): (("--oops",), terminal.USAGE, "--oops"),
    ("datasets", "path"): (("burger",), terminal.DATA, "burger"),
    ("datasets", "make"): (("burger",), terminal.DATA, "burger"),
    ("datasets", "extract"): (("a.npz", "--folder", "."), terminal.DATA, "make"),
    ("datasets", "picture"): (("a.png", "--folder", "."), terminal.DATA, "make"),
}


def test_every_command_is_tried():
    assert set(MISTAKES) == set(COMMANDS) - {("studio",)}


@pytest.mark.parametrize("name", MISTAKES, ids=" ".join)
def test_errors_are_json_too(here, name):
    words, code, sentence = MISTAKES[name]
    answer = call(*name, *words, "--json")
    error = json.loads(answer.stdout)["error"]
    assert (answer.exit_code, error["exit_code"], error["kind"]) == (code, code, terminal.ENDINGS[code][0])
    assert sentence in error["message"]
    assert sentence in answer.stderr
    plain = call(*name, *words)
    assert (plain.exit_code, plain.stdout) == (code, "")


@pytest.mark.parametrize(
    "words", [("identify", "--json"), ("--json",), ("nothing", "--json"), ("explain", "--json", "-x")]
)
def test_words_that_are_not_understood_are_json_too(words):
    answer = call(*words)
    assert answer.exit_code == terminal.USAGE
    assert json.loads(answer.stdout)["error"]["kind"] == "usage"
    assert answer.stderr.startswith("error: ")


def test_an_answer_whose_file_cannot_be_written_is_not_lost(here, monkeypatch):
    """Numbers and error stand in one document."""
    monkeypatch.setattr(
        hp.Result, "save", lambda *given, **named: (_ for _ in ()).throw(OSError(28, "No space", "new.nc"))
    )
    answer = call("identify", "heat.csv", "--pde", HEAT, "--save", "new.nc", "--json", "-q")
    told = json.loads(answer.stdout)
    assert answer.exit_code == told["error"]["exit_code"] == terminal.UNWRITTEN
    assert told["parameters"]


def test_a_mistake_of_ours_is_json_and_a_traceback(here, monkeypatch):
    monkeypatch.setattr("hiddenphysics.equation.Equation.parse", lambda *given, **named: 1 / 0)
    answer = call("explain", HEAT, "--json")
    assert answer.exit_code == terminal.UNEXPECTED
    assert json.loads(answer.stdout)["error"]["message"] == "ZeroDivisionError: division by zero"


def test_interrupted_is_json_too(here, monkeypatch):
    def stop(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr("hiddenphysics.equation.Equation.parse", stop)
    answer = call("explain", HEAT, "--json")
    assert answer.exit_code == terminal.INTERRUPTED
    assert json.loads(answer.stdout)["error"]["kind"] == "interrupted"


# ---- more, or less, is said --------------------


def test_verbose_says_what_was_read_and_where_an_error_came_from(here):
    answer = call("identify", "heat.csv", "--pde", HEAT, "--every", 2, "--verbose")
    assert "heat.csv: " in answer.stderr
    assert "5 snapshots" in answer.stderr
    assert "3 snapshots" in answer.stderr
    assert "heat.csv" not in call("identify", "heat.csv", "--pde", HEAT).stderr
    for words, there in ((("-v",), True), ((), False)):
        assert ("Traceback" in call("explain", "u_t = sn(u)", *words).stderr) == there


@pytest.mark.parametrize(("every", "times"), [(1, [0, 1, 2, 3, 4]), (2, [0, 2, 4]), (4, [0, 4])])
def test_every_nth_snapshot(here, every, times):
    chosen = Choice((), None, every, (), 0, 0.0).of(hp.read("heat.csv"))
    assert chosen.times.tolist() == times


def test_every_counts_after_the_times_and_leaves_two(here):
    chosen = Choice((1.0, 2.0, 4.0), None, 2, (), 0, 0.0).of(hp.read("heat.csv"))
    assert chosen.times.tolist() == [1.0, 4.0]
    with pytest.raises(
        DataError, match=r"--every 5 leaves 1 of 5 snapshots; two are needed\. Type --every 4 or less"
    ):
        Choice((), None, 5, (), 0, 0.0).of(hp.read("heat.csv"))
    assert call("identify", "heat.csv", "--pde", HEAT, "--every", 0).exit_code == terminal.USAGE


# ---- exit codes --------------------


def test_the_page_and_the_help_tell_the_table_of_exit_codes():
    rows = dict(re.findall(r"^\| (\d+) \| (.+?) \|$", PAGE, re.MULTILINE))
    assert {int(code): meaning for code, meaning in rows.items()} == {
        code: f"`{word}` | {meaning}" for code, (word, meaning) in terminal.ENDINGS.items()
    }
    for words in ((), ("identify",), ("simulate",), ("explain",), ("demo",), ("reproduce",)):
        shown = call(*words, "--help").stdout
        for code, (_, meaning) in terminal.ENDINGS.items():
            assert f"{code} {meaning}" in " ".join(shown.split()), words


# ---- completion --------------------


def completions(*words):
    """Ask as bash does: the words so far, the last one unfinished."""
    environment = os.environ | {
        "_HIDDENPHYSICS_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("hiddenphysics", *words)),
        "COMP_CWORD": str(len(words)),
    }
    code = "import sys; sys.argv = ['hiddenphysics']; from hiddenphysics.cli import main; main()"
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    return run.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ide",), ["identify"]),
        (("datasets", "ma"), ["make"]),
        (("datasets", "make", "burg"), ["burgers"]),
        (("identify", "--mod"), ["--model"]),
        (("identify", "a.csv", "--missing", "d"), ["drop"]),
    ],
    ids=" ".join,
)
def test_a_shell_completes(words, expected):
    assert completions(*words) == expected


def test_the_completed_names_are_the_names():
    from hiddenphysics.datasets import names
    from hiddenphysics.identification import AUTOMATIC
    from hiddenphysics.models import MODELS
    from hiddenphysics.priors import kernel_from_text
    from hiddenphysics.reproduction import choose

    assert set(options.MODELS) >= {AUTOMATIC, "flow", "midpoint", "paper"}
    assert set(options.MODELS) <= {AUTOMATIC, *MODELS}
    for name in options.KERNELS:
        kernel_from_text(name + "4.5" if name.endswith(":") else name)
    assert choose(options.STUDIES)
    assert tuple(names()) == options.DATASETS
    assert options.models_beginning("m") == ["midpoint"]
    assert options.kernels_beginning("sech+ma") == ["sech+matern:"]
    assert options.studies_beginning("k") == ["kdv", "ks"]


def test_the_script_of_a_shell_is_shown():
    environment = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    run = subprocess.run(
        [sys.executable, "-m", "hiddenphysics", "--show-completion", "bash"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0
    assert "complete -o default -F" in run.stdout


@pytest.mark.skipif(os.name == "nt", reason="a pipe of POSIX")
@pytest.mark.parametrize("words", [("explain", HEAT), ("explain", HEAT, "--json"), ("--help",)], ids=" ".join)
def test_a_reader_that_has_seen_enough_is_no_mistake_of_ours(words):
    """As in `hiddenphysics … | head -1`: no words, and the documented code for what could not be printed."""
    reading, writing = os.pipe()
    os.close(reading)
    code = [sys.executable, "-m", "hiddenphysics", *words]
    run = subprocess.run(code, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (run.returncode, run.stderr) == (terminal.UNWRITTEN, "")
