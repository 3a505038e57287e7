"""What the studio holds, with the process of a fit killed, stopped and finished; no browser, and nothing is fitted."""

import json
import multiprocessing
import os
import signal
import threading
import time
from types import SimpleNamespace

import pytest

from hiddenphysics.errors import DataError, EquationError
from hiddenphysics.learning import Stopped, Watch
from hiddenphysics.studio import fit_child
from hiddenphysics.studio import session as session_module
from hiddenphysics.studio.comparison_part import compared
from hiddenphysics.studio.fit_request import FitRequest
from hiddenphysics.studio.report_page import report
from hiddenphysics.studio.session import Run, Session

TABLE = b"t,x,u\n0,0,1\n0,1,2\n0,2,3\n1,0,1.5\n1,1,2.5\n1,2,2\n"


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


class Waiting:
    """Stands for a process that is spared here."""

    def begin(self, request, folder, hear):
        self.hear = hear

    def stop(self):
        self.stopped = True

    def end(self):
        self.ended = True


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.setattr(session_module, "FitProcess", Waiting)
    with Session(tmp_path) as opened:
        yield opened


def answer(noise=0.1, status="converged"):
    return {
        "latex": "u_{t} - 0.1\\, u_{xx} = 0",
        "status": status,
        "explanation": "It settled.",
        "reason": "",
        "equation": "u_t - 0.1 u_xx = 0",
        "numbers": {"b<": ["0.1 ± 0.01", "[0.08, 0.12]"]},
        "noise_std": noise,
        "model": "flow",
        "evidence": 1.0,
        "points": [3, 3],
        "times": [0.0, 1.0],
        "seconds": 1.0,
    }


def test_a_dropped_file_is_read_and_a_bad_one_replaces_nothing(session):
    session.take("../../a.csv", TABLE)
    assert session.data.path.is_relative_to(session.folder)
    assert session.data.roles() == [("t", "time, 2 snapshots"), ("x", "coordinate"), ("u", "field")]
    assert session.data.picture.startswith("data:image/png;base64,iVBOR")
    session.take("a.csv", b"\x89PNG\r\n\x1a\n\x00\x00")
    assert session.data.name == "a.csv"
    assert session.data_sentence.startswith("a.csv")
    assert str(session.folder) not in session.data_sentence
    session.take("..", TABLE)
    assert ".." in session.data_sentence
    session.take("letter.docx", b"PK")
    assert "no kind of file known here" in session.data_sentence
    assert len(session.data.snapshots) == 2
    session.take("gaps.csv", TABLE.replace(b"2.5", b"nan"))
    assert "Write missing='drop'" in session.data_sentence
    session.read(*session.asked, "drop")
    assert session.data_sentence == ""
    assert [len(s) for s in session.data.snapshots] == [3, 2]


def test_columns_are_matched_by_hand(session):
    """A file that was refused is understood once its columns have names; the next file begins with its own."""
    table = TABLE.replace(b"t,x,u", b"when,depth (m),heat")
    session.take("ice.csv", table)
    assert session.data is None
    assert "ice.csv" in session.data_sentence
    session.match("t = when, x = depth (m), u = heat")
    assert session.data_sentence == ""
    assert session.data.roles() == [
        ("t", "time, 2 snapshots, the column when"),
        ("x", "coordinate, the column depth (m)"),
        ("u", "field, the column heat"),
    ]
    session.type(equation="u_t - b*u_xx = 0")
    request = session.request()
    assert request.columns == {"t": "when", "x": "depth (m)", "u": "heat"}
    session.match("x = nowhere")
    assert "nowhere" in session.data_sentence
    assert session.data.columns == request.columns  # what was there stays
    session.match("x position")
    assert "was typed for the columns; needed is each NAME = COLUMN once" in session.data_sentence
    session.take("a.csv", TABLE)
    assert (session.words.columns, session.data_sentence, session.data.columns) == ("", "", {})


def test_a_request_needs_a_file_and_an_equation(session):
    with pytest.raises(DataError, match="There is no file yet"):
        session.request()
    session.take("a.csv", TABLE)
    session.type(equation="u_t - b*(u_xx = 0")
    with pytest.raises(EquationError, match="never closed"):
        session.request()
    session.type(equation="u_t - b*u_xx = 0", times="0 1", limit="20")
    request = session.request()
    assert (request.name, request.times, request.time_limit, request.fields) == (
        "a.csv",
        (0.0, 1.0),
        20.0,
        {},
    )
    session.begin()
    session.begin()
    assert "A fit is running" in session.run_sentence
    assert len(session.runs) == 1


def test_marks_grow_where_something_changed_and_nowhere_else(session):
    before = session.marks.copy()
    session.type(equation=session.words.equation)
    assert session.marks == before
    session.type(equation="u_t - b*u_xx = 0")
    assert session.marks["words"] == before["words"] + 1
    assert session.marks["data"] == before["data"]


