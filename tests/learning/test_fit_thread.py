"""A fit that is left while it computes: what is returned, when, and what the thread does afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextvars import ContextVar

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.learning import Status, Stopped, Watch, in_time, is_left_computing, keep, silent
from tests.learning.test_watch import FOREVER, eventually, stopping_at
from tests.test_identification import HEAT, heat_snapshots

PROMISED = 1.0
"""Seconds after Ctrl-C, or past the limit, within which a fit returns."""


class Compiler:
    """Work that hears nobody until it is released, as while something is compiled; then it asks the watch."""

    def __init__(self, watch: Watch, *, kept: object = None) -> None:
        self.watch, self.kept = watch, kept
        self.released, self.ended = threading.Event(), ""

    def __call__(self) -> str:
        if self.kept is not None:
            keep(self.watch, lambda: self.kept)
        self.released.wait(30.0)
        try:
            self.watch("the next step")
        except Stopped as stopped:
            self.ended = stopped.reason
            raise
        return "the whole answer"


def finish(kept: object, reason: str) -> str:
    return f"{kept}, {reason}"


def press_after(seconds: float) -> None:
    threading.Timer(seconds, signal.raise_signal, (signal.SIGINT,)).start()


@pytest.mark.parametrize("how", ["interrupt", "limit"])
def test_it_is_left_with_what_was_kept(how: str) -> None:
    reason = "Interrupted." if how == "interrupt" else "The time limit of 0.1 s was reached."
    with Watch(silent, FOREVER if how == "interrupt" else 0.1) as watch:
        work, began = Compiler(watch, kept="a guess"), time.monotonic()
        if how == "interrupt":
            press_after(0.1)
        assert in_time(watch, work, finish) == f"a guess, {reason}"
        assert time.monotonic() - began < 0.1 + PROMISED
        assert watch.stopped
        assert is_left_computing()
    work.released.set()
    assert eventually(lambda: not is_left_computing())
    assert work.ended == reason


def test_nothing_kept_is_said() -> None:
    with Watch(silent, 0.05) as watch:
        work = Compiler(watch)
        with pytest.raises(Stopped, match=r"The time limit of 0\.05 s was reached"):
            in_time(watch, work, finish)
        work.released.set()
    assert eventually(lambda: not is_left_computing())


def test_what_ends_by_itself_is_the_answer() -> None:
    with Watch(silent, FOREVER) as watch:
        work = Compiler(watch, kept="a guess")
        work.released.set()
        assert in_time(watch, work, finish) == "the whole answer"
        assert not watch.stopped


def test_what_hears_the_stop_in_time_answers_itself() -> None:
    with Watch(silent, 0.05) as watch:

        def work() -> str:
            while True:
                time.sleep(0.01)
                try:
                    watch("learning")
                except Stopped:
                    return "its own best"

        assert in_time(watch, work, finish) == "its own best"


def test_what_lets_the_stop_pass_is_finished() -> None:
    with Watch(silent, 1e-9) as watch:
        work = Compiler(watch, kept="a guess")
        work.released.set()
        assert in_time(watch, work, finish) == "a guess, The time limit of 1e-09 s was reached."


def test_errors_come_through_and_a_second_interrupt_ends_the_waiting() -> None:
    with Watch(silent, FOREVER) as watch, pytest.raises(ZeroDivisionError):
        in_time(watch, lambda: 1 / 0, finish)
    with Watch(silent, FOREVER) as watch:
        work = Compiler(watch, kept="a guess")
        press_after(0.1)
        press_after(0.2)
        with pytest.raises(KeyboardInterrupt):
            in_time(watch, work, finish)
        work.released.set()
        assert eventually(lambda: work.ended == "Interrupted.")


def test_the_better_of_the_same_data_is_kept() -> None:
    watch = Watch(silent, FOREVER)
    for so_far, of, worth in (
        ("guess", 9, -np.inf),
        ("good", 9, 2.0),
        ("worse", 9, 1.0),
        ("again", 9, -np.inf),
    ):
        keep(watch, lambda so_far=so_far: so_far, of, worth)
    assert watch.so_far == "good"
    keep(watch, lambda: "of more data", 12, -5.0)
    assert watch.so_far == "of more data"
    watch.begin(beside=True)
    assert watch.so_far is None
    keep(silent, lambda: "nobody listens")


def test_what_holds_for_the_caller_holds_for_the_thread() -> None:
    import jax

    mark: ContextVar[str] = ContextVar("mark", default="none")
    mark.set("mine")
    device = jax.devices("cpu")[0]
    with Watch(silent, FOREVER) as watch, jax.default_device(device), jax.debug_nans(True):
        seen = in_time(
            watch, lambda: (mark.get(), jax.config.jax_default_device, jax.config.jax_debug_nans), finish
        )
    assert seen == ("mine", device, True)


def test_beside_the_main_thread_the_work_stays_where_it_is() -> None:
    seen: list[object] = []

    def ask() -> None:
        with Watch(silent, FOREVER) as watch:
            seen.append(in_time(watch, threading.current_thread, finish))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert seen == [thread]


# ---- what models keep --------------------


def asked(data: list[hp.Snapshot], model: str, stopping: str) -> hp.Result:
    """Identify beside the main thread, where a fit is waited for: it ends at its first question after this stage."""
    answers: list[hp.Result] = []

    def ask() -> None:
        answers.append(hp.identify(HEAT, data, model=model, progress=stopping_at(stopping)))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return answers[0]


def check_first_guess(found: hp.Result, path, t: float) -> None:
    assert found.status is Status.NOT_CONVERGED
    assert found.explanation.startswith(
        "The time limit of 60 s was reached. These are the best numbers so far"
    )
    assert found.parameters["b"].std == np.inf
    assert found.parameters["b"].estimate == pytest.approx(0.2, rel=0.5)
    assert np.isnan(found.evidence)
    x = np.linspace(1.0, 5.0, 5)
    mean, std = found.predict("u", x, t=t)
    loaded = hp.load(found.save(path))
    np.testing.assert_allclose(loaded.predict("u", x, t=t), (mean, std), rtol=1e-6)
    assert np.all(np.isfinite(mean))
    assert np.all(std > 0)
    assert "not_converged" in str(loaded)


def test_before_its_first_round_the_flow_returns_smoothed_snapshots_and_guess(tmp_path) -> None:
    data = heat_snapshots(gap=0.5, noise=1e-3)
    found = asked(data, "flow", "guessing")
    check_first_guess(found, tmp_path / "guess.nc", 0.0)
    # The state is the smoothed first snapshot itself.
    mean, _ = found.predict("u", data[0].points[:, 0], t=0.0)
    assert np.std(mean - data[0]["u"]) < 3e-3 * np.std(data[0]["u"])


def test_before_its_first_look_a_search_returns_where_it_starts(tmp_path) -> None:
    data = heat_snapshots(gap=0.5, noise=1e-3)
    found = asked(data, "midpoint", "compiling the likelihood")
    check_first_guess(found, tmp_path / "start.nc", 0.25)
    assert found.evaluations == 0


# ---- a real compiler --------------------

COMPILING = """
import os, signal, sys, threading, time
import jax, jax.numpy as jnp
from hiddenphysics.learning import Watch, in_time, keep, silent

def slow(x):
    for _ in range(300):  # 5 s, cold: several times what is promised
        x = jnp.sin(x) @ jnp.cos(x)
    return x

def work():
    keep(watch, lambda: "kept")
    traced = jax.jit(slow).lower(jnp.ones((3, 3)))
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    began.append(time.monotonic() + 0.2)
    traced.compile(compiler_options={"xla_backend_optimization_level": 3})
    ended.append(time.monotonic())

began, ended = [], []
with Watch(silent, float("inf")) as watch:
    answer = in_time(watch, work, lambda kept, reason: kept)
print(answer, time.monotonic() - began[0], bool(ended), flush=True)
print("second fit", float(jax.jit(jnp.sum)(jnp.ones(3))), flush=True)
"""


def test_an_interrupt_while_xla_compiles_is_answered_at_once_and_python_ends_well(tmp_path) -> None:
    """Without a thread the same program answers when the compiler has ended."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILING],
        env={**os.environ, "JAX_COMPILATION_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answer, seconds, had_ended = done.stdout.splitlines()[0].split()
    assert (answer, had_ended) == ("kept", "False")
    assert float(seconds) < PROMISED
    assert done.stdout.splitlines()[1] == "second fit 3.0"
