"""Fits of similar size share their compiled code, and the units of the data change nothing but units."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import jax
import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics import compiled_code, kept_programs
from hiddenphysics.demo import EQUATION, TRUTH, burgers_recording
from hiddenphysics.learning import Status, Stopped, Watch
from hiddenphysics.models import MODELS, Question
from hiddenphysics.models.flow.gauss_newton import gone_through
from hiddenphysics.snapshots import Snapshot, Snapshots

pytestmark = pytest.mark.xdist_group("shared code")  # one process: it compiles once


def pair(counts):
    return burgers_recording()[20:22].with_noise(0.01, seed=7).subsample(counts, seed=3)


@contextmanager
def compiled() -> Iterator[list[str]]:
    """Collect what JAX compiles, by name and shapes."""
    lines: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage().startswith("Compiling"):
                lines.append(record.getMessage()[:300])

    logger, listener = logging.getLogger("jax"), Listener()
    before = logger.propagate
    logger.addHandler(listener)
    logger.propagate = False
    try:
        with jax.log_compiles():
            yield lines
    finally:
        logger.removeHandler(listener)
        logger.propagate = before


@pytest.fixture(scope="module", autouse=True)
def nothing_is_kept():
    """No program is read from disk, where one of another shape could lie, and no earlier test has made any."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_programs, "_folder", lambda: None)
        compiled_code.forget()
        yield


@pytest.fixture(scope="module")
def first(nothing_is_kept):
    """The first fit of this shape, by which all that follow find their code compiled."""
    with compiled() as lines:
        result = hp.identify(EQUATION, pair([71, 69]), model="flow")
    assert any("jit(sweep)" in line for line in lines)
    return result


@pytest.mark.parametrize("counts", [[75, 66], [80, 80], [65, 72]])
def test_a_fit_of_about_as_many_points_compiles_nothing(first, counts):
    with compiled() as lines:
        result = hp.identify(EQUATION, pair(counts), model="flow")
    assert lines == []
    assert result.status is Status.CONVERGED
    for name, truth in TRUTH.items():
        assert abs(result.parameters[name].estimate - truth) < 4 * result.parameters[name].std


def in_units(data, of_x, of_t, of_u):
    return Snapshots(Snapshot(of_t * s.t, of_x * s.points[:, 0], u=of_u * s["u"]) for s in data)


@pytest.mark.parametrize(
    "units",
    [
        (1e3, 1.0, 1.0),
        (1.0, 60.0, 1.0),
        (1.0, 1.0, 1e-3),
        (25.4, 1 / 60, 1e4),
        (1e6, 1e-6, 1e6),
        (1e-6, 1e6, 1e-6),
    ],
)
def test_the_evidence_has_no_units_and_the_parameters_have_theirs(first, units):
    of_x, of_t, of_u = units
    fit = MODELS["flow"].learn(Question.of(EQUATION, in_units(pair([71, 69]), *units)), lambda stage: None)
    assert fit.evidence == pytest.approx(first.evidence, abs=1e-6)
    of_a, of_b = of_x / (of_t * of_u), of_x**2 / of_t
    stds = np.sqrt(np.diagonal(fit.covariance))
    for k, (name, unit) in enumerate((("a", of_a), ("b", of_b))):
        assert fit.values[name] == pytest.approx(unit * first.parameters[name].estimate, rel=1e-6)
        assert stds[k] == pytest.approx(unit * first.parameters[name].std, rel=1e-6)
    assert fit.values["noise.variance"] == pytest.approx(of_u**2 * first.values["noise.variance"], rel=1e-5)
    assert fit.values["u.length_x"] == pytest.approx(of_x * first.values["u.length_x"], rel=1e-5)


def test_out_of_time_a_fit_returns_its_last_round_without_small_deviations(first):
    clock = [0.0]

    def say(stage):
        if stage.startswith("round 2"):
            clock[0] = 100.0

    watch = Watch(say, 50.0, clock=lambda: clock[0])
    result = hp.identify(EQUATION, pair([71, 69]), model="flow", progress=watch)
    assert result.status is Status.NOT_CONVERGED
    assert "time limit of 50 s" in result.explanation
    assert all(np.isinf(one.std) for one in result.parameters.values())
    # It had gone some way.
    assert all(np.isfinite(one.estimate) for one in result.parameters.values())
    assert result.parameters["a"].estimate == pytest.approx(TRUTH["a"], rel=0.3)
    assert np.isfinite(result.evidence)


def test_rounds_that_are_stopped_leave_the_last_one():
    def rounds(count):
        yield from range(count)
        raise Stopped("Enough.")

    task = object()
    ended = gone_through(task, rounds(3), count=4)
    assert (ended.task, ended.last, ended.rounds, ended.stopped) == (task, 2, 7, "Enough.")
    before = gone_through(task, rounds(0), fallback="before")
    assert (before.last, before.rounds, before.stopped) == ("before", 0, "Enough.")
    assert gone_through(task, iter([1, 2])).stopped == ""
    with pytest.raises(Stopped, match=r"Enough\."):
        gone_through(task, rounds(0))
