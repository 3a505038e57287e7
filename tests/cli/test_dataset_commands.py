"""`hiddenphysics datasets`: what it prints, how it fails, and that a killed run ends with the same bytes."""

import hashlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hiddenphysics import datasets
from hiddenphysics.cli import app
from tests.datasets.small import NAME, register

# As typed on a command line, with a small run registered beside the real ones, slowed so that it can be caught. Tests
# that a shell has started in the background inherit from it that Ctrl-C is ignored; what is typed does not.
SCRIPT = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from tests.datasets.small import register
from hiddenphysics.cli import main
from hiddenphysics.simulate.cylinder import Stepper
register()
step = Stepper.step
Stepper.step = lambda *given: time.sleep({pause}) or step(*given)
main()
"""


def start(folder: Path, pause: float = 0.0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(pause=pause), "datasets", "make", NAME, "--folder", str(folder)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def sums(folder: Path) -> dict[str, str]:
    """sha256 of every file; what a killed write left beside its place is no output."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".hiddenphysics-")
    }


def wait_for_checkpoint(folder: Path) -> None:
    deadline = time.monotonic() + 30
    while not any(folder.rglob("*.partial/checkpoint.npz")):
        assert time.monotonic() < deadline, "no checkpoint within half a minute"
        time.sleep(0.005)


@pytest.fixture(scope="module")
def small_run():
    with pytest.MonkeyPatch.context() as patch:
        register(patch)
        yield


@pytest.fixture(scope="module")
def whole(small_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    datasets.make(NAME, folder=folder)
    return sums(folder)


@pytest.fixture
def typed(small_run):
    return lambda *words: CliRunner().invoke(app, ["datasets", *map(str, words)])


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_is_resumed_to_the_same_bytes(whole, tmp_path, how):
    with start(tmp_path, pause=0.05) as process:
        wait_for_checkpoint(tmp_path)
        process.send_signal(how)
        _, said = process.communicate(timeout=30)
    assert sums(tmp_path) != whole
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert f"interrupted. What is done is kept; go on with: hiddenphysics datasets make {NAME}" in said
        assert "Traceback" not in said
    else:
        assert process.returncode == -signal.SIGKILL
    with start(tmp_path) as process:
        place, said = process.communicate(timeout=30)
    assert process.returncode == 0
    assert place.strip() == str(datasets.path(NAME, folder=tmp_path))
    assert f"{NAME}: 100 %" in said
    assert sums(tmp_path) == whole


def test_list_says_what_is_there(typed, whole, tmp_path):
    datasets.make("taylor_green", folder=tmp_path)
    lines = {
        line.split()[0]: line.split()[1] for line in typed("list", "--folder", tmp_path).stdout.splitlines()
    }
    assert set(lines) == set(datasets.names())
    assert (lines["taylor_green"], lines["cylinder_extract"]) == ("ready", "ready")
    assert (lines["burgers"], lines["cylinder"]) == ("-", "-")


def test_make_and_path_print_the_same_place(typed, tmp_path):
    made = typed("make", "taylor_green", "--folder", tmp_path)
    found = typed("path", "taylor_green", "--folder", tmp_path)
    assert made.exit_code == found.exit_code == 0
    assert made.stdout == found.stdout
    assert Path(made.stdout.strip()).is_file()
    assert made.stderr.endswith("taylor_green: 100 %\n")
    assert typed("make", "taylor_green", "--folder", tmp_path, "--quiet").stderr == ""


def test_ctrl_c_on_a_short_one_leaves_nothing(typed, tmp_path, monkeypatch):
    def interrupt(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(datasets, "make", interrupt)
    answer = typed("make", "burgers", "--folder", tmp_path)
    assert (answer.exit_code, answer.stderr) == (130, "interrupted. Nothing was written.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["make", "path"])
def test_an_unknown_name_is_a_sentence(typed, command):
    answer = typed(command, "burger")
    assert answer.exit_code == 4
    assert "There is no data set 'burger'; did you mean burgers?" in answer.stderr


@pytest.mark.parametrize("command", ["extract", "picture"])
def test_what_needs_the_run_says_how_to_make_it(typed, tmp_path, command):
    answer = typed(command, tmp_path / "file.png", "--folder", tmp_path)
    assert answer.exit_code == 4
    assert f"hiddenphysics datasets make cylinder --folder {tmp_path}" in answer.stderr
    assert "'cylinder_extract'" in answer.stderr


def test_extract_and_picture_are_written_once(small_run, typed, tmp_path, monkeypatch):
    monkeypatch.setitem(datasets.DATASETS._things, "cylinder", datasets.entry(NAME))
    datasets.make("cylinder", folder=tmp_path)
    cut, drawn = tmp_path / "cut.npz", tmp_path / "drawn.png"
    words = ("--folder", tmp_path)
    assert typed("extract", cut, *words, "--snapshots", 2, "--points", 20).exit_code == 0
    assert typed("picture", drawn, *words).exit_code == 0
    assert drawn.read_bytes().startswith(b"\x89PNG")
    for command, file in (("extract", cut), ("picture", drawn)):
        again = typed(command, file, *words)
        assert again.exit_code == 4
        assert "exists and is not overwritten" in again.stderr
    assert typed("extract", cut, *words, "--snapshots", 2, "--points", 20, "--force").exit_code == 0
    too_many = typed("extract", tmp_path / "more.npz", *words)
    assert too_many.exit_code == 4
    assert "Asked for 12 snapshots" in too_many.stderr
