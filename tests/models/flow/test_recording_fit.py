"""Whole recordings: fields that are known exactly, half of them noise; and chaos, cut into windows."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.equation import Equation
from hiddenphysics.learning import Status
from hiddenphysics.models import MODELS, Question
from hiddenphysics.models.flow import recording_fit
from hiddenphysics.models.flow.design import Explored
from hiddenphysics.models.flow.domain import domain_of
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.gauss_newton import Searched
from hiddenphysics.models.flow.inflow import Entering
from hiddenphysics.models.flow.moved_fields import moved
from hiddenphysics.models.flow.outset import outset_of
from hiddenphysics.models.flow.path import Path
from hiddenphysics.models.flow.recording_fit import MANY_STOPS, MOST_TANGENT_GROWTH, _entered
from hiddenphysics.models.flow.windows import gathered
from hiddenphysics.priors import Prior, SquaredExponential
from hiddenphysics.simulate import simulate
from hiddenphysics.snapshots import Experiments, Snapshot, Snapshots
from tests.models.flow.problems import BURGERS, EQUATION, TRUTH, pulse

pytestmark = pytest.mark.xdist_group("recordings")  # one process: the tests share compiled code

KS = "u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0"
NOISE, STOPS, POINTS = 0.5, 25, 64


def recording(low, high, noise=NOISE, seed=0):
    """A hump that steepens, on a grid; the whole of it lies between −8 and 8."""
    x = low + (high - low) * np.arange(POINTS) / POINTS
    made = Snapshots(Snapshot(t, x, u=pulse(t, x)) for t in np.linspace(0.0, 4.8, STOPS))
    return made.with_noise(noise, seed)


@pytest.mark.parametrize(("low", "high", "open_ends"), [(-8.0, 8.0, False), (-2.0, 4.0, True)])
def test_a_recording_half_of_which_is_noise(low, high, open_ends):
    data = recording(low, high)
    assert len(data) > MANY_STOPS
    result = hp.identify(BURGERS, data)
    assert (result.status, result.model) == (Status.CONVERGED, "flow")
    for name, truth in TRUTH.items():
        found = result.parameters[name]
        assert abs(found.estimate - truth) < 4 * found.std
        # 1600 values, each half noise, leave some per cent.
        assert 0.01 < found.std / truth < 0.15
    spread = np.std([s["u"] for s in recording(low, high, noise=1e-12)])
    assert result.noise_std == pytest.approx(NOISE * spread, rel=0.1)
    # Open ends get a box with padding, a field that dies out before them its own.
    (side,) = result.learned.features.grid.lengths
    assert side > 1.2 * (high - low) if open_ends else side == pytest.approx(high - low, rel=1e-9)


def test_scattered_points_are_a_recording_too():
    """Without a grid there is no weak form: the guess comes from pairs."""
    random = np.random.default_rng(0)
    data = Snapshots(
        Snapshot(t, x, u=pulse(t, x) + 0.01 * random.standard_normal(20))
        for t in np.linspace(0.0, 1.2, 21)
        for x in [np.sort(random.uniform(-4, 5, 20))]
    )
    outset = outset_of(EQUATION, Experiments.single(data), {}, lambda stage: None)
    assert outset.covariance is None
    assert outset.windows.periods == (None,)
    fit = MODELS["flow"].learn(Question.of(BURGERS, data), lambda stage: None)
    assert fit.verdict.status is Status.CONVERGED
    stds = np.sqrt(np.diagonal(fit.covariance))
    for k, (name, truth) in enumerate(TRUTH.items()):
        assert abs(fit.values[name] - truth) < 4 * stds[k]


@pytest.fixture(scope="module")
def chaos():
    """Forty snapshots, one apart, of Kuramoto and Sivashinsky's equation on a circle of 36, after a while."""
    solution = simulate(
        KS,
        {"u": lambda x: np.cos(2 * np.pi * x / 36) * (1 + np.sin(4 * np.pi * x / 36 + 0.3))},
        box=(0.0, 36.0),
        shape=64,
        times=np.concatenate([[0.0], 60.0 + np.arange(40)]),
        parameters=dict.fromkeys("abc", 1.0),
    )
    return hp.read(solution)[1:].with_noise(0.01, seed=0)


