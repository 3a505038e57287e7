"""The estimator of scikit-learn: its own checks as far as their data are recordings, and the same with a recording."""

from __future__ import annotations

import copy
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import hiddenphysics as hp
from hiddenphysics.estimator import EXPECTED_FAILED_CHECKS
from tests.test_identification import HEAT, heat, heat_snapshots

pytestmark = pytest.mark.xdist_group("estimator")  # one process: the tests share a fit

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "sklearn.md"


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return hp.Snapshots(heat_snapshots(gap=0.05, noise=0.01)).to_table()


@pytest.fixture(scope="module")
def fitted(table: pd.DataFrame) -> hp.PDERegressor:
    model = hp.PDERegressor(HEAT, model="paper")
    assert model.fit(table[["t", "x"]], table["u"]) is model
    return model


# ---- scikit-learn's checks --------------------


@pytest.mark.filterwarnings("ignore")  # the checks give warnings on purpose
def test_check_estimator() -> None:
    """The checks that are excepted are those that fail, each at our door: none is excepted in vain."""
    told = check_estimator(hp.PDERegressor(), expected_failed_checks=EXPECTED_FAILED_CHECKS, on_skip=None)
    status = {one["check_name"]: one["status"] for one in told}
    assert {name for name, ended in status.items() if ended == "xfail"} == set(EXPECTED_FAILED_CHECKS)
    assert [name for name, ended in status.items() if ended == "skipped"] == ["check_array_api_input"]
    assert sum(ended == "passed" for ended in status.values()) >= 23
    for one in told:
        if one["status"] == "xfail":
            assert re.search(r"make a snapshot|needed are 2 to 4|raised DataError", str(one["exception"]))


def test_the_page_lists_the_exceptions() -> None:
    rows = re.findall(r"^\| `(check_\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == list(EXPECTED_FAILED_CHECKS)


# ---- what the excepted checks look for, with a recording --------------------


def test_the_answer_is_that_of_identify(fitted, table) -> None:
    alone = hp.identify(HEAT, table, model="paper")
    assert fitted.parameters_["b"] == alone.parameters["b"]
    assert fitted.result_.summary()["equation"] == alone.summary()["equation"]


def test_prediction_and_score(fitted, table) -> None:
    X, y = table[["t", "x"]], table["u"]
    mean = fitted.predict(X)
    assert mean.shape == (50,)
    assert fitted.score(X, y) == r2_score(y, mean) > 0.99
    again, std = fitted.predict(X, return_std=True)
    np.testing.assert_allclose(again, mean, atol=1e-9)
    assert ((std > 0) & (std < 0.1)).all()
    x = np.linspace(0.5, 5.5, 20)
    between = fitted.predict(pd.DataFrame({"t": 0.02, "x": x}))
    np.testing.assert_allclose(between, heat(0.02, x), atol=0.05)


def test_rows_may_stand_in_any_order_and_be_asked_one_by_one(fitted, table) -> None:
    X = table[["t", "x"]]
    mean, order = fitted.predict(X), np.random.default_rng(0).permutation(50)
    np.testing.assert_allclose(fitted.predict(X.iloc[order]), mean[order], atol=1e-9)
    one_by_one = [fitted.predict(X.iloc[[k]])[0] for k in (0, 30)]
    np.testing.assert_allclose(one_by_one, mean[[0, 30]], atol=1e-9)


def test_the_same_again_from_other_arrays(fitted, table, tmp_path) -> None:
    """Fitted twice, from read-only mapped memory in Fortran's order, with y as a column; nothing given is changed."""
    values = np.asfortranarray(table[["t", "x"]].to_numpy())
    np.save(tmp_path / "X.npy", values)
    X, y = np.load(tmp_path / "X.npy", mmap_mode="r"), table[["u"]].to_numpy()
    y.flags.writeable = False
    model = clone(fitted)
    assert not hasattr(model, "result_")
    before = dict(model.get_params())
    for _ in range(2):
        model.fit(X, y)
        assert model.parameters_ == fitted.parameters_
    assert model.get_params() == before
    assert model.predict(X).shape == (50, 1)
    held = dict(vars(model))
    model.predict(X)
    assert vars(model) == held


def test_a_fitted_one_travels(fitted, table) -> None:
    X = table[["t", "x"]]
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):  # noqa: S301  (our own bytes)
        np.testing.assert_allclose(other.predict(X), fitted.predict(X), rtol=1e-6, atol=1e-9)
        assert other.parameters_ == fitted.parameters_


def test_columns_are_known_by_name_and_number(fitted, table) -> None:
    assert fitted.n_features_in_ == 2
    assert list(fitted.feature_names_in_) == ["t", "x"]
    assert fitted.fields_ == ("u",)
    with pytest.raises(ValueError, match=r"Feature names unseen at fit time:\n- y"):
        fitted.predict(pd.DataFrame(np.zeros((4, 3)), columns=["t", "x", "y"]))
    with pytest.raises(hp.DataError, match=r"columns of X are x, t; their order has to be t, x"):
        clone(fitted).fit(table[["x", "t"]], table["u"])
    with pytest.raises(ValueError, match="contains NaN"):
        clone(fitted).fit(table[["t", "x"]].where(table["x"] > 1), table["u"])
    with pytest.raises(hp.DataError, match=r"y has 2 column\(s\); the fields are u\."):
        clone(fitted).fit(table[["t", "x"]], table[["u", "u"]].to_numpy())


def test_parameters_are_set_and_tuned_like_others(fitted) -> None:
    assert clone(fitted).set_params(model="midpoint", bounds={"b": (0, None)}).bounds == {"b": (0, None)}
    with pytest.raises(ValueError, match="Invalid parameter 'speed'"):
        clone(fitted).set_params(speed=3)
    assert "PDERegressor(equation='u_t - b*u_xx = 0', model='paper')" in repr(fitted)


def test_in_a_pipeline_and_with_cross_validation(fitted, table) -> None:
    X, y = table[["t", "x"]].to_numpy(), table["u"].to_numpy()
    metres = make_pipeline(FunctionTransformer(lambda X: X * [1.0, 2.0]), clone(fitted)).fit(X, y)
    assert metres[-1].parameters_["b"].estimate == pytest.approx(
        4 * fitted.parameters_["b"].estimate, rel=1e-3
    )
    everything = np.arange(50)  # the same number of points as above: nothing is compiled anew
    (score,) = cross_val_score(clone(fitted), X, y, cv=[(everything, everything[::5])])
    assert score > 0.99


def test_several_fields_are_columns() -> None:
    """At the door only: the fit itself is that of `identify`."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat([0.0, 1.0], 5), rng.uniform(size=(10, 2))])
    model = hp.PDERegressor("u_t - a*v = 0; v_t + a*u - p_x = 0")
    made = model._snapshots(X, rng.normal(size=(10, 2)))
    assert (made.fields, made.coordinates, len(made)) == (("u", "v"), ("x", "y"), 2)
    assert model.set_params(fields=("v", "u"))._snapshots(X, rng.normal(size=(10, 2))).fields == ("v", "u")


def test_without_scikit_learn_it_says_what_to_install(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "hiddenphysics.estimator")
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(hp.MissingExtraError, match=r'pip install "hiddenphysics\[sklearn\]"'):
        _ = hp.PDERegressor
