"""Fits against data whose parameters are known: closed forms and the library's simulator."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.learning import Status
from hiddenphysics.models import MODELS, Question
from hiddenphysics.models.flow import flow_fit, starting_points
from hiddenphysics.models.flow.beginning import beginning_of, widened
from hiddenphysics.models.flow.moved_fields import at_the_end, moved
from hiddenphysics.models.flow.packed import unpack
from hiddenphysics.models.flow.path import Path
from hiddenphysics.models.flow.starting_points import beginnings
from hiddenphysics.models.flow.windows import gap_counts, gathered, windows_of
from hiddenphysics.snapshots import Experiments, Snapshot, Snapshots
from hiddenphysics.spectral import Motion, values_at

pytestmark = pytest.mark.xdist_group("flow fits")  # one process: the tests share fits

FLOW = MODELS["flow"]
BURGERS = "u_t + a*u*u_x - b*u_xx = 0"
TIMES, TRUTH = (0.0, 0.5, 1.0), {"a": 1.0, "b": 0.2}
POINTS = 40
"""Of nearly every snapshot here: what smooths one is compiled once for all of them."""


def burgers(noise=0.0, seed=0, times=TIMES[::2], points=POINTS):
    """Snapshots of a hump that steepens, by the simulator on a fine grid, at other points in each."""
    flow = Motion.of(BURGERS, (-10.0, 10.0), 256)
    (x,) = flow.grid.points()
    rng = np.random.default_rng(seed)
    first = jnp.asarray(np.exp(-((x + 1) ** 2))[None])
    snapshots = []
    for t in times:
        u = np.asarray(first if t == 0 else flow.advance(first, TRUTH, t, 64))[0]
        chosen = np.sort(rng.choice(np.flatnonzero(np.abs(x) < 4), points, replace=False))
        snapshots.append(Snapshot(t, x[chosen], u=u[chosen] + noise * rng.standard_normal(points)))
    return Snapshots(snapshots)


def fitted(snapshots, text=BURGERS):
    equation = Equation.parse(text, fields=snapshots.fields, coordinates=snapshots.coordinates)
    return FLOW.learn(Question(equation, Experiments.single(snapshots)), lambda stage: None)


def deviations(fit):
    return np.sqrt(np.diagonal(fit.learned.belief.covariance))


@pytest.fixture(scope="module")
def clean():
    return fitted(burgers())


@pytest.fixture(scope="module")
def noisy():
    return fitted(burgers(noise=0.01, seed=3))


def test_clean_data_give_the_parameters_to_four_digits(clean):
    assert clean.verdict.status is Status.CONVERGED
    np.testing.assert_allclose(clean.learned.parameters, list(TRUTH.values()), rtol=1e-3)
    assert tuple(clean.values) == ("a", "b", "u.variance", "u.length_x", "noise.variance")


def test_noisy_data_give_intervals_that_hold_the_truth(noisy):
    assert noisy.verdict.status is Status.CONVERGED
    score = (noisy.learned.parameters - np.array(list(TRUTH.values()))) / deviations(noisy)
    assert np.all(np.abs(score) < 3)
    assert noisy.values["noise.variance"] == pytest.approx(1e-4, rel=0.5)


def test_the_posterior_holds_the_field_between_the_snapshots(noisy):
    truth = burgers(times=(0.0, 0.5), points=60, seed=9)[1]
    mean, std = FLOW.predict(noisy.learned, "u", truth.points, 0.5)
    assert np.mean(np.abs(mean - truth["u"]) < 3 * std) > 0.9
    assert np.sqrt(np.mean((mean - truth["u"]) ** 2)) < 0.01
    drawn = FLOW.draw(noisy.learned, "u", truth.points, 0.5, 60, seed=1)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.01)
    assert 0.6 < np.median(drawn.std(axis=0) / std) < 1.5


def test_the_mean_is_moved_through_several_times_in_one_run(clean):
    later = burgers(times=(0.0, 1.0))[1]
    moved = clean.learned.moved(later.points, np.array([0.5, 1.0]))
    np.testing.assert_allclose(moved[1, 0], later["u"], atol=1e-4)
    np.testing.assert_allclose(moved[0], clean.learned.moved(later.points, np.array([0.5]))[0], atol=1e-6)


def test_a_fit_comes_back_from_plain_data(noisy):
    learned = noisy.learned
    again = unpack(learned.equation, *FLOW.pack(learned))
    points = np.linspace(-2, 2, 5)[:, None]
    for mine, other in zip(
        FLOW.predict(learned, "u", points, 0.7), FLOW.predict(again, "u", points, 0.7), strict=True
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-12)


def test_times_before_the_first_snapshot_and_unknown_fields_are_refused(noisy):
    with pytest.raises(DataError, match="runs forwards"):
        FLOW.predict(noisy.learned, "u", np.zeros((1, 1)), -1.0)
    with pytest.raises(ModelError, match="no field of the state"):
        noisy.learned.row("v")


def test_an_operator_of_fractional_order_is_what_it_does_to_waves(clean):
    """Order two is the Laplacian, order nought the field, and half an order twice is a whole one."""
    points = np.linspace(-2, 2, 5)[:, None]

    def mean(text):
        return FLOW.predict(clean.learned, text, points, 0.5)[0]

    np.testing.assert_allclose(mean("frac_lap(u, 1.999999)"), -mean("u_xx"), atol=1e-4)
    np.testing.assert_allclose(mean("D(u, x, 0.999999)"), mean("u_x"), atol=1e-4)
    assert np.max(np.abs(mean("frac_lap(u, 1.5)") - mean("u"))) > 0.1


def begun(snapshots, text=BURGERS):
    """Where the rounds begin, and the first window's latent without the axis of windows."""
    equation = Equation.parse(text, fields=("u",), coordinates=("x",))
    start = beginning_of(gathered(equation, [snapshots]), {})
    latent = start.domain.latent(start.z.reshape(1, -1))
    return start, jax.tree.map(lambda part: np.asarray(part[0]), latent)


