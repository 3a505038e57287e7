"""Unknown functions learned by the flow: against the ones that finite differences were driven by."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hiddenphysics as hp
from benchmarks import unknown_functions

NOISE = 0.005
GRID = np.linspace(-6.0, 6.0, 401)
SEEN = np.abs(GRID) <= 3.0


def cubic(u):
    return u - u**3


@pytest.fixture(scope="module")
def snapshots():
    """u_t = 0.05 u_xx + u − u³ by second-order differences in space and BDF in time, two snapshots."""
    h = GRID[1] - GRID[0]
    begin = 1.6 * np.exp(-((GRID + 1) ** 2) / 0.5) + 1.28 * np.exp(-((GRID - 1.3) ** 2) / 0.3) - 0.3

    def rate(_, u):
        return np.concatenate([[0.0], 0.05 * np.diff(u, 2) / h**2, [0.0]]) + cubic(u)

    moved = solve_ivp(rate, (0.0, 0.5), begin, method="BDF", rtol=1e-7, atol=1e-9).y[:, -1]
    rng = np.random.default_rng(1)
    x = GRID[SEEN][::3]
    return hp.Snapshots(
        hp.Snapshot(t, x, u[SEEN][::3] + NOISE * rng.standard_normal(x.size))
        for t, u in ((0.0, begin), (0.5, moved))
    )


@pytest.fixture(scope="module")
def fit(snapshots):
    return hp.identify("u_t = 0.05*u_xx + f(u)", snapshots, model="flow")


def test_a_reaction_is_found_within_its_band(fit):
    assert fit.status == "converged"
    f = fit.functions["f"]
    # The largest values were there in the beginning alone, and are gone halfway to the second snapshot.
    values = np.linspace(f.function.low + 0.1, f.function.high - 0.25, 25)
    mean, std = f.mean_and_std(values)
    scores = (mean - cubic(values)) / std
    assert np.mean(np.abs(scores) < 2) > 0.85
    assert np.abs(scores).max() < 4
    assert std.max() < 0.1
    assert f.worth > 100
    assert "a straight line would lose" in str(fit)
    assert "f(u)" in fit.identified()
    assert not fit.parameters


def test_saved_and_drawn(fit, tmp_path):
    fit.save(tmp_path / "fit.nc")
    again = hp.load(tmp_path / "fit.nc")
    values = np.linspace(-0.2, 1.0, 5)
    one, other = (each.functions["f"].mean_and_std(values) for each in (fit, again))
    np.testing.assert_allclose(one, other)
    fit.functions["f"].plot(tmp_path / "f.png")
    assert (tmp_path / "f.png").stat().st_size > 5000


def test_who_cannot_learn_them_says_so(snapshots):
    with pytest.raises(hp.ModelError, match="unknown functions are learned by flow alone"):
        hp.identify("u_t = 0.05*u_xx + f(u)", snapshots, model="midpoint")
    with pytest.raises(hp.DataError, match="which has no data"):
        hp.identify("u_t = 0.05*u_xx + f(w); w_t = w_xx + u", snapshots)


@pytest.mark.parametrize(("words", "most"), [("D > 0", np.inf), ("0 < D < 0.2", 0.2)])
def test_one_with_bounds_is_found_and_stays_within_them(snapshots, tmp_path, words, most):
    """The diffusivity was 0.05 everywhere, and a constant would do."""
    fit = hp.identify(f"u_t = D(x)*u_xx + u - u^3; {words}", snapshots, model="flow")
    assert fit.status == "converged"
    D, x = fit.functions["D"], np.linspace(-2.5, 2.5, 11)
    low, high = D.interval(x)
    assert np.all((low > 0) & (high < most))
    assert np.mean((low < 0.05) & (high > 0.05)) > 0.8
    assert "a constant would do" in str(fit)
    assert words in str(fit.equation)
    again = hp.load(fit.save(tmp_path / "fit.nc"))
    np.testing.assert_allclose(again.functions["D"].interval(x), (low, high))


def test_a_step_lies_within_its_band():
    """Four draws of a diffusivity with a step, moved by finite differences; twenty cosines left 85 % of it inside."""
    rows = [unknown_functions.answer({"problem": "step", "seed": seed}) for seed in range(4)]
    assert [row["status"] for row in rows] == ["converged"] * 4
    assert np.mean([row["covered"] for row in rows]) > 0.9
    assert max(row["error"] for row in rows) < 0.1