def test_numbers_stay_where_the_process_dies_while_it_draws(session):
    session.take("a.csv", TABLE)
    session.type(equation="u_t - b*u_xx = 0")
    session.begin()
    hear = session._at_work.hear
    hear({"stage": "round 1 (0 s)"})
    hear({"answer": answer()})
    hear({"lost": "signal 9"})
    run = session.current
    assert (run.state, run.stages) == ("finished", ["round 1 (0 s)"])
    assert run.sentence == "The process ended with signal 9 while it drew; the numbers are whole."
    written = report(run)
    assert "b&lt;" in written
    assert "src=" not in written.replace('src="data:', "")  # nothing is loaded
    session.begin()
    assert len(session.runs) == 2


def test_a_killed_fit_ends_in_a_sentence_and_the_next_one_has_its_process(tmp_path):
    with Session(tmp_path) as session:
        session.take("a.csv", TABLE)
        session.type(equation="u_t - b*u_xx = 0")
        session.begin()
        os.kill(session._at_work.pid, signal.SIGKILL)
        wait_for(lambda: session.current.state == "failed")
        assert "ended with signal 9 before it had an answer" in session.current.sentence
        assert "Your file, your equation and earlier fits are still here" in session.current.sentence
        wait_for(lambda: session._spare is not None)


def converse(monkeypatch, tmp_path, fit, *, stop_after):
    """Run the child's side here, with another fit, and stop it after so many messages; return all that it says."""
    ours, theirs = multiprocessing.Pipe()
    monkeypatch.setattr(fit_child, "_fit", fit)
    monkeypatch.setattr(fit_child, "end_with_parent", lambda: None)
    request = FitRequest(str(tmp_path / "a.csv"), "a.csv", "u_t - b*u_xx = 0")
    ours.send_bytes(json.dumps({"request": request.plain(), "folder": str(tmp_path)}).encode())
    told = []

    def listen():
        while not told or not {"refused", "finished"} & set(told[-1]):
            if len(told) == stop_after:
                ours.send_bytes(fit_child.STOP)
            told.append(json.loads(ours.recv_bytes()))
        ours.send_bytes(b"end")  # of the thread that listens at the other end

    thread = threading.Thread(target=listen)
    thread.start()
    before = signal.getsignal(signal.SIGINT)
    try:
        fit_child.work(theirs)
    finally:
        signal.signal(signal.SIGINT, before)
    thread.join()
    return told


def test_a_stop_keeps_the_best_so_far(monkeypatch, tmp_path):
    def fit(request, say):
        with Watch(say, 120.0) as watch:
            try:
                while True:
                    watch("round 1")
                    time.sleep(0.01)
            except Stopped as stopped:
                assert watch.interrupted
                return SimpleNamespace(reason=stopped.reason, save=lambda path: path.write_bytes(b"best"))

    monkeypatch.setattr(fit_child, "_described", lambda result: {"explanation": result.reason})
    monkeypatch.setattr(fit_child, "_draw_fields", lambda result, path: path.write_bytes(b""))
    monkeypatch.setattr(fit_child, "_draw_residuals", lambda result, path: 1 / 0)
    told = converse(monkeypatch, tmp_path, fit, stop_after=1)
    assert told[0] == {"stage": "round 1 (0 s)"}
    assert {"answer": {"explanation": "Interrupted."}} in told
    assert {"picture": "fields"} in told
    assert any("could not be drawn (ZeroDivisionError" in m.get("no_picture", "") for m in told)
    assert told[-1] == {"finished": True}
    assert (tmp_path / fit_child.RESULT_FILE).read_bytes() == b"best"


def test_a_stop_before_a_first_estimate_and_an_error_are_sentences(monkeypatch, tmp_path):
    def reads(request, say):
        while True:
            time.sleep(0.01)

    def refused(request, say):
        raise DataError(f"{request.path}: no good")

    stopped = converse(monkeypatch, tmp_path, reads, stop_after=0)
    assert stopped == [{"refused": fit_child.STOPPED_TOO_EARLY}]
    assert converse(monkeypatch, tmp_path, refused, stop_after=None) == [{"refused": "a.csv: no good"}]


def test_a_stop_that_comes_too_late_takes_nothing_away(monkeypatch, tmp_path):
    def fit(request, say):
        say("done")
        return SimpleNamespace(save=lambda path: time.sleep(0.3))

    monkeypatch.setattr(fit_child, "_described", lambda result: {})
    monkeypatch.setattr(fit_child, "_draw_fields", lambda result, path: None)
    monkeypatch.setattr(fit_child, "_draw_residuals", lambda result, path: None)
    assert converse(monkeypatch, tmp_path, fit, stop_after=1)[-1] == {"finished": True}


def test_two_fits_are_compared_by_what_they_leave(tmp_path):
    def run(number, noise, points=None):
        request = FitRequest("/a.csv", "a.csv", "u_t - b*u_xx = 0", points=points)
        return Run(number, request, tmp_path, 0.0, answer=answer(noise))

    assert "fit 1 explains 3 times more closely" in compared(run(1, 0.1), run(2, 0.3))
    assert "do not tell the two equations apart" in compared(run(1, 0.100), run(2, 0.105))
    assert "different data" in compared(run(1, 0.1), run(2, 0.1, points=10))
