"""What comes back: parameters, posterior fields, text, files."""

import json
import subprocess
import sys

import numpy as np
import pytest
import sympy

import hiddenphysics as hp
from hiddenphysics.result import Estimate
from tests.test_identification import HEAT, heat, heat_snapshots

pytestmark = pytest.mark.xdist_group("result")  # one process: the tests share fits


@pytest.fixture(scope="module")
def found():
    return hp.identify(HEAT, heat_snapshots(gap=0.05, noise=0.01), model="paper")


def test_prints_the_identified_equation(found):
    b = found.parameters["b"]
    assert str(found).startswith("u_t - ")
    assert found.identified().endswith("u_xx = 0")
    digits = found.identified().split("(")[0].split()[-1]
    assert float(digits) == pytest.approx(b.estimate, abs=b.std)
    assert "converged" in str(found)


def test_latex_and_sympy(found):
    assert "u_{xx}" in found.latex()
    (equation,) = found.sympy()
    assert isinstance(equation, sympy.Eq)
    assert {str(s) for s in equation.free_symbols} == {"t", "x"}


def test_intervals_are_normal_and_cut_at_bounds():
    low, high = Estimate(1.0, 0.1).interval(0.95)
    assert (low, high) == pytest.approx((1 - 0.1959964, 1 + 0.1959964), rel=1e-6)
    assert Estimate(0.1, 0.2, lower=0.0, upper=0.3).interval(0.95) == (0.0, 0.3)


@pytest.mark.parametrize("t", [0.0, 0.025, 0.05])
def test_the_posterior_covers_the_true_field(found, t):
    x = np.linspace(0.2, 5.8, 60)
    mean, std = found.predict("u", x, t=t)
    assert np.max(np.abs(mean - heat(t, x))) < 0.05
    assert np.mean(np.abs(mean - heat(t, x)) < 2.6 * std) > 0.8


def test_samples_have_the_posterior_moments_and_a_seed(found):
    x = np.linspace(1, 5, 7)
    mean, std = found.predict("u", x, t=0.05)
    drawn = found.sample("u", x, t=0.05, count=4000, seed=3)
    assert np.allclose(drawn.mean(0), mean, atol=5 * std.max() / np.sqrt(4000))
    assert np.allclose(drawn.std(0), std, rtol=0.08)
    assert np.array_equal(drawn, found.sample("u", x, t=0.05, count=4000, seed=3))


def test_prediction_refuses_other_times_fields_and_shapes(found):
    with pytest.raises(hp.ModelError, match=r"from t = 0 to 0\.05"):
        found.predict("u", [1.0], t=0.2)
    with pytest.raises(hp.EquationError, match="'w' is no field or parameter; known are u"):
        found.predict("w", [1.0], t=0.0)
    with pytest.raises(hp.ModelError, match=r"needed are 1 \(x\)"):
        found.predict("u", [[1.0]], t=0.0)


def test_a_saved_result_comes_back_in_a_new_process(found, tmp_path):
    path = found.save(tmp_path / "fit.nc")
    code = (
        "import json, sys, hiddenphysics as hp; fit = hp.load(sys.argv[1]);"
        "mean, std = fit.predict('u', [1.0, 2.0], t=0.02);"
        "print(json.dumps([fit.summary(), mean.tolist(), std.tolist(), str(fit)]))"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    summary, mean, std, text = json.loads(run.stdout)
    here = found.predict("u", [1.0, 2.0], t=0.02)
    assert summary == found.summary()
    assert text == str(found)
    assert np.allclose(mean, here[0], rtol=1e-9)
    assert np.allclose(std, here[1], rtol=1e-6)


def test_nothing_is_overwritten_silently(found, tmp_path):
    path = tmp_path / "fit.nc"
    path.write_text("precious")
    with pytest.raises(hp.DataError, match="exists and is not overwritten"):
        found.save(path)
    assert path.read_text() == "precious"
    found.save(path, overwrite=True)
    assert hp.load(path).values == found.values


def test_loading_refuses_what_is_no_result(tmp_path):
    with pytest.raises(hp.DataError, match="There is no file"):
        hp.load(tmp_path / "absent.nc")
    (tmp_path / "text.nc").write_text("hello")
    with pytest.raises(hp.DataError, match="holds no result"):
        hp.load(tmp_path / "text.nc")


def test_the_evidence_is_the_likelihood_at_the_values(found):
    log_density = -found.problem.negative_log_likelihood(found.values)
    assert found.evidence == pytest.approx(found.problem.log_units + log_density, rel=1e-10)
