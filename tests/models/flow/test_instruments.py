"""Errors of sensors: the columns against differences of the motion, a fit against what was put in."""

import jax.numpy as jnp
import numpy as np
import pytest

import hiddenphysics as hp
from benchmarks import ice_twin
from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.border import with_groups
from hiddenphysics.models.flow.domain import domain_of
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.path import Path
from hiddenphysics.models.flow.sweep import folds, sweep
from hiddenphysics.models.flow.windows import gathered
from hiddenphysics.priors import Prior, SquaredExponential
from hiddenphysics.result.images import field_images
from hiddenphysics.snapshots import Snapshot, Snapshots

TRUE_D, NOISE, OFFSET, AWAY = 0.2, 0.004, 0.08, 0.04
PLACES = np.linspace(-3.0, 3.0, 13)
TIMES = np.linspace(0.0, 2.0, 9)


def heat(x, t):
    """Two spreading bumps on a line: a closed form of u_t = D u_xx."""
    total = 0.0
    for size, centre, width in ((1.0, -1.0, 0.3), (0.7, 1.2, 0.2)):
        spread = width + 2 * TRUE_D * t
        total = total + size * np.sqrt(width / spread) * np.exp(-((x - centre) ** 2) / (2 * spread))
    return total


def recording(seed, offset=0.0, away=0.0):
    rng = np.random.default_rng(seed)
    offsets, shifts = offset * rng.standard_normal(PLACES.size), away * rng.standard_normal(PLACES.size)
    told = [heat(PLACES + shifts, t) + offsets + NOISE * rng.standard_normal(PLACES.size) for t in TIMES]
    made = Snapshots(Snapshot(float(t), PLACES, u) for t, u in zip(TIMES, told, strict=True))
    return made, offsets, shifts


@pytest.fixture(scope="module")
def learned():
    data, offsets, shifts = recording(3, OFFSET, AWAY)
    asked = hp.Sensors(offsets=True, position_error=AWAY)
    return hp.identify("u_t = D*u_xx", data, model="flow", sensors=asked), offsets, shifts


def test_columns_are_the_slopes_of_what_sensors_tell():
    """Differences of the rows in every error, gains too, around errors that are not 0."""
    asked = hp.Sensors(offsets=True, position_error=True, gains=True)
    equation = Equation.parse("u_t = D*u_xx", fields=("u",), coordinates=("x",))
    windows = gathered(equation, [recording(0)[0][:3]], sensors=asked)
    prior = Prior((("u", SquaredExponential()),), ("x",))
    prior, theta = with_groups(prior, np.log([1.0, 1.0, 1e-4]), windows)
    domain = domain_of(windows, prior, [Envelope.flat(1, 1)], np.array([[0.7]]), 1e-4)
    task = FlowTask.of(windows, prior, domain, theta, np.ones(1))
    assert not folds(task.seen, domain.features.count)
    rng = np.random.default_rng(0)
    parameters = np.concatenate([[TRUE_D], 0.05 * rng.standard_normal(3 * PLACES.size)])
    z = rng.standard_normal((1, domain.features.count))
    path = Path.through(windows.times, 0.1, 1e3)

    def swept(parameters):
        return sweep(domain.program, task.seen, domain.latent(z), jnp.asarray(parameters), path).data

    middle, h = swept(parameters), 1e-5
    for p in (0, 3, PLACES.size + 4, 2 * PLACES.size + 5):
        rows = []
        for sign in (1, -1):
            made = swept(parameters + sign * h * np.eye(parameters.size)[p])
            # y of the linear model is the values less what is told, and A z.
            rows.append(np.asarray(made.A[0] @ z[0] - made.y[0]))
        np.testing.assert_allclose(middle.B[0, :, p], (rows[0] - rows[1]) / (2 * h), rtol=1e-6, atol=1e-6)


def test_offsets_and_places_are_found_with_the_parameter(learned):
    fit, offsets, shifts = learned
    D = fit.parameters["D"]
    assert fit.status == "converged"
    assert abs(D.estimate - TRUE_D) < 3 * D.std < 0.1
    table = fit.sensors
    assert list(table["x"]) == pytest.approx(PLACES)
    # A common offset looks like a level of the field, and costs nothing there.
    scores = (table["u_offset"] - offsets) / table["u_offset_std"]
    assert np.sqrt(np.mean(scores**2)) < 2
    assert table["u_offset_std"].max() < OFFSET
    steep = np.abs(np.gradient(heat(PLACES, 0.0), PLACES)) > 0.3
    away = ((table["x_position"] - shifts) / table["x_position_std"])[steep]
    assert np.sqrt(np.mean(away**2)) < 2
    assert fit.noise_std == pytest.approx(NOISE, rel=0.35)
    assert "worth" in str(fit)


def test_residuals_are_left_by_what_the_sensors_tell(learned):
    """Not by the field at the places that they are said to be at: that is off by many deviations of the noise."""
    fit, _, _ = learned
    left = fit.residuals()["u"].to_numpy()
    assert np.sqrt(np.mean(left**2)) < 1.2 * fit.noise_std
    field = np.array(fit.history("u", TIMES, [PLACES[:, None]] * TIMES.size))
    recorded = np.array([snapshot["u"] for snapshot in fit.snapshots])
    assert np.sqrt(np.mean((recorded - field) ** 2)) > 3 * fit.noise_std
    shown = field_images(fit, "u")[2].values
    np.testing.assert_allclose(shown.ravel(), left, atol=1e-9)


def test_a_saved_result_still_knows_its_sensors(learned, tmp_path):
    fit, _, _ = learned
    fit.save(tmp_path / "fit.nc")
    again = hp.load(tmp_path / "fit.nc")
    np.testing.assert_allclose(again.sensors.to_numpy(), fit.sensors.to_numpy())
    assert str(again) == str(fit)
    one, other = (f.predict("u", PLACES, t=1.0) for f in (fit, again))
    np.testing.assert_allclose(one, other)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"offsets": -1.0}, "a standard deviation above 0"),
        ({"position_error": float("nan")}, "--position-error 0.05"),
    ],
)
def test_sizes_that_are_none_are_refused(asked, sentence):
    with pytest.raises(hp.ModelError, match=sentence):
        hp.Sensors(**asked)


def test_who_cannot_learn_them_says_so():
    data, _, _ = recording(0)
    asked = hp.Sensors(offsets=True)
    with pytest.raises(hp.ModelError, match="errors of sensors are learned by flow alone"):
        hp.identify("u_t = D*u_xx", data[:2], model="midpoint", sensors=asked)
    with pytest.raises(hp.ModelError, match=r"needed is what may be wrong with them"):
        hp.identify("u_t = D*u_xx", data, sensors={"offsets": True})
    with pytest.raises(hp.DataError, match="seen at the same place at 3 times"):
        hp.identify("u_t = D*u_xx", data[:2], model="flow", sensors=asked)


def test_places_are_not_moved_for_what_the_weather_did_before_the_first_profile():
    """Was 0.1090 ± 0.0040, `converged`, 3.5 deviations off: a prior with one length knows no first state like that."""
    fit = hp.identify(ice_twin.EQUATION, ice_twin.record(4, 14), model="flow", **ice_twin.MODELS["whole"])
    D = fit.parameters["D"]
    assert fit.status == "converged"
    assert abs(D.estimate - ice_twin.TRUTH) < 2 * D.std < 0.012
