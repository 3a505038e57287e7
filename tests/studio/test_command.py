"""The command that opens the studio: what it refuses before it listens."""

import socket
import sys

import pytest
from typer.testing import CliRunner

from hiddenphysics.cli import app
from hiddenphysics.studio import session as session_module
from hiddenphysics.writer import write_file


@pytest.fixture(autouse=True)
def _no_process(monkeypatch):
    class Waiting:
        def end(self):
            pass

    monkeypatch.setattr(session_module, "FitProcess", Waiting)


def test_without_its_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "nicegui", None)
    run = CliRunner().invoke(app, ["studio", "--no-browser"])
    assert run.exit_code == 6
    assert 'pip install "hiddenphysics[studio]"' in run.output


def test_a_file_that_cannot_be_read_and_a_port_that_is_taken_are_sentences(tmp_path):
    run = CliRunner().invoke(app, ["studio", "--no-browser", str(tmp_path / "nothing.csv")])
    assert run.exit_code == 4
    assert "There is no file" in run.output
    write_file(tmp_path / "words.csv", b"no table, but words", overwrite=False)
    run = CliRunner().invoke(app, ["studio", "--no-browser", str(tmp_path / "words.csv")])
    assert run.exit_code == 4
    assert "words.csv" in run.output
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        run = CliRunner().invoke(app, ["studio", "--no-browser", "--port", str(taken.getsockname()[1])])
    assert run.exit_code == 4
    assert "cannot be listened on" in run.output
