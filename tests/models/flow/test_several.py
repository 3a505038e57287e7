"""Several experiments and known inputs in the flow: closed forms of heat, and what must be refused or told."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hiddenphysics as hp
from hiddenphysics.errors import DataError, EquationError, ModelError

HEAT, DIFFUSIVITY, NOISE = "u_t = D*u_xx", 0.3, 0.01
STARTS = ((0.0, 1.0), (0.5, 1.3), (-0.4, 0.9))
"""Centres and widths of what three experiments begin with."""


def warmth(x: np.ndarray, t: float, centre: float, width: float, diffusivity: float) -> np.ndarray:
    """Return the exact solution of the heat equation that begins as a Gaussian."""
    spread = width**2 + 4 * diffusivity * t
    return width / np.sqrt(spread) * np.exp(-((x - centre) ** 2) / spread)


def runs(seed: int, diffusivities: tuple[float, ...] = (DIFFUSIVITY,) * 3) -> dict[str, hp.Snapshots]:
    """Return three experiments, each with times and points of its own."""
    rng = np.random.default_rng(seed)
    made = {}
    for number, ((centre, width), diffusivity) in enumerate(zip(STARTS, diffusivities, strict=True)):
        snapshots = []
        for t in (0.0, 0.4 + 0.2 * number):
            x = np.sort(rng.uniform(-3.0, 3.0, 20))
            u = warmth(x, t, centre, width, diffusivity) + NOISE * rng.standard_normal(len(x))
            snapshots.append(hp.Snapshot(10.0 * number + t, x, u=u))
        made["abc"[number]] = hp.Snapshots(snapshots)
    return made


@pytest.fixture(scope="module")
def fit() -> hp.Result:
    return hp.identify(HEAT, runs(0), progress=False)


def test_they_share_the_parameter(fit: hp.Result) -> None:
    D = fit.parameters["D"]
    assert fit.status == "converged", fit.explanation
    assert abs(D.estimate - DIFFUSIVITY) < 3 * D.std
    assert fit.noise_std == pytest.approx(NOISE, rel=0.25)
    assert "3 experiments agree" in str(fit)
    assert [one["name"] for one in fit.summary()["experiments"]] == ["a", "b", "c"]


def test_information_adds_up(fit: hp.Result) -> None:
    """The pool knows what its experiments know together, and its estimate is their weighted mean."""
    shares = fit.heterogeneity.shares
    weights = np.array([share.std["D"] ** -2 for share in shares])
    estimates = np.array([share.estimate["D"] for share in shares])
    assert weights.sum() == pytest.approx(fit.parameters["D"].std ** -2, rel=0.1)
    assert weights @ estimates / weights.sum() == pytest.approx(fit.parameters["D"].estimate, rel=1e-9)
    assert fit.heterogeneity.degrees == 2


def test_each_has_fields_of_its_own(fit: hp.Result) -> None:
    x = np.linspace(-2.0, 2.0, 9)
    for number, (name, (centre, width)) in enumerate(zip("abc", STARTS, strict=True)):
        mean, std = fit.experiments[name].predict("u", x, t=10.0 * number + 0.3)
        assert np.abs(mean - warmth(x, 0.3, centre, width, DIFFUSIVITY)).max() < 5 * std.max() < 0.1
    assert len(fit.experiments) == 3
    assert fit.experiments["b"].snapshots is fit.experiments[1].snapshots
    table = fit.residuals()
    assert sorted(set(table["experiment"])) == ["a", "b", "c"]
    assert len(table) == 120
    assert np.std(table["u"]) == pytest.approx(NOISE, rel=0.3)


def test_of_several_it_is_asked_which(fit: hp.Result) -> None:
    with pytest.raises(ModelError, match=r"fit.experiments\['a'\].predict"):
        fit.predict("u", np.zeros(1), t=0.1)
    with pytest.raises(DataError, match="There are 3 experiments"):
        _ = fit.snapshots


def test_saved_and_loaded(fit: hp.Result, tmp_path: Path) -> None:
    x = np.linspace(-2.0, 2.0, 5)
    back = hp.load(fit.save(tmp_path / "pool.nc"))
    assert back.runs.names == ("a", "b", "c")
    assert back.heterogeneity == fit.heterogeneity
    np.testing.assert_array_equal(
        back.experiments[2].predict("u", x, t=20.2), fit.experiments[2].predict("u", x, t=20.2)
    )
    np.testing.assert_array_equal(back.runs["b"][1]["u"], fit.runs["b"][1]["u"])
    alone = hp.load(fit.experiments["b"].save(tmp_path / "one.nc"))
    np.testing.assert_array_equal(alone.predict("u", x, t=10.2), fit.experiments["b"].predict("u", x, t=10.2))


def test_drawn_with_a_row_for_each(fit: hp.Result) -> None:
    titles = [axes.get_title() for axes in fit.plot().axes]
    assert titles[:3] == ["a: u at t = 0", "a: u at t = 0.4", "b: u at t = 10"]


def test_contradictory_experiments_are_said_to_be_so() -> None:
    """The last one conducts three times as well; the shapes are those of the others, so nothing is compiled."""
    fit = hp.identify(HEAT, runs(1, (DIFFUSIVITY, DIFFUSIVITY, 3 * DIFFUSIVITY)), progress=False)
    assert fit.status == "misfit"
    assert "contradict each other" in fit.explanation
    assert fit.heterogeneity.p_value < 1e-6


# ---- known inputs --------------------

FORCED = "u_t = D*u_xx + k*w"
TIMES = np.linspace(0.0, 1.2, 4)


def forcing(x: np.ndarray, t: float) -> np.ndarray:
    return np.cos(2 * t) * np.exp(-((x + 1) ** 2) / 2)


@pytest.fixture(scope="module")
def forced() -> tuple[np.ndarray, np.ndarray]:
    """Return x and u (T, N) of a forced rod, by finite differences and an implicit integrator of SciPy."""
    x = np.linspace(-10.0, 10.0, 401)
    dx = x[1] - x[0]

    def rate(t: float, u: np.ndarray) -> np.ndarray:
        bend = np.zeros_like(u)
        bend[1:-1] = (u[2:] - 2 * u[1:-1] + u[:-2]) / dx**2
        return DIFFUSIVITY * bend + 0.7 * forcing(x, t)

    start = np.exp(-((x - 1) ** 2))
    solved = solve_ivp(rate, (0.0, TIMES[-1]), start, t_eval=TIMES, method="LSODA", rtol=1e-7, atol=1e-9)
    return x, solved.y.T


def forced_rod(forced: tuple[np.ndarray, np.ndarray], *, mirrored: bool) -> hp.Snapshots:
    """Return noisy values of rod and forcing, the latter mirrored in a wrong record."""
    rng = np.random.default_rng(3)
    made = []
    for t, u in zip(TIMES, forced[1], strict=True):
        x = np.sort(rng.uniform(-4.0, 4.0, 30))
        w = forcing(-x if mirrored else x, t) + NOISE * rng.standard_normal(len(x))
        made.append(
            hp.Snapshot(t, x, u=np.interp(x, forced[0], u) + NOISE * rng.standard_normal(len(x)), w=w)
        )
    return hp.Snapshots(made)


def test_a_measured_forcing_is_known(forced: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    fit = hp.identify(FORCED, forced_rod(forced, mirrored=False), progress=False)
    assert fit.status == "converged", fit.explanation
    for name, truth in {"D": DIFFUSIVITY, "k": 0.7}.items():
        assert abs(fit.parameters[name].estimate - truth) < 3 * fit.parameters[name].std
    x = np.linspace(-3.0, 3.0, 7)
    mean, std = fit.predict("u", x, t=TIMES[2])
    assert np.abs(mean - np.interp(x, forced[0], forced[1][2])).max() < 5 * std.max()
    np.testing.assert_array_equal(
        hp.load(fit.save(tmp_path / "forced.nc")).predict("u", x, t=1.0)[0], fit.predict("u", x, t=1.0)[0]
    )
    with pytest.raises(DataError, match=r"lies after the last snapshot at t = 1\.2, and so far w is known"):
        fit.predict("u", x, t=2.0)


@pytest.mark.parametrize(
    ("times", "reach", "sentence"),
    [
        ((0.0, 0.5), 5.0, "The input w is known from t = 0 to 0.5; the snapshots lie between 0 and 1.2"),
        ((0.0, 2.0), 2.0, "The input w is known for x from -2 to 2; the points lie between"),
    ],
)
def test_an_input_has_to_cover(
    forced: tuple[np.ndarray, np.ndarray], times: tuple[float, ...], reach: float, sentence: str
) -> None:
    x = np.linspace(-reach, reach, 20)
    known = hp.Snapshots(hp.Snapshot(t, x, w=forcing(x, t)) for t in times)
    rod = forced_rod(forced, mirrored=False).select({"u": "u"})
    with pytest.raises(DataError, match=sentence):
        hp.identify(FORCED, rod, inputs={"w": known}, progress=False)


def test_what_is_no_input_is_refused(forced: tuple[np.ndarray, np.ndarray]) -> None:
    rod = forced_rod(forced, mirrored=False).select({"u": "u"})
    with pytest.raises(EquationError, match="there are data for 'v', but the equation has no such field"):
        hp.identify(HEAT, rod, inputs={"v": rod.rename({"u": "v"})}, progress=False)
    with pytest.raises(
        DataError, match="u was given as an input, and is no field of the equation that nothing"
    ):
        hp.identify(HEAT, rod, inputs={"u": rod}, progress=False)