def way(windows, dt):
    """The path of the first window, slow waves and fast ones let grow as they like."""
    return Path.through(windows.times, dt, most=1e3).window(0)


def test_derivatives_of_the_motion_are_those_of_finite_differences():
    start, latent = begun(burgers())
    program, points = start.domain.program, jnp.asarray(start.windows.windows[0][-1].points)
    at, path = jnp.array([0.9, 0.25]), way(start.windows, 0.1)
    direction = np.random.default_rng(0).standard_normal(latent.z.shape) * np.abs(latent.z)

    def seen(modes):
        return np.asarray(values_at(start.domain.features.grid, jnp.asarray(modes), points))

    def there(s, p):
        modes = moved(program, latent._replace(z=latent.z + s * direction), at + p, path)
        return seen(modes[-1])

    fields, h = at_the_end(program, latent, at, path), 1e-5
    np.testing.assert_allclose(seen(fields.modes), there(0.0, 0.0), atol=1e-12)
    by_z = (there(h, 0.0) - there(-h, 0.0)) / (2 * h)
    np.testing.assert_allclose(seen(np.einsum("k,kfm->fm", direction, fields.in_state)), by_z, atol=1e-7)
    for p in range(2):
        step = h * np.eye(2)[p]
        by_p = (there(0.0, step) - there(0.0, -step)) / (2 * h)
        np.testing.assert_allclose(seen(fields.in_parameters[p]), by_p, atol=1e-7)


def test_a_wider_box_holds_the_same_field_with_twice_the_room(monkeypatch):
    start, _ = begun(burgers())
    wide = widened(start)
    usual, wider = (one.domain.features.grid.lengths[0] for one in (start, wide))
    extent = float(start.windows.region.extent[0])
    assert wider - extent == pytest.approx(2 * (usual - extent), rel=1e-6)

    def first(one):
        latent = jax.tree.map(lambda part: part[0], one.domain.latent(one.z.reshape(1, -1)))
        modes = moved(one.domain.program, latent, jnp.array([1.0, 0.2]), way(start.windows, 0.1))
        points = jnp.asarray(start.windows.windows[0][0].points)
        return values_at(one.domain.features.grid, modes[0], points)[0]

    np.testing.assert_allclose(first(wide), first(start), atol=1e-4)
    # After a search that ended badly there is more room first, then other parameters in the usual box. Which of these
    # carry the first snapshot nearest to the others is not asked here: that compiles the sweep of both boxes.
    monkeypatch.setattr(
        starting_points, "starting_points", lambda one: [f * one.parameters for f in (1.0, 0.3, 2.0)]
    )
    rooms = [one.domain.room for one, _ in beginnings(start)]
    assert rooms == [1.0, 2.0, 1.0, 1.0]


