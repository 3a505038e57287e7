"""The run: the same bytes whatever happens on the way, and nothing written that is not finite."""

import json
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hiddenphysics.errors import DataError, ModelError, WriteError
from hiddenphysics.simulate.cylinder import (
    Stepper,
    circle,
    open_recording,
    run,
    stages,
    store,
)
from hiddenphysics.simulate.cylinder.differences import node_velocity
from hiddenphysics.simulate.cylinder.nesting import nested_grids
from tests.datasets.small import PLAN

STAGES = ("shed", "settle", "main", "dt-0.05")


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def finished(folder):
    """Contents without what an interrupted write left beside its place."""
    return {name: data for name, data in contents(folder).items() if "/.hiddenphysics-" not in f"/{name}"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    run(folder, PLAN)
    return folder


class Stop:
    """Interrupts like Ctrl-C at the given call of whatever it stands in for."""

    def __init__(self, at, inner=None):
        self.left, self.inner = at, inner

    def __call__(self, *args, **kwargs):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return self.inner(*args, **kwargs) if self.inner else None


def test_two_runs_write_the_same_bytes(whole, tmp_path):
    run(tmp_path, PLAN)
    assert contents(tmp_path) == contents(whole)


@pytest.mark.parametrize("at", [1, 9, 13, 24, 30, 33])
def test_an_interrupted_run_resumes_to_the_same_bytes(whole, tmp_path, at):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, PLAN, Stop(at))
    assert contents(tmp_path) != contents(whole)
    run(tmp_path, PLAN)
    assert contents(tmp_path) == contents(whole)


@pytest.mark.parametrize(
    ("what", "at"), [("replace", 1), ("replace", 3), ("replace", 9), ("rename", 1), ("rename", 3)]
)
def test_an_interruption_at_a_rename_is_survived(whole, tmp_path, monkeypatch, what, at):
    """The only two ways a file or a stage comes into its place."""
    stop = Stop(at, getattr(Path, what))
    with monkeypatch.context() as patch:
        patch.setattr(Path, what, lambda *paths: stop(*paths))
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, PLAN)
    run(tmp_path, PLAN)
    assert finished(tmp_path) == contents(whole)


def test_a_run_stopped_after_every_few_steps_still_ends_the_same(whole, tmp_path):
    for _ in range(40):
        try:
            run(tmp_path, PLAN, Stop(8))
            break
        except KeyboardInterrupt:
            continue
    else:
        pytest.fail("the run makes no progress between interruptions")
    assert contents(tmp_path) == contents(whole)


KILLED = """
import sys, time
from pathlib import Path
from hiddenphysics.simulate.cylinder import run
from tests.datasets.small import PLAN
def progress(fraction, message):
    print(fraction, flush=True)
    time.sleep(0.01)
run(Path({folder!r}), PLAN, progress)
"""


@pytest.mark.parametrize("lines", [8, 27])
def test_a_killed_process_is_resumed_to_the_same_bytes(whole, tmp_path, lines):
    command = [sys.executable, "-c", KILLED.format(folder=str(tmp_path))]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        for _ in range(lines):
            process.stdout.readline()
        process.kill()
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    run(tmp_path, PLAN)
    assert finished(tmp_path) == contents(whole)


def test_progress_rises_from_zero_to_one_and_names_the_stages(tmp_path):
    told = []
    run(tmp_path, PLAN, lambda fraction, message: told.append((fraction, message)))
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0
    assert told[-1] == (1.0, "done")
    assert {message.split(":")[0] for _, message in told[:-1]} == set(STAGES)


def test_a_finished_run_is_left_alone(whole):
    before = contents(whole)
    told = []
    run(whole, PLAN, lambda fraction, message: told.append(message))
    assert told == ["done"]
    assert contents(whole) == before


def test_a_folder_with_another_plan_is_refused(whole):
    with pytest.raises(ModelError, match=r"another plan: box, watch differ"):
        run(whole, replace(PLAN, watch=2.0, box=((1.0, 2.0), (-0.6, 0.6))))


def test_the_recording_is_the_flow_that_was_computed(whole):
    """Snapshot by snapshot against a run done by hand from the end of the stage before."""
    recording = open_recording(whole / "main")
    stepper = Stepper(PLAN.flow, circle(0.1))
    state, _ = store.read_state(whole / "settle" / "checkpoint.npz")
    forces = []
    for step in range(10):
        state, force = stepper.step(state)
        forces.append(force)
        if step >= 4:
            u, v = node_velocity(state.psi[0], 0.1, stream=1.0)
            np.testing.assert_array_equal(recording.u[step - 4], u[20:36, 1:14].astype(np.float32))
            np.testing.assert_array_equal(recording.v[step - 4], v[19:35, 2:15].astype(np.float32))
            np.testing.assert_array_equal(
                recording.vorticity[step - 4], state.omega[0][20:36, 2:15].astype(np.float32)
            )
            assert recording.time[step - 4] == state.time
    drag = recording.metadata["forces"]["drag"]
    np.testing.assert_array_equal(drag, np.array(forces)[:, 0])