def test_chaos_is_cut_where_its_tangents_have_grown(chaos):
    equation = Equation.parse(KS, fields=("u",), coordinates=("x",))
    outset = outset_of(equation, Experiments.single(chaos), {}, lambda stage: None)
    assert outset.windows.periods == (pytest.approx(36.0),)
    for name in "abc":
        assert outset.guess.estimate[name] == pytest.approx(1.0, rel=0.02)
    said = []
    ended = _entered(outset, len(chaos), said.append)
    windows = ended.task.windows.windows
    assert len(windows) > 1
    # Every snapshot stands in one window.
    np.testing.assert_array_equal(np.concatenate([w.times for w in windows]), chaos.times)
    # The window that was looked at keeps to the bound; those after it may differ by a little.
    assert np.max(ended.last.growth[0]) < MOST_TANGENT_GROWTH < 2 * np.max(ended.last.growth)
    assert np.max(ended.last.growth) < 3 * MOST_TANGENT_GROWTH
    # It was entered horizon by horizon, with the parameters held.
    assert next(line for line in said if line.startswith("1 window")) == "1 window(s), 6 of 40 stops"
    np.testing.assert_array_equal(ended.last.point.parameters, outset.parameters)
    assert ended.last.misfit == pytest.approx(0.01, rel=0.15)


def test_chaos_tells_its_parameters(chaos):
    fit = MODELS["flow"].learn(Question.of(KS, chaos), lambda stage: None)
    assert fit.verdict.status is Status.CONVERGED
    assert len(fit.learned.windows) > 1
    stds = np.sqrt(np.diagonal(fit.covariance))
    for k, name in enumerate("abc"):
        assert abs(fit.values[name] - 1.0) < 4 * stds[k]
        assert stds[k] < 1e-3


@pytest.mark.parametrize(("closer", "believed"), [(0.9, True), (0.4, False)])
def test_a_parabola_that_narrows_under_a_closer_look_is_not_believed(monkeypatch, closer, believed):
    """The second design has the first one's own width; a wiggle is narrower than what it stands on."""
    asked = []

    def explore(task, start, centre, covariance, say):
        asked.append(covariance)
        variance = 0.5 if len(asked) == 1 else 0.5 * closer
        top = np.full(2, 0.1 * len(asked))
        return Explored(top, variance * np.eye(2), f"last {len(asked)}", f"first {len(asked)}", False, 5)

    monkeypatch.setattr(recording_fit, "explore", explore)
    weak = SimpleNamespace(covariance=np.eye(2), parameters=np.zeros(2))
    last = SimpleNamespace(point=SimpleNamespace(parameters=np.zeros(2)), information=np.eye(2))
    ended, covariance = recording_fit._explored(weak)(Searched("task", last, 3), lambda stage: None)
    np.testing.assert_array_equal(asked[1], 0.5 * np.eye(2))
    assert ended.rounds == 10
    assert ended.last == ("last 2" if believed else "first 1")
    np.testing.assert_array_equal(covariance, (0.5 * closer if believed else 1.0) * np.eye(2))


def test_what_comes_in_does_so_at_its_own_stops():
    """Times between the stops of a driven window change nothing at these: heat, but for the steps of a force."""
    heat = Equation.parse("u_t = b*u_xx", fields=("u",), coordinates=("x",))
    x = np.linspace(0.0, 3.0, 9)
    windows = gathered(heat, [Snapshots(Snapshot(t, x, u=np.sin(x + t)) for t in (0.0, 0.1, 0.2))])
    prior = Prior((("u", SquaredExponential()),), ("x",))
    flat = [Envelope.flat(1, 1)]
    domain = domain_of(windows, prior, flat, np.array([[0.5]]), 1e-3, outside=2)
    random = np.random.default_rng(0)
    z = domain.begun(random.standard_normal((1, 1, domain.features.count)), np.zeros(1), 3)
    z[:, domain.features.count :] = random.standard_normal(z[:, domain.features.count :].shape)
    latent = jax.tree.map(lambda part: part[0], domain.latent(z))

    def at(stops, comes=None):
        comes = None if comes is None else comes[None]
        entering = Entering.smoothly(np.array([[0.0, 0.1, 0.2]]))
        path = Path.through(np.array([stops]), 0.0125, 1e3, comes=comes, entering=entering).window(0)
        return np.asarray(moved(domain.program, latent, np.array([0.3]), path))

    plain = at([0.0, 0.1, 0.2])
    between = at([0.0, 0.03, 0.1, 0.16, 0.2], np.array([0, -1, 1, -1, 2]))
    np.testing.assert_allclose(between[[0, 2, 4]], plain[:3], atol=1e-6)
    assert np.abs(at([0.0, 0.1, 0.2], np.array([-1, -1, -1]))[2] - plain[2]).max() > 1e-3
