"""Ends of a line: walls that fields are mirrored at, sensors whose values are the field's there."""

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.equation import Equation, reflects
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.models.edges import Edges, End
from hiddenphysics.models.flow.walls import Walls
from hiddenphysics.snapshots import Experiments
from hiddenphysics.spectral import Features, Grid

TRUTH, NOISE = 0.3, 0.01
X = np.linspace(0.05, 0.95, 12)
HEAT = "u_t = D*u_xx"
WAVES = {  # of a rod from 0 to 1: (wavenumber, shape) of its k-th wave, k = 1, 2, …
    ("reflecting", "reflecting"): lambda k: (np.pi * k, np.cos),
    ("fixed", "fixed"): lambda k: (np.pi * k, np.sin),
    ("fixed", "reflecting"): lambda k: (np.pi * (k - 0.5), np.sin),
}


def rod(kinds, times, seed=0):
    """Return what twelve sensors between insulated or cooled ends tell: the sum of the rod's own waves."""
    rng = np.random.default_rng(seed)
    sizes = rng.normal(size=5) / np.sqrt(np.arange(1, 6))
    mean = 0.7 if kinds[0] == "reflecting" else 0.0
    data = []
    for t in times:
        u = np.full_like(X, mean)
        for k, size in enumerate(sizes, start=1):
            wave, shape = WAVES[kinds](k)
            u = u + size * shape(wave * X) * np.exp(-TRUTH * wave**2 * t)
        data.append(hp.Snapshot(t=t, x=X, u=u + NOISE * rng.normal(size=X.size)))
    return hp.Snapshots(data)


@pytest.mark.parametrize("kinds", list(WAVES))
def test_walls_are_part_of_the_field(kinds):
    data = rod(kinds, np.linspace(0.0, 0.3, 3))
    fit = hp.identify(HEAT, data, model="flow", boundary={"x=0": kinds[0], "x=1": kinds[1]})
    D = fit.parameters["D"]
    assert abs(D.estimate - TRUTH) < 3 * D.std
    assert D.std < 0.1 * TRUTH
    assert kinds[0] in str(fit)
    value = fit.predict("u" if kinds[0] == "fixed" else "u_x", [0.0], t=0.1)[0][0]
    assert abs(value) < 1e-8
    value = fit.predict("u" if kinds[1] == "fixed" else "u_x", [1.0], t=0.1)[0][0]
    assert abs(value) < 1e-8


@pytest.mark.parametrize(
    ("text", "even", "odd"),
    [
        ("u_t + a*u*u_x - b*u_xx = 0", False, True),
        ("u_t = D*u_xx + r*u*(1 - u)", True, False),
        ("u_t = D*u_xx", True, True),
        ("u_t + c*u_x = 0", False, False),
        ("u_t + a*u*u_x + b*u_xxx = 0", False, False),
        ("u_t = d(D(x)*u_x, x)", False, False),
        ("u_t = b*u_xx + u - u^3", True, True),
    ],
)
def test_which_equations_hold_for_mirror_images(text, even, odd):
    equation = Equation.parse(text, fields=("u",), coordinates=("x",))
    assert (reflects(equation, "x", 1), reflects(equation, "x", -1)) == (even, odd)


@pytest.mark.parametrize("high", [False, True])
@pytest.mark.parametrize("kind", ["fixed", "reflecting"])
def test_features_in_a_box_around_a_wall_are_mirrored_at_it(kind, high):
    walls = Walls(End(0, high, 2.0, kind))
    low, up = walls.around(0.0, 2.0) if high else walls.around(2.0, 4.0)
    features = Features(Grid(((low - 1.0, up + 1.0),), (32,)), (7,), walls.mirror)
    away = np.linspace(0.0, 2.0, 9)[:, None]
    here, there = (features.at(2.0 + sign * away) * (features.allowed > 0) for sign in (1, -1))
    np.testing.assert_allclose(there, (1 if kind == "reflecting" else -1) * here, atol=1e-12)
    assert features.allowed.sum() == pytest.approx(features.count, abs=1.01)


def experiments():
    return Experiments.single(rod(("fixed", "fixed"), [0.0, 0.1, 0.2]))


@pytest.mark.parametrize(
    ("boundary", "error", "words"),
    [
        ("x=0.5:measured", DataError, "is no end of the data, whose x goes from 0.05 to 0.95"),
        ("x=0:measured", DataError, "x=0.05:measured"),
        ("x=9:fixed", DataError, "no end of the data"),
        ("y=0:fixed", ModelError, "coordinates x"),
        ("x=0:open", ModelError, "'open' was said of an end"),
        ("x:fixed", ModelError, "given as an end"),
        ("closed", ModelError, "'driven' and 'still'"),
        (["x=0:fixed", "x=0:u_x=0"], ModelError, "twice"),
        (3, ModelError, "boundary=3"),
    ],
)
def test_what_is_no_end_is_said_to_be_none(boundary, error, words):
    with pytest.raises(error, match=words):
        Edges.of(boundary, Equation.parse(HEAT, fields=("u",), coordinates=("x",)), experiments())


