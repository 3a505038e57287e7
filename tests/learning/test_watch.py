"""The watch: what it says and when, how it ends a fit, and what it leaves behind."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Callable, Mapping

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.learning import Progress, Status, Stopped, Verdict, Watch, silent
from hiddenphysics.models import MODELS, Fit, Question
from tests.test_identification import HEAT, heat_snapshots

FOREVER = float("inf")


class Clock:
    """A clock that shows what it is told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def eventually(condition: Callable[[], bool]) -> bool:
    """Wait until something holds, for at most five seconds."""
    end = time.monotonic() + 5.0
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


def heartbeats() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("heartbeat")]


def stopping_at(
    word: str,
    limit: float = 60.0,
    shown: Callable[[Mapping[str, float]], None] | None = None,
    patience: float = 0.0,
) -> Watch:
    """Return a watch whose time is over as soon as a stage with that word has been said.

    The fit goes on after so many seconds, or when it has been left: what follows may be done quicker than it is left.
    """
    clock = Clock()

    def say(line: str) -> None:
        if word in line:
            clock.now += 2 * limit
            until = time.monotonic() + patience
            while not watch.stopped and time.monotonic() < until:
                time.sleep(0.01)

    watch = Watch(say, limit, clock=clock, shown=shown)
    return watch


# ---- what it says --------------------


def test_stages_are_said_once_with_the_time() -> None:
    clock, said = Clock(), []
    watch = Watch(said.append, 60.0, clock=clock)
    watch("smoothing")
    clock.now += 12.4
    watch("smoothing")
    watch("learning")
    assert said == ["smoothing (0 s)", "learning (12 s)"]
    assert (watch.elapsed, watch.remaining) == pytest.approx((12.4, 47.6))


def test_a_slow_stage_is_said_again_and_the_thread_ends_with_the_context() -> None:
    said: list[str] = []
    with Watch(said.append, FOREVER, period=0.02) as watch:
        watch("compiling")
        assert heartbeats()
        assert eventually(lambda: said.count("compiling (0 s)") >= 4)
    assert not heartbeats()
    count = len(said)
    time.sleep(0.1)
    assert len(said) == count


def test_who_speaks_often_has_no_heartbeat() -> None:
    said: list[str] = []
    with Watch(said.append, FOREVER, period=1.0) as watch:
        for number in range(20):
            watch(f"round {number}")
            time.sleep(0.01)
    assert len(said) == 20


def test_the_thread_ends_when_the_fit_fails() -> None:
    with pytest.raises(ZeroDivisionError), Watch(silent, FOREVER):
        _ = 1 / 0
    assert not heartbeats()


def test_what_the_listener_raises_in_the_thread_is_raised_in_the_fit() -> None:
    def listener(_line: str) -> None:
        if threading.current_thread() in heartbeats():
            raise BrokenPipeError

    with Watch(listener, FOREVER, period=0.01) as watch:
        assert eventually(lambda: not heartbeats())
        with pytest.raises(BrokenPipeError):
            watch("learning")


# ---- how it ends a fit --------------------


def test_past_the_limit_every_call_raises() -> None:
    clock, said = Clock(), []
    watch = Watch(said.append, 60.0, clock=clock)
    watch("learning")
    clock.now += 60.0
    for stage in ("learning", "measuring"):
        with pytest.raises(Stopped) as stopped:
            watch(stage)
        assert stopped.value.reason == "The time limit of 60 s was reached."
    assert watch.stopped
    assert watch.remaining == 0.0
    assert said == ["learning (0 s)"]


def test_the_first_interrupt_asks_and_the_second_raises() -> None:
    before, said = signal.getsignal(signal.SIGINT), []
    with Watch(said.append, FOREVER) as watch:
        signal.raise_signal(signal.SIGINT)
        assert eventually(lambda: said == ["interrupt: stopping after this step, again to stop now (0 s)"])
        with pytest.raises(Stopped, match=r"^Interrupted\.$"):
            watch("learning")
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert watch.interrupted
    assert signal.getsignal(signal.SIGINT) is before


