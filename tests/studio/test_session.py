"""What the studio holds, with the process of a fit killed, stopped and finished; no browser, and nothing is fitted."""

import json
import multiprocessing
import os
import signal
import threading
import time
from types import SimpleNamespace

import pytest

from hiddenphysics import result
from hiddenphysics.errors import DataError, EquationError
from hiddenphysics.learning import Stopped, Watch
from hiddenphysics.result import Estimate
from hiddenphysics.studio import fit_child
from hiddenphysics.studio import session as session_module
from hiddenphysics.studio.comparison_part import compared
from hiddenphysics.studio.fit_part import _so_far
from hiddenphysics.studio.fit_request import FitRequest
from hiddenphysics.studio.fit_run import Run
from hiddenphysics.studio.report_page import report
from hiddenphysics.studio.session import Session

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
    assert "Type --missing drop (missing='drop')" in session.data_sentence
    session.read(*session.asked, "drop")
    assert session.data_sentence == ""
    assert [len(s) for s in session.data.snapshots] == [3, 2]


def test_a_dropped_file_keeps_its_name(session):
    """A browser sends a quotation mark as %22; the lines to take home have to find the file."""
    session.take("run %227%22 100%.csv", TABLE)
    assert session.data.name == 'run "7" 100%.csv'
    assert """hp.read("run \\"7\\" 100%.csv")""" in session.request().python_lines()


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


def test_the_demo_is_read_whatever_columns_another_file_had(session):
    session.take("a.csv", TABLE.replace(b"t,x,u", b"when,depth (m),heat"))
    session.match("t = when, x = depth (m), u = heat")
    session.take_demo()
    assert (session.data_sentence, session.data.name, session.words.columns) == ("", "burgers.csv", "")


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
    hear = session.current.process.hear
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


def test_a_stage_that_is_said_again_takes_its_own_place(session):
    session.take("a.csv", TABLE)
    session.type(equation="u_t - b*u_xx = 0")
    session.begin()
    for stage in ("smoothing u (0 s)", "smoothing u (8 s)", "round 1 (9 s)", "drawing", "drawing"):
        session.current.process.hear({"stage": stage})
    assert session.current.stages == ["smoothing u (8 s)", "round 1 (9 s)", "drawing", "drawing"]


def test_numbers_that_nobody_is_sure_of_have_no_interval():
    assert fit_child._row(Estimate(0.9735, 0.033)) == ["0.974 ± 0.033", "[0.909, 1.038]"]
    assert fit_child._row(Estimate(0.934765, float("inf"))) == ["0.935", "not known"]


def test_a_killed_fit_ends_in_a_sentence_and_the_next_one_has_its_process(tmp_path):
    with Session(tmp_path) as session:
        session.take("a.csv", TABLE)
        session.type(equation="u_t - b*u_xx = 0")
        session.begin()
        os.kill(session.current.process.pid, signal.SIGKILL)
        wait_for(lambda: session.current.state == "failed")
        assert "ended with signal 9 before it had an answer" in session.current.sentence
        assert "Your file, your equation and earlier fits are still here" in session.current.sentence
        wait_for(lambda: session._spare is not None)


# ---- before it is asked for --------------------


def settle(session, file="a.csv"):
    """Drop a file, type an equation, and let the time pass after which both have settled."""
    session.take(file, TABLE)
    session.type(equation="u_t - b*u_xx = 0")
    session.work_ahead(settled=0.0)


def test_a_fit_begins_before_it_is_asked_for_and_the_button_shows_it(session):
    settle(session)
    early = session.early
    session.work_ahead(settled=0.0)
    assert session.early is early  # once
    marks = session.marks["run"]
    early.process.hear({"stage": "round 1 (0 s)"})
    early.process.hear({"answer": answer()})
    assert (session.marks["run"], session.answered) == (marks, [])  # nobody has asked
    session.begin()
    assert session.runs == [early]
    assert (early.number, early.state, early.stages) == (1, "drawing", ["round 1 (0 s)"])
    early.process.hear({"finished": True})
    early.process.hear({"lost": "exit code 0"})
    assert early.state == "finished"
    session.work_ahead(settled=0.0)
    session.type(limit="601")
    session.type(limit="")
    session.work_ahead(settled=0.0)
    assert session.early is None  # what has been answered is not asked ahead again


