"""Progress that nobody asked for: a line on a terminal, nothing elsewhere. A kernel shows it in `test_notebook`."""

from __future__ import annotations

import io
import sys
import threading
import time

import pytest

import hiddenphysics as hp
from hiddenphysics.learning import stage_line
from tests.test_identification import HEAT, heat_snapshots


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal_of(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Put a terminal in the place of stderr; in a test itself, since pytest puts its own there before each."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return shown


def test_a_terminal_shows_one_line_and_how_to_turn_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)
    with stage_line() as say:
        say("round [1] (0 s)")
        end = time.monotonic() + 5.0
        while "round" not in terminal.getvalue() and time.monotonic() < end:
            time.sleep(0.02)
    assert "round [1] (0 s)" in terminal.getvalue()  # brackets are no markup
    assert "progress=False shows nothing" in terminal.getvalue()
    assert terminal.getvalue().rstrip("\n\r").endswith("\x1b[2K")  # the line is gone when the fit has ended


def test_elsewhere_nothing_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    with stage_line() as say:
        say("round 1")
    assert capfd.readouterr() == ("", "")


def test_beside_the_main_thread_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = terminal_of(monkeypatch)

    def work() -> None:
        with stage_line() as say:
            say("round 1")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(("progress", "is_shown"), [(None, True), (False, False)])
def test_a_fit_shows_it_by_default_and_can_be_told_not_to(
    monkeypatch: pytest.MonkeyPatch, progress: bool | None, is_shown: bool
) -> None:
    terminal = terminal_of(monkeypatch)
    with pytest.raises(hp.ModelError, match="known are"):
        hp.identify(HEAT, heat_snapshots(), model="nobody's", progress=progress)
    assert ("starting" in terminal.getvalue() or "reading" in terminal.getvalue()) is is_shown
