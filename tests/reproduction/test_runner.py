"""Runs that are killed, workers that die, fits that fail: the table is the same in the end."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hiddenphysics import identification
from hiddenphysics.reproduction import Library, run, runner, tabulate
from hiddenphysics.reproduction.checkpoint import FAILED, FILE, Checkpoint, failure
from hiddenphysics.reproduction.fit_plan import Plan, Unit
from hiddenphysics.reproduction.fitting import perform
from hiddenphysics.workers import Queue
from tests.reproduction.small import TRUTH, small_study, write_recording

pytestmark = pytest.mark.xdist_group("runner")  # one process: the tests share fits

ROOT = Path(__file__).parents[2]

SCRIPT = """
import os, sys, time
from pathlib import Path
from hiddenphysics.reproduction import checkpoint, run, runner
from tests.reproduction.small import small_study

real = runner.perform

def slow(task):
    time.sleep(0.3)
    return real(task)

def deadly(task):
    if "noise 0.01/paper/pair 3" in task.key:
        os._exit(3)
    return checkpoint.failure("not even tried")

runner.perform = {perform}  # workers import this file, so it holds there too

if __name__ == "__main__":
    run([small_study()], Path({folder!r}), workers={workers}, data=Path({data!r}))
"""


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return write_recording(tmp_path_factory.mktemp("recording"))


def start(folder: Path, data: Path, perform: str, workers: int):
    script = folder.parent / f"{folder.name}.py"
    text = SCRIPT.format(folder=str(folder), data=str(data), perform=perform, workers=workers)
    script.write_text(text)
    # The package that is tested is the one that this process has, wherever it was found.
    found = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen([sys.executable, str(script)], env=os.environ | found, cwd=ROOT)


def lines(folder: Path) -> list[str]:
    return (folder / FILE).read_text().splitlines() if (folder / FILE).exists() else []


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def table(folder: Path, recording: Path) -> dict:
    """The table of what is in a folder; nothing is left to fit."""
    rows = Checkpoint(folder).read()
    plan = Plan((small_study(),), Library(recording))
    assert {u.key for u in plan.units} == set(rows)
    return tabulate(runner.Outcome(plan, rows))


@pytest.fixture(scope="module")
def whole(recording, tmp_path_factory):
    """The table of a run that nothing disturbed, in this process."""
    folder = tmp_path_factory.mktemp("whole")
    told = []
    outcome = run([small_study()], folder, workers=0, data=recording, progress=told.append)
    assert [p.done for p in told] == list(range(len(outcome.plan.units) + 1))
    assert told[0].left is None
    assert told[-1].left == 0
    return table(folder, recording)


def test_what_has_not_begun_is_expected_to_take_as_long_as_its_like(recording, tmp_path):
    """Two studies, each with two models; a first fit has waited for the compiler where others follow it."""
    studies = [small_study(name=name, models=("paper", "midpoint")) for name in ("one", "two")]
    plan = Plan(tuple(studies), Library(recording))
    fits = len(plan.units) // 4
    kept = Checkpoint(tmp_path)

    def finish(study: str, model: str, *seconds: float) -> float | None:
        units = [u for u in plan.units if (u.study, u.model) == (study, model)]
        for unit, time_ in zip(units, seconds, strict=False):
            row = failure("not even tried", time_) | {"status": "converged"}
            kept.append({"key": unit.key, "digest": plan.digest(unit)} | row)
        told: list[runner.Progress] = []
        run(studies, tmp_path, workers=2, data=recording, fit=False, progress=told.append)
        return told[0].left

    assert finish("one", "paper") is None
    assert finish("one", "paper", 9.0, 1.0) == pytest.approx((4 * fits - 2) * 1.0 / 2)
    # What the other study has not begun will take as long as here, with each of the models.
    quick, slow = 2 * fits - 2, 2 * fits - 3
    assert finish("one", "midpoint", 9.0, 5.0, 5.0) == pytest.approx((quick * 1.0 + slow * 5.0) / 2)
    here, there = fits - 3, fits - 1
    assert finish("two", "midpoint", 2.0) == pytest.approx((quick * 1.0 + here * 5.0 + there * 2.0) / 2)


def test_fits_find_the_truth(whole):
    clean, noisy = (cell["models"]["paper"] for cell in whole["studies"][0]["tables"][0]["cells"])
    assert clean["statuses"] == noisy["statuses"] == {"converged": 6}
    # Backward Euler at this gap: a few per cent.
    assert clean["parameters"]["b"]["median"] == pytest.approx(TRUTH, rel=0.1)
    assert clean["parameters"]["b"]["closer"]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_a_killed_run_goes_on_to_the_same_table_and_leaves_no_process(whole, recording, tmp_path):
    folder = tmp_path / "killed"
    with start(folder, recording, "slow", 1) as process:
        deadline = time.monotonic() + 60
        while len(lines(folder)) < 3:
            assert time.monotonic() < deadline, "no fit within a minute"
            time.sleep(0.02)
        workers = children(process.pid)
        process.send_signal(signal.SIGKILL)
        process.wait()
    kept = len(lines(folder))
    assert 3 <= kept < 13
    with (folder / FILE).open("a") as file:
        file.write('{"key": "heat/heat.npz/+1/noi')  # as if the kill had come while a line was written
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.05)
    outcome = run([small_study()], folder, workers=0, data=recording)
    assert len(outcome.rows) == 13
    assert len(lines(folder)) == 13  # the kept ones without the broken one, and no fit twice
    assert table(folder, recording) == whole


def test_a_worker_that_dies_is_a_failed_fit_and_the_others_go_on(recording, tmp_path, monkeypatch):
    folder = tmp_path / "deadly"
    with start(folder, recording, "deadly", 2) as process:
        assert process.wait(timeout=120) == 0
    rows = Checkpoint(folder).read()
    (died,) = (row for row in rows.values() if row["explanation"] != "not even tried")
    assert "noise 0.01/paper/pair 3" in died["key"]
    assert "the worker process ended with exit code 3" in died["explanation"]
    assert len(rows) == len(lines(folder)) == 13
    run([small_study()], folder, workers=0, data=recording)
    assert len(lines(folder)) == 13  # a failure is an answer, and is kept
    monkeypatch.setattr("hiddenphysics.reproduction.runner.perform", lambda task: failure("again"))
    outcome = run([small_study()], folder, workers=0, data=recording, retry=True)
    assert {row["explanation"] for row in outcome.rows.values()} == {"again"}


def test_rows_of_another_study_are_not_used(recording, tmp_path, monkeypatch):
    monkeypatch.setattr("hiddenphysics.reproduction.runner.perform", lambda task: failure(task.equation))
    run([small_study()], tmp_path, workers=0, data=recording)
    other = small_study(equation="u_t - 2*b*u_xx = 0")
    outcome = run([other], tmp_path, workers=0, data=recording)
    assert {row["explanation"] for row in outcome.rows.values()} == {other.equation}
    assert len(lines(tmp_path)) == 26


def test_errors_become_rows(recording):
    plan = Plan((small_study(models=("nonsense",)),), Library(recording))
    row = perform(plan.task(plan.units[0]))
    assert (row["status"], row["parameters"]) == (FAILED, {})
    assert "The model 'nonsense' was asked for" in row["explanation"]
    json.dumps(row)
    broken = plan.task(plan.units[0]).columns[0], None
    task = plan.task(plan.units[0])
    object.__setattr__(task, "columns", broken)
    assert perform(task)["explanation"].startswith("TypeError: ")


def test_half_a_fit_is_no_row(recording, monkeypatch):
    def interrupted(*_, progress, **__):
        assert progress.limit == float("inf")  # a study waits for its fits
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(identification, "identify", interrupted)
    plan = Plan((small_study(),), Library(recording))
    with pytest.raises(KeyboardInterrupt):
        perform(plan.task(plan.units[0]))


def test_a_rehearsal_of_a_heavy_study_only_builds(recording):
    plan = Plan((small_study(fitted=False),), Library(recording))
    row = perform(plan.task(plan.units[0]))
    assert row["status"] == "built"
    assert "the likelihood of 31 values was built" in row["explanation"]


def test_a_process_stays_with_its_shape():
    units = [Unit("s", "d", 1, 0.0, model, k, 0) for model in "abc" for k in range(3)]
    queue = Queue(units)
    first = queue.next(None, [])
    second = queue.next(None, [first.shape])
    assert (first.model, second.model) == ("a", "b")
    assert queue.next(first.shape, [second.shape]).model == "a"
    assert [queue.next(second.shape, [first.shape]).model for _ in range(3)] == ["b", "b", "c"]
    assert queue.left == 3
    assert [queue.next(("s", "x"), [("s", "a"), ("s", "c")]).model for _ in range(3)] == ["c", "a", "c"]
    assert queue.left == 0