def test_what_changes_ends_the_fit_that_nobody_asked_for(session):
    settle(session)
    first = session.early
    session.type(equation="u_t - c*u_xx = 0")
    session.work_ahead()
    assert session.early is first  # it has not settled yet
    session.work_ahead(settled=0.0)
    wait_for(lambda: hasattr(first.process, "ended"))
    assert session.early.request.pde == "u_t - c*u_xx = 0"
    session.type(equation="u_t - k*u_xx = 0")
    session.begin()
    assert session.early is None
    assert session.current.request.pde == "u_t - k*u_xx = 0"
    session.type(equation="u_t - b*u_xx = 0")
    session.work_ahead(settled=0.0)
    assert session.early is None  # a fit that was asked for has the cores to itself


def test_what_fails_out_of_sight_is_begun_again_when_it_is_asked_for(session):
    settle(session)
    first = session.early
    first.process.hear({"lost": "signal 9"})
    session.work_ahead(settled=0.0)
    assert session.early is None
    session.begin()
    assert session.current is not first
    assert session.current.state == "fitting"


def test_large_files_and_long_fits_are_left_to_the_button(session, monkeypatch):
    monkeypatch.setattr(session_module, "MOST_AHEAD", 5)
    settle(session)
    assert session.early is None
    monkeypatch.setattr(session_module, "MOST_AHEAD", 6)
    settle(session, "b.csv")
    assert session.early is not None
    monkeypatch.setattr(session_module, "LONGEST_AHEAD", 0.0)
    session.work_ahead(settled=0.0)
    session.type(limit="601")
    session.type(limit="")
    session.work_ahead(settled=0.0)
    assert session.early is None


def test_another_file_or_another_word_has_its_process_at_once(session):
    """What works ahead has taken the spare one; what is asked for instead does not wait for imports."""
    session.work_ahead_on_demo()
    demo = session.early
    session.take_demo()
    session.work_ahead(settled=0.0)
    assert (session.early, session._spare) == (demo, None)  # the same fit still: it has the cores to itself
    session.take("a.csv", TABLE)
    wait_for(lambda: hasattr(demo.process, "ended"))
    spare = session._spare
    session.work_ahead(settled=0.0)
    assert session.early.process is spare
    assert session._spare is None
    session.type(equation="u_t - b*u_xx = 0")
    spare = session._spare
    assert spare is not None
    session.begin()
    assert session.current.process is spare
    session.work_ahead(settled=0.0)
    assert session._spare is None  # not beside a fit that was asked for


def test_where_no_page_is_open_nothing_waits_and_nothing_works_ahead(session):
    settle(session)
    early = session.early
    session.work_ahead(settled=0.0)
    session.rest()
    wait_for(lambda: hasattr(early.process, "ended"))
    session.work_ahead(settled=0.0)
    assert (session.early, session._spare) == (None, None)
    session.see()
    session.work_ahead()
    again = session.early
    assert again.request == early.request
    again.process.hear({"answer": answer()})
    again.process.hear({"finished": True})
    session.rest()
    session.see()
    assert session.early is again  # it had ended, and is there still
    session.type(equation="u_t - k*u_xx = 0")
    session.begin()
    asked = session.current
    session.rest()
    assert not hasattr(asked.process, "ended")  # what was asked for goes on
    assert asked.state == "fitting"


def test_what_a_search_has_so_far_is_shown_until_there_is_an_answer(session):
    settle(session)
    session.begin()
    run = session.current
    assert _so_far(run) == ""
    run.process.hear({"so_far": {"b": "0.0917"}})
    assert "First guess, not the answer yet: b\xa0=\xa00.0917." in _so_far(run)
    run.process.hear({"so_far": {"b": "0.1"}})
    assert "So far, not the answer yet: b\xa0=\xa00.1. Intervals and verdict are still to come." in _so_far(
        run
    )
    run.process.hear({"answer": answer()})
    assert _so_far(run) == ""