def test_the_handler_comes_back_after_an_error() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyError), Watch(silent, FOREVER):
        raise KeyError
    assert signal.getsignal(signal.SIGINT) is before


def test_an_ignored_interrupt_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Watch(silent, FOREVER) as watch:
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            signal.raise_signal(signal.SIGINT)
            watch("learning")
    finally:
        signal.signal(signal.SIGINT, before)


def test_opened_twice_it_is_one_watch() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Watch(silent, FOREVER) as outer:
        handler = signal.getsignal(signal.SIGINT)
        with outer as inner:
            assert inner is outer
            assert len(heartbeats()) == 1
        assert len(heartbeats()) == 1
        assert signal.getsignal(signal.SIGINT) == handler
    assert not heartbeats()
    assert signal.getsignal(signal.SIGINT) is before


def test_beside_the_main_thread_no_handler_is_touched() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with Watch(silent, FOREVER) as watch:
            watch("learning")
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
    assert not heartbeats()


def test_better_parameters_are_shown_and_none_of_a_fit_that_was_left() -> None:
    shown: list[Mapping[str, float]] = []
    watch = Watch(silent, 60.0, shown=shown.append)
    watch.keep(dict, 10, 2.0, {"b": 1.0})
    watch.keep(dict, 10, 1.0, {"b": 2.0})  # worse: not kept, not shown
    watch.keep(dict, 10, 3.0)
    watch.keep(dict, 10, 4.0, {"b": 3.0})
    watch.leave()
    watch.keep(dict, 10, 5.0, {"b": 4.0})
    assert shown == [{"b": 1.0}, {"b": 3.0}]


# ---- fits that are stopped --------------------


@pytest.mark.parametrize(
    ("model", "word", "patience"), [("flow", "round 1", 20.0), ("paper", "compiling the likelihood", 0.0)]
)
def test_the_first_guess_is_shown_and_is_what_a_fit_that_is_stopped_then_has(
    model: str, word: str, patience: float
) -> None:
    shown: list[Mapping[str, float]] = []
    watch = stopping_at(word, shown=shown.append, patience=patience)
    found = hp.identify(HEAT, heat_snapshots(noise=1e-3), model=model, progress=watch)
    assert found.status is Status.NOT_CONVERGED
    assert shown == [{name: estimate.estimate for name, estimate in found.parameters.items()}]


@pytest.mark.parametrize("model", ["paper", "midpoint"])
@pytest.mark.parametrize("word", ["shorter lengths", "measuring"])
def test_a_stopped_fit_returns_its_best(model: str, word: str) -> None:
    data = heat_snapshots(noise=1e-3)
    found = hp.identify(HEAT, data, model=model, progress=stopping_at(word))
    assert found.status is Status.NOT_CONVERGED
    assert found.explanation.startswith("The time limit of 60 s was reached. ")
    assert found.parameters["b"].std == FOREVER
    assert found.evaluations > 0
    log_density = -found.problem.negative_log_likelihood(found.values)
    assert found.problem.log_units + log_density == pytest.approx(found.evidence, rel=1e-9)


def test_the_later_it_is_stopped_the_better_it_is() -> None:
    """The evidence rises to that of a whole fit, which a stop at the very end already has."""
    data = heat_snapshots(noise=1e-3)
    early, late = (
        hp.identify(HEAT, data, model="paper", progress=stopping_at(word)).evidence
        for word in ("longer lengths", "measuring")
    )
    whole = hp.identify(HEAT, data, model="paper").evidence
    assert early < late
    assert late == pytest.approx(whole, abs=1e-3)


def test_a_fit_stopped_with_a_part_of_its_data_is_saved_whole(tmp_path) -> None:
    data = heat_snapshots(count=310, noise=1e-2)
    found = hp.identify("u_t + a*u*u_x - b*u_xx = 0", data, model="paper", progress=stopping_at("longer"))
    assert found.status is Status.NOT_CONVERGED
    assert np.isnan(found.evidence)
    assert found.problem.size == 620
    loaded = hp.load(found.save(tmp_path / "part.nc"))
    assert loaded.explanation == found.explanation
    assert loaded.parameters["b"].std == FOREVER
    x = np.linspace(1.0, 5.0, 5)
    np.testing.assert_allclose(loaded.predict("u", x, t=0.005), found.predict("u", x, t=0.005), rtol=1e-6)


