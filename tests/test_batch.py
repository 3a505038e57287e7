"""Many fits at once: the same numbers as one by one, and one that goes wrong costs itself alone."""

import os
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics import batch
from hiddenphysics.result import pack

pytestmark = pytest.mark.xdist_group("batch")  # one process: the tests share fits

HEAT = "u_t - b*u_xx = 0"
TRUTH = 0.3
perform = batch.perform  # as it is before a test replaces it; in a worker nothing is replaced


def pair(seed: int, count: int = 20) -> hp.Snapshots:
    """The heat equation's exact solution, sin x + ½ cos 2x at the start, at scattered points with 1 % noise."""
    rng = np.random.default_rng(seed)
    snapshots = []
    for t in (0.0, 0.1):
        x = np.sort(rng.uniform(-np.pi, np.pi, count))
        u = np.exp(-TRUTH * t) * np.sin(x) + 0.5 * np.exp(-4 * TRUTH * t) * np.cos(2 * x)
        snapshots.append(hp.Snapshot(t=t, x=x, u=u + 0.01 * rng.standard_normal(count)))
    return hp.Snapshots(snapshots)


def die_in_the_middle(ask):
    if ask.number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return perform(ask)


def echo(ask):
    return batch.Failure(f"{ask.number}, threads {os.environ['OMP_NUM_THREADS']}")


