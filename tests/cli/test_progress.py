"""What is said on stderr: a bar with the time left on a terminal, lines on a pipe; and what the bar foresees."""

import io
import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest
from rich.console import Console

from hiddenphysics.cli import progress
from hiddenphysics.cli.progress import Forecast, in_words, stages

DEMO = [
    (1.0, "solving Burgers' equation exactly"),
    (1.5, "loading JAX"),
    (2.5, "at most 600 s; --time-limit (time_limit=) changes that (0 s)"),
    (2.5, "reading equation and data (0 s)"),
    (2.6, "smoothing each snapshot (0 s)"),
    (8.0, "round 1 (6 s)"),
    (16.0, "round 2 (14 s)"),
    (17.0, "correcting for the volume of states (15 s)"),
]
"""The stages of `hiddenphysics demo` with the seconds at which they came, on a busy core; it took 19 s."""


def test_the_forecast_is_of_the_right_size_and_the_share_never_falls():
    now = 0.0
    forecast = Forecast(lambda: now)
    assert forecast.left is None
    shares = []
    for now, stage in [*DEMO, (17.5, "round 1 (16 s)")]:
        forecast.hear(stage)
        shares.append(forecast.share)
        if stage.startswith("round"):
            assert 0.3 * (19 - now) < forecast.left < 3 * (19 - now)
        elif now < 8:
            assert forecast.left is None  # too early to tell
    assert shares == sorted(shares)
    assert 0 < shares[-1] < 1
    now = 1000.0
    assert forecast.left is None  # it takes longer than foreseen: nothing is claimed


def test_a_stage_that_counts_moves_the_bar():
    forecast = Forecast(lambda: 0.0)
    seen = []
    for at in (1, 5, 9):
        forecast.hear(f"design 1, point {at} of 9 (3 s)")
        seen.append(forecast.share)
    assert seen == sorted(set(seen))
    forecast.hear("words that nobody has seen before")
    assert forecast.share == seen[-1]


@pytest.mark.parametrize(
    ("left", "words"), [(None, ""), (0.2, "about 1 s left"), (150, "about 2.5 min left")]
)
def test_words_for_what_is_left(left, words):
    assert in_words(left) == words


class Clock:
    """Seconds that pass only when told."""

    now = 0.0


@pytest.mark.parametrize("verbose", [False, True])
def test_a_terminal_gets_a_bar_with_the_time_left(monkeypatch, verbose):
    screen, Clock.now = io.StringIO(), 0.0
    monkeypatch.setattr(
        "rich.console.Console", lambda **_: Console(file=screen, force_terminal=True, width=100)
    )
    monkeypatch.setattr(progress, "Forecast", lambda: Forecast(lambda: Clock.now))
    with stages(False, timed=False, foreseen=True, verbose=verbose) as say:
        for Clock.now, stage in DEMO[:6]:
            say(stage)
        time.sleep(0.25)  # the bar is drawn ten times a second
    shown = re.sub(
        r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue()
    )  # without colours and moves of the cursor
    assert "━" in shown
    assert "about 8 s left" in shown  # 40 % were over after 5.5 s of the fit
    assert ("smoothing each snapshot (0 s)\n" in shown) == verbose  # a line that stays


def test_a_pipe_gets_lines_and_quiet_nothing(capsys):
    for quiet in (False, True):
        with stages(quiet, timed=False, foreseen=True) as say:
            say("round 1 (6 s)")
            say("round 2 (7 s)")
        assert capsys.readouterr().err == ("" if quiet else "round 1 (6 s)\nround 2 (7 s)\n")


def test_a_real_terminal_sees_a_bar():
    ours, theirs = pty.openpty()
    code = (
        "from hiddenphysics.cli.progress import stages\n"
        "with stages(False, foreseen=True) as say:\n"
        "    say('smoothing'); import time; time.sleep(0.3)\n"
        "print('answer')"
    )
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        out = process.communicate(timeout=60)[0]
    seen = b""
    while select.select([ours], [], [], 1.0)[0]:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert out == b"answer\n"
    assert "smoothing" in seen.decode()
    assert "━" in seen.decode()