def test_an_equation_that_does_not_allow_a_wall_is_refused():
    advection = Equation.parse("u_t + c*u_x = 0", fields=("u",), coordinates=("x",))
    with pytest.raises(ModelError, match="mirror image"):
        Edges.of("x=0:reflecting", advection, experiments())


def test_conditions_may_be_typed_as_such():
    equation = Equation.parse(HEAT, fields=("u",), coordinates=("x",))
    edges = Edges.of(["x=0:u=0", "x=1: u_x = 0"], equation, experiments())
    assert [end.kind for end in edges.ends] == ["fixed", "reflecting"]
    assert edges.enter == (False, False)


def test_a_measured_end_is_followed():
    """The outermost sensor's values are the field's there: the fit goes through them ten times as closely."""
    rng = np.random.default_rng(1)
    x, times = np.linspace(0.1, 0.9, 9), np.linspace(0.0, 1.0, 9)
    wave = np.sqrt(2 * np.pi / 0.6 / (2 * TRUTH))
    told = [np.exp(-wave * x) * np.cos(2 * np.pi * t / 0.6 - wave * x) for t in times]
    data = hp.Snapshots(
        hp.Snapshot(t=t, x=x, u=u + 0.005 * rng.normal(size=9)) for t, u in zip(times, told, strict=True)
    )
    fit = hp.identify(HEAT, data, model="flow", boundary="x=0.1:measured")
    D = fit.parameters["D"]
    assert abs(D.estimate - TRUTH) < 3 * D.std
    assert "measured" in str(fit)
    missed = [fit.predict("u", x, t=s.t)[0] - s["u"] for s in data]
    assert np.std([one[0] for one in missed]) < 0.4 * np.std([one[1:] for one in missed])


def test_a_known_time_series_stands_for_a_sensor_at_its_end(tmp_path):
    """No sensor stands at x = 0.05: the file tells what is there, at times of its own."""
    rng = np.random.default_rng(3)
    wave = np.sqrt(2 * np.pi / 0.6 / (2 * TRUTH))

    def field(x, t):
        return np.exp(-wave * x) * np.cos(2 * np.pi * t / 0.6 - wave * x)

    x, every = np.linspace(0.15, 0.75, 5), np.linspace(-0.1, 0.7, 161)
    data = hp.Snapshots(
        hp.Snapshot(t=t, x=x, u=field(x, t) + 0.005 * rng.normal(size=x.size))
        for t in np.linspace(0.0, 0.6, 7)
    )
    file = tmp_path / "surface.csv"
    file.write_text("t,u\n" + "\n".join(f"{t},{field(0.05, t)}" for t in every))
    fit = hp.identify(HEAT, data, model="flow", boundary=f"x=0.05:{file}")
    D = fit.parameters["D"]
    assert abs(D.estimate - TRUTH) < 3 * D.std
    assert "x = 0.05: given, the field there is a known time series" in str(fit)
    for t in (0.0, 0.3, 0.6):
        assert abs(fit.predict("u", [0.05], t=t)[0][0] - field(0.05, t)) < 0.01


def test_a_time_series_is_one_more_point_of_every_snapshot():
    equation, runs = Equation.parse(HEAT, fields=("u",), coordinates=("x",)), experiments()
    edges = Edges.of({"x=1": (np.array([-1.0, 1.0]), np.array([0.0, 2.0]))}, equation, runs)
    (run,) = edges.beside(runs)
    assert edges.followed == (1.0,)
    assert edges.asks_to_enter
    np.testing.assert_allclose([s["u"][-1] for s in run], [1.0, 1.1, 1.2])
    np.testing.assert_allclose(run[0]["x"], np.append(X, 1.0))


@pytest.mark.parametrize(
    ("boundary", "words"),
    [
        ({"x=0.5": ([0.0, 1.0], [0.0, 1.0])}, "no end of the data, whose x goes from 0.05 to 0.95"),
        ({"x=0": ([0.1, 1.0], [0.0, 1.0])}, "known from t = 0.1 to 1; the snapshots lie between 0 and 0.2"),
        ({"x=0.05": ([0.0, 1.0], [0.0, 1.0])}, "where a sensor stands, too"),
        ({"x=0": ([0.0, 0.0], [0.0, 1.0])}, "do not increase"),
        ({"x=0": ([0.0, 1.0], [0.0])}, "one value for each; it has 2 and 1"),
        ({"x=0": ([0.0, 1.0], [0.0, np.nan])}, "NaN or inf"),
        ("x=0:nowhere.csv", "nowhere.csv is no file"),
    ],
)
def test_a_time_series_that_does_not_fit_is_refused(boundary, words):
    equation, runs = Equation.parse(HEAT, fields=("u",), coordinates=("x",)), experiments()
    with pytest.raises(DataError, match=words):
        Edges.of(boundary, equation, runs).beside(runs)


def test_a_file_that_is_no_time_series_is_refused(tmp_path):
    equation, file = Equation.parse(HEAT, fields=("u",), coordinates=("x",)), tmp_path / "both.csv"
    file.write_text("t,x,u\n0,0,1\n")
    with pytest.raises(DataError, match="has the columns t, x"):
        Edges.of(f"x=0:{file}", equation, experiments())