def assert_same(one: hp.Result, other: hp.Result) -> None:
    """To the last bit, but for how long it took."""
    assert (one.values, one.evidence, one.status) == (other.values, other.evidence, other.status)
    assert (one.explanation, one.reason, one.model) == (other.explanation, other.reason, other.model)
    np.testing.assert_array_equal(one.covariance, other.covariance)
    for a, b in zip(one.snapshots, other.snapshots, strict=True):
        np.testing.assert_array_equal(a.points, b.points)
        np.testing.assert_array_equal(a.values, b.values)
    mine, others = pack(one).learned, pack(other).learned
    assert mine.keys() == others.keys()
    for name, values in mine.items():
        np.testing.assert_array_equal(values, others[name])
    x = np.linspace(-1.0, 1.0, 5)
    for a, b in zip(one.predict("u", x, t=0.05), other.predict("u", x, t=0.05), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("model", ["midpoint", "flow"])
def test_worker_processes_find_what_single_fits_find(model):
    data = [pair(seed) for seed in range(3)]
    words = []
    many = hp.identify_many(HEAT, (one for one in data), workers=2, model=model, progress=words.append)
    for one, fit in zip(data, many, strict=True):
        assert_same(fit, hp.identify(HEAT, one, model=model))
        assert abs(fit.parameters["b"].estimate - TRUTH) < 4 * fit.parameters["b"].std
    assert [w.split(",")[0] for w in words] == [f"{k} of 3 done" for k in (1, 2, 3)]


def test_a_failure_in_the_middle_says_why_and_keeps_its_place(tmp_path):
    """Of data that are no data, of data that cannot tell, of a file that is not there."""
    good = pair(0)
    alone = [good[0]]
    many = hp.identify_many(HEAT, [good, "nonsense.csv", alone, 7, good], workers=1, model="midpoint")
    assert [type(fit) for fit in many] == [hp.Result, hp.Failure, hp.Failure, hp.Failure, hp.Result]
    assert [str(fit.status) for fit in many[1:4]] == ["failed"] * 3
    assert "nonsense.csv" in many[1].explanation
    assert "2 are needed" in many[2].explanation
    assert str(many[2]).startswith("failed: one snapshot")
    assert_same(many[0], many[4])


def test_a_killed_worker_costs_its_own_fit_alone(monkeypatch):
    monkeypatch.setattr(batch, "perform", die_in_the_middle)
    data = [pair(seed) for seed in range(3)]
    many = hp.identify_many(HEAT, data, workers=2, model="midpoint")
    assert many[1] == hp.Failure(
        "The worker process ended with signal 9, most likely for lack of memory; use fewer workers."
    )
    for k in (0, 2):
        assert_same(many[k], hp.identify(HEAT, data[k], model="midpoint"))


def test_workers_have_one_thread_and_the_order_is_kept(monkeypatch):
    """Fits of one shape stay together in a process, but not in the list."""
    monkeypatch.setattr(batch, "perform", echo)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    many = hp.identify_many(HEAT, [pair(k, 20 + 2 * (k % 2)) for k in range(6)], workers=2)
    assert [fit.explanation for fit in many] == [f"{k}, threads 1" for k in range(6)]
    assert "OMP_NUM_THREADS" not in os.environ


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_keeps_what_is_done(workers):
    def interrupt(words):
        if words.startswith("1 of"):
            signal.raise_signal(signal.SIGINT)

    data = [pair(seed) for seed in range(3)]
    many = hp.identify_many(HEAT, data, workers=workers, model="midpoint", progress=interrupt)
    assert sorted(isinstance(fit, hp.Result) for fit in many) == [False, False, True]
    assert [fit.explanation for fit in many if isinstance(fit, hp.Failure)] == [batch.INTERRUPTED] * 2


@pytest.mark.parametrize("workers", [1, 2])
def test_a_time_limit_is_kept(workers):
    many = hp.identify_many(HEAT, [pair(0), pair(1)], workers=workers, time_limit=1e-3)
    assert [fit.explanation for fit in many] == ["It had not ended within the time limit of 0.001 s."] * 2


def test_an_executor_may_do_the_work():
    data = [pair(seed) for seed in range(3)]
    with ThreadPoolExecutor(2) as pool:
        many = hp.identify_many(HEAT, data, executor=pool, workers=1, model="midpoint")
    for one, fit in zip(data, many, strict=True):
        assert_same(fit, hp.identify(HEAT, one, model="midpoint"))


def test_a_cluster_may_do_the_work():
    distributed = pytest.importorskip("distributed")
    data = [pair(seed) for seed in range(2)]
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        many = hp.identify_many(HEAT, data, executor=client.get_executor(), model="midpoint")
    for one, fit in zip(data, many, strict=True):
        assert_same(fit, hp.identify(HEAT, one, model="midpoint"))


def test_what_an_executor_loses_is_a_failure():
    class Careless:
        def submit(self, function, task):
            future = Future()
            future.set_exception(RuntimeError("gone"))
            return future

    many = hp.identify_many(HEAT, [pair(0), pair(1)], executor=Careless())
    assert [fit.explanation for fit in many] == ["The executor lost this fit: RuntimeError: gone."] * 2


def test_progress_tells_the_pace_of_warm_workers(monkeypatch):
    """Two fits a second after the first two, which have waited for the compiler."""
    moments = iter([0.0, 100.0, 101.0, 101.5, 102.0])
    monkeypatch.setattr(batch.time, "monotonic", lambda: next(moments))
    words = []
    clock = batch._Clock(26, 0, 2, words.append)
    for _ in range(4):
        clock.count()
    assert words == ["1 of 26 done", "2 of 26 done", "3 of 26 done, 12 s left", "4 of 26 done, 11 s left"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 0}, "needed is a number of processes"),
        ({"workers": 1.5}, "needed is a number of processes"),
        ({"executor": 3}, "needed is something with submit"),
        ({"time_limit": -1}, "needed is a number of seconds above 0"),
        ({"model": "nonsense"}, "known are auto, "),
        ({"modell": "flow"}, "identify takes model, kernel"),
    ],
)
def test_what_no_fit_could_use_is_refused_at_the_door(options, words):
    with pytest.raises(hp.ModelError, match=words):
        hp.identify_many(HEAT, [pair(0)], **options)


def test_what_cannot_travel_is_refused_with_a_sentence():
    class Mine(hp.SquaredExponential):
        pass

    with pytest.raises(hp.ModelError, match="cannot be sent to a worker process"):
        hp.identify_many(HEAT, [pair(0), pair(1)], workers=2, kernel=Mine())


def test_nothing_to_do():
    assert hp.identify_many(HEAT, []) == []


UNGUARDED = """
import hiddenphysics as hp
import numpy as np
x = np.linspace(0, 6, 20)
data = [[hp.Snapshot(t=t, x=x, u=np.exp(-t) * np.sin(x)) for t in (0.0, 0.1)]] * 2
try:
    hp.identify_many("u_t - b*u_xx = 0", data, workers=2)
except hp.ModelError as problem:
    print(problem)
"""


def test_a_script_without_a_guard_is_told_so(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(UNGUARDED)
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert 'put the call under if __name__ == "__main__":' in run.stdout