def test_the_recording_covers_the_box_every_time_step(whole):
    recording = open_recording(whole / "main")
    assert (recording.x[0], recording.x[-1], recording.y[0], recording.y[-1]) == (1.0, 2.5, -0.6, 0.6)
    assert recording.u.shape == recording.v.shape == recording.vorticity.shape == (6, 16, 13)
    np.testing.assert_allclose(np.diff(recording.time), 0.1, rtol=1e-9)
    assert recording.metadata["flow"]["reynolds"] == 100.0


def test_a_window_goes_on_from_the_main_recording_with_its_smaller_step(whole):
    main, window = open_recording(whole / "main"), open_recording(whole / "dt-0.05")
    np.testing.assert_allclose(np.diff(window.time), 0.05, rtol=1e-9)
    assert window.time[0] == pytest.approx(main.time[-1] + 0.15)
    assert len(window.time) == 3


def test_recorded_velocity_and_vorticity_belong_together(whole):
    """∂v/∂x − ∂u/∂y of the recorded velocity by wide differences is near the recorded vorticity."""
    recording = open_recording(whole / "main")
    u, v = recording.u[-1].astype(float), recording.v[-1].astype(float)
    wide = (v[2:, 1:-1] - v[:-2, 1:-1] - u[1:-1, 2:] + u[1:-1, :-2]) / 0.2
    vorticity = recording.vorticity[-1][1:-1, 1:-1]
    assert np.corrcoef(wide.ravel(), vorticity.ravel())[0, 1] > 0.98


def test_a_blow_up_is_a_sentence_and_leaves_nothing_that_is_not_finite(tmp_path, monkeypatch):
    monkeypatch.setattr(stages, "KICK_STRENGTH", 200.0)
    with pytest.raises(ModelError, match=r"blew up at t = .* vorticity has reached .* use time_step=0\.0"):
        run(tmp_path, PLAN)
    for path in tmp_path.rglob("*.np[yz]"):
        loaded = np.load(path)
        for array in loaded.values() if path.suffix == ".npz" else [loaded]:
            assert np.isfinite(array).all()
    assert not any((tmp_path / stage).exists() for stage in STAGES)


def test_metadata_is_plain_json_without_nan(whole):
    def refuse(constant):
        raise AssertionError(constant)

    for stage in STAGES:
        metadata = json.loads((whole / stage / "recording.json").read_text(), parse_constant=refuse)
        assert len(metadata["forces"]["lift"]) == len(metadata["forces"]["time"])


def test_resampling_onto_the_same_grids_changes_nothing_and_is_exact_for_bilinear_fields():
    old, new = nested_grids(PLAN.start), nested_grids(PLAN.flow)
    fields = [1 + 2 * grid.x[:, None] * grid.y[None, :] for grid in old]
    for same, field in zip(stages.resampled(fields, old, old), fields, strict=True):
        np.testing.assert_allclose(same, field, atol=1e-12)
    finer = stages.resampled(fields, old, new)[0]
    inside = (new[0].x >= old[0].x[0]) & (new[0].x <= old[0].x[-1])
    exact = 1 + 2 * new[0].x[inside, None] * new[0].y[None, :]
    np.testing.assert_allclose(finer[inside], exact, atol=1e-12)


@pytest.mark.parametrize("name", ["u.npy", "recording.json", "checkpoint.npz"])
def test_a_flipped_byte_of_a_recording_is_noticed(whole, tmp_path, name):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    open_recording(folder / "main")
    data = bytearray((folder / "main" / name).read_bytes())
    data[len(data) // 2] ^= 255
    (folder / "main" / name).write_bytes(data)
    with pytest.raises(DataError, match=r"damaged"):
        store.read_state(folder / "main" / name) if name == "checkpoint.npz" else open_recording(
            folder / "main"
        )


def test_a_state_that_has_lost_a_level_is_none(tmp_path):
    """In an archive the name of an array may be damaged while its numbers are whole."""
    fields = [np.ones((3, 3)), np.zeros((3, 3))]
    arrays = {f"{name}_{k}": field for name in ("omega", "psi") for k, field in enumerate(fields)}
    arrays["xmega_1"] = arrays.pop("omega_1")
    np.savez(tmp_path / "state.npz", time=1.5, forces=np.zeros((4, 2)), **arrays)
    with pytest.raises(DataError, match="holds no state of the flow"):
        store.read_state(tmp_path / "state.npz")


def test_a_second_run_in_one_folder_is_told(tmp_path):
    run_folder = tmp_path / "run"

    def second(fraction, message):
        with pytest.raises(WriteError, match=r"Another process is at work in .*it holds plan\.json"):
            run(run_folder, PLAN)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(run_folder, PLAN, second)