def test_the_motion_of_features_is_the_closed_form_of_the_heat_equation():
    text, x = "u_t - b*u_xx = 0", np.linspace(-3, 3, POINTS)
    snapshots = Snapshots([Snapshot(t, x, u=heat(x, t)) for t in (0.0, 0.7)])
    start, latent = begun(snapshots, text)
    modes = moved(start.domain.program, latent, jnp.array([0.3]), way(start.windows, 0.7))
    seen = values_at(start.domain.features.grid, modes[1], jnp.asarray(x[:, None]))
    np.testing.assert_allclose(seen[0], heat(x, 0.7), atol=2e-3)
    fit = fitted(snapshots, text)
    assert fit.learned.parameters[0] == pytest.approx(0.3, rel=1e-3)


def heat(x, t):
    """A Gaussian that spreads: u_t = 0.3 u_xx."""
    return np.exp(-(x**2) / (1 + 1.2 * t)) / np.sqrt(1 + 1.2 * t)


def test_a_travelling_wave_leaves_a_direction_open_and_says_so():
    # u(x − ct) solves u_t + a u_x + b u_x = 0 for every a + b = c.
    x = np.linspace(-4, 4, POINTS)
    snapshots = Snapshots([Snapshot(t, x, u=np.exp(-((x - 0.8 * t) ** 2))) for t in (0.0, 1.0)])
    fit = fitted(snapshots, "u_t + a*u_x + 2*b*u_x = 0")
    assert fit.verdict.status is Status.WEAKLY_IDENTIFIED
    assert "a and b" in fit.verdict.explanation
    assert fit.learned.parameters[0] + 2 * fit.learned.parameters[1] == pytest.approx(0.8, rel=1e-3)


def test_an_equation_that_does_not_hold_is_no_success():
    x = np.linspace(-4, 4, 20)  # with twice as many points it took 44 s of processor time
    snapshots = Snapshots([Snapshot(0.0, x, u=np.exp(-(x**2))), Snapshot(1.0, x, u=np.sin(3 * x))])
    assert fitted(snapshots, "u_t - b*u_xx = 0").verdict.status.is_bad


def test_where_the_flow_model_does_not_apply_it_says_why():
    def why_not(text):
        u = Snapshots([Snapshot(t, np.arange(5.0), u=np.arange(5.0) + t) for t in (0.0, 1.0)])
        return FLOW.applies(
            Question(Equation.parse(text, fields=("u",), coordinates=("x",)), Experiments.single(u))
        )

    assert why_not(BURGERS) is None
    assert (
        why_not("u_t + v*u_x = 0; v_t + a*v_x = 0") is None
    )  # v belongs to the state, with a prior of its own
    assert "nothing determines it" in why_not("u_t + a*u*u_x + p_x = 0")
    assert "sees the fields that evolve" in why_not("u = psi_x; psi_t - a*psi_xx = 0")
    assert "three snapshots" in why_not("u_tt - a*u_xx = 0")


def test_windows_use_every_value_once():
    snapshots = burgers(times=(0.0, 0.25, 0.5, 0.75, 1.0))
    assert list(gap_counts(5, 1)) == [4, 2, 1]
    assert list(gap_counts(3, 2)) == [2]
    windows = windows_of(snapshots, 2)
    assert [len(w) for w in windows] == [3, 3]
    assert sum(len(s) for w in windows for s in w) == sum(len(s) for s in snapshots)


