"""A result for other libraries: draws of the parameters, tables, labelled arrays, ArviZ."""

from dataclasses import replace

import numpy as np
import pytest

import hiddenphysics as hp
from tests.result.test_saved import SAVED


@pytest.fixture(scope="module")
def fit():
    return hp.load(SAVED / "midpoint.nc")


def test_draws_have_the_moments_of_the_parameters_and_a_seed(fit):
    drawn = fit.draws(20_000, seed=1)
    assert list(drawn.columns) == ["a", "b"]
    for name, e in fit.parameters.items():
        assert drawn[name].mean() == pytest.approx(e.estimate, abs=5 * e.std / np.sqrt(20_000))
        assert drawn[name].std() == pytest.approx(e.std, rel=0.03)
    assert drawn.equals(fit.draws(20_000, seed=1))
    assert not drawn.equals(fit.draws(20_000, seed=2))


def test_draws_keep_to_the_bounds(fit):
    """Of a normal cut at its mean the half remains, with the mean μ − σ √(2/π)."""
    a = fit.parameters["a"]
    cut = replace(fit, equation=hp.Equation.parse(fit.equation.text, bounds={"a": (None, a.estimate)}))
    drawn = cut.draws(20_000, seed=0)["a"]
    assert drawn.max() <= a.estimate
    assert drawn.mean() == pytest.approx(a.estimate - a.std * np.sqrt(2 / np.pi), abs=0.03 * a.std)
    far = replace(fit, equation=hp.Equation.parse(fit.equation.text, bounds={"a": (5.0, None)}))
    with pytest.raises(hp.ModelError, match="lies outside the bounds"):
        far.draws(3, seed=0)


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "3"])
def test_a_number_of_draws_that_is_none_is_refused(fit, count):
    with pytest.raises(hp.ModelError, match="draws were asked for; needed is a whole number"):
        fit.draws(count, seed=0)


def test_a_table_of_the_parameters(fit):
    table = fit.to_dataframe()
    assert list(table.index) == ["a", "b"]
    for name, e in fit.parameters.items():
        assert tuple(table.loc[name]) == (e.estimate, e.std, *e.interval(0.95))


def test_fields_as_labelled_arrays():
    fit = hp.load(SAVED / "flow.nc")
    data = fit.to_xarray(points=7)
    assert data["u"].dims == ("t", "x")
    t, x = float(data["t"][1]), data["x"].to_numpy()
    mean, std = fit.predict("u", x, t=t)
    np.testing.assert_array_equal(data["u"].sel(t=t), mean)
    np.testing.assert_array_equal(data["u_std"].sel(t=t), std)
    assert float(data["estimate"].sel(parameter="b")) == fit.parameters["b"].estimate
    variance = data["covariance"].sel(parameter="b", parameter_="b")
    assert float(variance) == pytest.approx(fit.parameters["b"].std ** 2)
    assert data.attrs["equation"] == fit.identified()


@pytest.mark.filterwarnings("ignore::FutureWarning:arviz")  # it announces its next version when imported
def test_arviz_tells_the_same_numbers(fit):
    arviz = pytest.importorskip("arviz")
    data = fit.to_arviz(4000, seed=3)
    told = arviz.summary(data, kind="stats", round_to="none")
    for name, e in fit.parameters.items():
        assert told.loc[name, "mean"] == pytest.approx(e.estimate, abs=0.1 * e.std)
        assert told.loc[name, "sd"] == pytest.approx(e.std, rel=0.05)
    np.testing.assert_array_equal(data["observed_data"]["u"], fit.snapshots.to_table()["u"])


def test_arviz_is_an_extra(fit, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "arviz", None)
    with pytest.raises(hp.MissingExtraError, match=r'pip install "hiddenphysics\[arviz\]"'):
        fit.to_arviz()
