"""Where answers go: what `--force` means, what a disk may do, and how it ends; in a sentence with an exit code."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import hiddenphysics as hp
from hiddenphysics.cli import app, spread, terminal
from tests.result.test_saved import SAVED
from tests.test_identification import HEAT

pytestmark = pytest.mark.xdist_group("result")  # one process: the tests share compiled code
PROGRAM = [sys.executable, "-m", "hiddenphysics"]
SIMULATE = ("simulate", "saved.nc", "--until", 0.2, "--frames", 3, "--points", 20, "-q")


def call(*words):
    return CliRunner().invoke(app, spread([str(w) for w in words]))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a saved result and a table, in which one works; the fit is stood in for."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(SAVED / "flow.nc", "saved.nc")
    Path("heat.csv").write_text(
        "t,x,u\n" + "".join(f"{t},{x},{np.sin(x)}\n" for t in (0, 1) for x in range(5))
    )
    monkeypatch.setattr("hiddenphysics.identification.identify", lambda *given, **named: hp.load("saved.nc"))
    return tmp_path


def kept(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def identify(*words):
    return call("identify", "heat.csv", "--pde", HEAT, "-q", *words)


@pytest.mark.parametrize("option", ["--save", "--plot"])
@pytest.mark.parametrize(
    ("name", "code"),
    [("folder.png", 8), ("heat.csv/below.png", 8), ("x" * 300 + ".png", 8), ("pipe.png", 8), ("dangling.png", 4),
     ("taken.png", 4)],
)  # fmt: skip
def test_what_may_not_be_written_is_refused_before_the_work(here, monkeypatch, option, name, code):
    Path("folder.png").mkdir()
    os.mkfifo("pipe.png")
    Path("dangling.png").symlink_to("nowhere")
    Path("taken.png").write_text("precious")

    def never(*given, **named):
        pytest.fail("the work has begun")

    monkeypatch.setattr("hiddenphysics.identification.identify", never)
    for words in ((option, name), ("--force", option, name)) if code == 8 else ((option, name),):
        answer = identify(*words)
        assert answer.exit_code == code, answer.output
        assert answer.stderr.startswith("error: ")
        assert "Choose" in answer.stderr
    assert Path("taken.png").read_text() == "precious"
    assert Path("dangling.png").is_symlink()


def test_a_picture_needs_the_ending_of_one(here):
    """`--plot pic` wrote pic.png, over what was there, and said "wrote pic"; `--plot k --force` wrote k.png."""
    Path("pic.png").write_text("precious")
    Path("k").mkdir()
    for words in (("--plot", "pic"), ("--plot", "pic", "--force"), ("--plot", "k", "--force")):
        answer = identify(*words)
        assert answer.exit_code == terminal.DATA
        assert "Use an ending such as .png" in answer.stderr
    assert Path("pic.png").read_text() == "precious"
    assert not Path("k.png").exists()


def test_two_outputs_need_two_names(here):
    answer = identify("--plot", "both.png", "--save", "both.png")
    assert answer.exit_code == terminal.DATA
    assert "Two outputs were given one name" in answer.stderr


@pytest.mark.parametrize("words", [("--save", "run.nc"), ("--plot", "run.png")])
def test_a_full_disk_keeps_the_old_file(here, monkeypatch, words):
    """It was a segmentation fault in HDF5, and an empty picture."""
    Path(words[1]).write_text("precious")
    before, real = kept(here), os.write

    def full(handle, content):
        if handle > 2:
            raise OSError(errno.ENOSPC, "")
        return real(handle, content)

    with monkeypatch.context() as patch:
        patch.setattr("os.write", full)
        answers = [call(*SIMULATE, *words, "--force"), identify(*words, "--force")]
    for answer in answers:
        assert answer.exit_code == terminal.UNWRITTEN, answer.output
        assert "was not written: the disk is full" in answer.stderr
    assert kept(here) == before
    assert call(*SIMULATE, *words).exit_code == terminal.DATA  # it exists
    assert call(*SIMULATE, *words, "--force").exit_code == terminal.OK
    assert kept(here).keys() == before.keys()
    assert kept(here) != before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("words", [["explain", HEAT], ["--help"]])
def test_a_full_device_behind_stdout_is_a_sentence(words):
    with Path("/dev/full").open("w") as full:
        run = subprocess.run([*PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == terminal.UNWRITTEN
    assert run.stderr.startswith("error: what is printed could not be written: No space left on device")
    assert "Traceback" not in run.stderr


INTERRUPTED = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from hiddenphysics.cli import main
main()
"""
"""A command line that hears Ctrl-C at the moment when it imports a module."""


@pytest.mark.parametrize("module", ["typer", "hiddenphysics.cli.commands", "sympy"])
def test_ctrl_c_during_the_imports_is_one_word(module):
    words = [sys.executable, "-c", INTERRUPTED.format(module=module), "explain", HEAT]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "interrupted\n")