def test_before_a_first_estimate_a_sentence() -> None:
    with pytest.raises(
        hp.ModelError, match=r"limit of 60 s was reached before a first estimate.*--time-limit 600"
    ):
        hp.identify(HEAT, heat_snapshots(), model="paper", progress=stopping_at("smoothing"))
    with pytest.raises(hp.ModelError, match=r"limit of 1e-09 s was reached before.*--time-limit 60 "):
        hp.identify(HEAT, heat_snapshots(), model="paper", time_limit=1e-9)


def test_interrupted_before_a_first_estimate() -> None:
    def impatient(line: str) -> None:
        if "smoothing" in line:
            _thread.interrupt_main()

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        hp.identify(HEAT, heat_snapshots(), model="paper", progress=impatient)
    assert signal.getsignal(signal.SIGINT) is before


def test_interrupted_while_it_learns() -> None:
    def impatient(line: str) -> None:
        if "longer lengths" in line:
            _thread.interrupt_main()

    found = hp.identify(HEAT, heat_snapshots(), model="paper", progress=impatient)
    assert found.status is Status.NOT_CONVERGED
    assert found.explanation.startswith("Interrupted. ")


def test_the_usual_limit_is_told_first() -> None:
    said: list[str] = []
    with pytest.raises(hp.ModelError):
        hp.identify(HEAT, heat_snapshots(), model="nobody's", progress=said.append)
    assert said[0] == "at most 600 s; --time-limit (time_limit=) changes that (0 s)"


@pytest.mark.parametrize("limit", [0, -1.0, float("nan"), "60", True, [3]], ids=str)
def test_a_limit_that_is_none_is_refused_at_the_door(limit: object) -> None:
    with pytest.raises(hp.ModelError, match=r"A time limit of .* was given; needed is a positive number"):
        hp.identify(HEAT, heat_snapshots(), time_limit=limit)  # type: ignore[arg-type]


def test_a_watch_has_its_own_limit() -> None:
    with pytest.raises(hp.ModelError, match=r"beside a watch, which has a limit of 5 s"):
        hp.identify(HEAT, heat_snapshots(), progress=Watch(silent, 5.0), time_limit=60)


# ---- second opinions --------------------


def flow_that_ends(status: Status, *stages: str) -> Callable[[Question, Progress], Fit]:
    """Return a `learn` that says stages, catches what they raise, and borrows the paper's numbers."""

    def learn(question: Question, say: Progress) -> Fit:
        fit = MODELS["paper"].learn(question, silent)
        verdict = Verdict(status, "As it ended.")
        try:
            for stage in stages:
                say(stage)
        except Stopped as stopped:
            verdict = Verdict(Status.NOT_CONVERGED, stopped.reason)
        return Fit(fit.values, fit.covariance, fit.evidence, verdict, 0.0, 1, fit.learned)

    return learn


def asked_automatically(monkeypatch: pytest.MonkeyPatch, word: str, *stages: str) -> hp.Result:
    monkeypatch.setattr(type(MODELS["flow"]), "learn", lambda _, *words: flow(*words))
    flow = flow_that_ends(Status.WEAKLY_IDENTIFIED, *stages)
    return hp.identify(HEAT, heat_snapshots(), progress=stopping_at(word))


def test_a_stopped_model_has_no_second_opinion(monkeypatch: pytest.MonkeyPatch) -> None:
    found = asked_automatically(monkeypatch, "round 1", "round 1", "round 2")
    assert found.status is Status.NOT_CONVERGED
    assert found.explanation == "The time limit of 60 s was reached."
    assert "no time was left to ask another model" in found.reason


@pytest.mark.parametrize("word", ["round 1", "asking a second model", "from the regression"])
def test_a_stopped_second_opinion_is_none(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    found = asked_automatically(monkeypatch, word, "round 1")
    assert found.status is Status.WEAKLY_IDENTIFIED
    assert found.model == "flow"
    assert "no time was left to ask another model" in found.reason