def test_more_snapshots_say_more():
    three = fitted(burgers(noise=0.01, seed=3, times=(0.0, 0.5, 1.0)))
    assert three.verdict.status is Status.CONVERGED
    score = (three.learned.parameters - np.array(list(TRUTH.values()))) / deviations(three)
    assert np.all(np.abs(score) < 3)


def test_second_order_in_time_needs_no_data_of_the_velocity():
    x = np.linspace(-6, 6, POINTS)
    wave = [np.exp(-((x - 1.5 * t) ** 2)) + np.exp(-((x + 1.5 * t) ** 2)) for t in (0.0, 0.4, 0.8)]
    snapshots = Snapshots([Snapshot(t, x, u=u) for t, u in zip((0.0, 0.4, 0.8), wave, strict=True)])
    fit = fitted(snapshots, "u_tt - c*u_xx = 0")
    assert fit.learned.parameters[0] == pytest.approx(2.25, rel=1e-2)
    _, std = FLOW.predict(fit.learned, "u_t", x[:3, None], 0.4)
    assert np.all(np.isfinite(std))


def saturating(count=32):
    """What grows like 1.2 u²/(0.6² + u²) and decays like 0.55 u, from values between 1.25 and 1.75, at three times."""
    x, rng = np.linspace(-3.0, 3.0, count), np.random.default_rng(0)
    first = 1.25 + 0.5 * np.exp(-((x / 1.2) ** 2))

    def rate(_t, u):
        return 1.2 * u**2 / (0.36 + u**2) - 0.55 * u

    run = solve_ivp(rate, (0.0, 1.2), first, t_eval=[0.0, 0.6, 1.2], rtol=1e-10, atol=1e-12)
    return Snapshots(
        Snapshot(t, x, u=u + 5e-4 * rng.standard_normal(count)) for t, u in zip(run.t, run.y.T, strict=True)
    )


def test_two_optima_that_explain_the_data_alike_are_no_answer():
    fit = fitted(saturating(), "u_t = b*u^2/(K^2 + u^2) - m*u")
    assert fit.verdict.status is Status.WEAKLY_IDENTIFIED
    assert "Other numbers explain the data as well" in fit.verdict.explanation
    truth = np.array([1.2, 0.6, 0.55])
    deviation = np.sqrt(np.diagonal(fit.covariance))[:3]
    assert np.all(np.abs(fit.learned.parameters - truth) < 2 * deviation)  # it was 165 deviations off


def ended(parameters, information, evidence):
    last = SimpleNamespace(
        settled=True,
        point=SimpleNamespace(parameters=np.array(parameters)),
        information=np.array(information),
    )
    return SimpleNamespace(last=last, evidence=evidence)


@pytest.mark.parametrize(
    ("information", "evidence", "count"),
    [
        (np.eye(2), 9.0, 1),
        (np.eye(2), 3.0, 0),  # the evidence decides
        ([[1.0, 1.0], [1.0, 1.0]], 9.0, 0),  # a*b: what is open anyway is no second optimum
    ],
)
def test_what_counts_as_another_optimum(information, evidence, count):
    best = ended([1.0, 2.0], information, 10.0)
    other = ended([12.0, 1.0], information, evidence)
    assert len(flow_fit._even([best, other], best, lambda searched: None)) == count


def test_an_unknown_power_of_a_field_that_goes_on_below_zero_outside_of_the_data():
    x, rng = np.linspace(-3.0, 3.0, 40), np.random.default_rng(0)
    first = 1.2 + 0.8 * np.sin(x)
    snapshots = Snapshots(
        Snapshot(t, x, u=first / (1 + 0.5 * t * first) + 1e-3 * rng.standard_normal(40))
        for t in (0.0, 0.5, 1.0)
    )
    fit = fitted(snapshots, "u_t = -k*u^n")
    assert fit.verdict.status is Status.CONVERGED  # it failed: "the fields overflow"
    score = (fit.learned.parameters - np.array([0.5, 2.0])) / np.sqrt(np.diagonal(fit.covariance))[:2]
    assert np.all(np.abs(score) < 3)