def test_numbers_on_the_way_have_three_digits_and_no_infinities():
    told = []
    teller = fit_child._Teller(told.append)
    teller.shown({"a": 0.951401, "b": 12345.0})
    teller.shown({"a": float("nan"), "b": 1.0})
    assert told == [{"so_far": {"a": "0.951", "b": "1.23e+04"}}]


def test_whoever_waits_does_not_wait_for_what_other_fits_need(monkeypatch):
    """A request that has come already is answered first; a process that waits for one is ready for any."""
    loaded = []
    monkeypatch.setattr(fit_child, "import_module", loaded.append)
    monkeypatch.setattr(result, "load_figure_class", lambda: loaded.append("figures"))
    fit_child.prepare(lambda: True)
    assert loaded == []
    fit_child.prepare(lambda: False)
    assert loaded == ["pandas", "figures"]


def test_the_demo_is_begun_before_its_file_is_taken(session):
    session.work_ahead_on_demo()
    early = session.early
    session.take_demo()
    session.begin()
    assert session.current is early
    assert sum(map(len, session.data.snapshots)) == 140


def test_nothing_is_begun_unasked_where_that_is_not_wanted(tmp_path, monkeypatch):
    monkeypatch.setattr(session_module, "FitProcess", Waiting)
    with Session(tmp_path, ahead=False) as session:
        session.work_ahead_on_demo()
        settle(session)
        assert session.early is None


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
    monkeypatch.setattr(fit_child, "_draw_fields", lambda result, folder: None)
    monkeypatch.setattr(fit_child, "_draw_residuals", lambda result, folder: 1 / 0)
    told = converse(monkeypatch, tmp_path, fit, stop_after=1)
    assert told[0] == {"stage": "round 1 (0 s)"}
    assert {"answer": {"explanation": "Interrupted."}} in told
    made = [m["made"] for m in told if "made" in m]
    assert made == ["result", "fields"]
    assert told.index({"answer": {"explanation": "Interrupted."}}) < told.index({"made": "result"})
    assert any("Drawing the residuals failed (ZeroDivisionError" in m.get("not_made", "") for m in told)
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


def test_two_fits_are_compared_by_their_evidence_or_by_what_they_leave(tmp_path):
    def run(number, noise=0.1, points=None, **told):
        request = FitRequest("/a.csv", "a.csv", "u_t - b*u_xx = 0", points=points)
        return Run(number, request, tmp_path, 0.0, answer=answer(noise) | told)

    better = run(1, evidence=31.0)
    assert compared(better, run(2)) == (
        "The evidence is for fit 1: it makes these data 10^13 times as likely."
    )
    assert "hardly decides for fit 2: it makes these data 2.7 times" in compared(run(1), run(2, evidence=2.0))
    other = {"model": "midpoint"}
    assert "fit 1 explains 3 times more closely" in compared(run(1, 0.1), run(2, 0.3, **other))
    assert "do not tell the two equations apart" in compared(run(1, 0.100), run(2, 0.105, evidence=None))
    assert "fit 1 explains" in compared(run(1, 0.1), run(2, 0.3, status="not_converged"))
    assert "different data" in compared(run(1, 0.1), run(2, 0.1, points=10))


def test_a_process_that_ends_after_its_fit_changes_nothing_to_be_seen(session, tmp_path):
    """A page that is drawn anew under a hand swallows its click: a download never came."""
    run = Run(1, FitRequest("burgers.csv", "burgers.csv", "u_t - b*u_xx = 0"), tmp_path, 0.0)
    session._hear(run, {"answer": answer()})
    session._hear(run, {"finished": True})
    before = session.marks["run"]
    session._hear(run, {"lost": "exit code 0"})
    assert session.marks["run"] == before
    assert run.state == "finished"
