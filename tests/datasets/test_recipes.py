"""The data sets themselves: what is in them, against exact solutions, and against the paper's recordings."""

import json

import numpy as np
import pytest
import scipy.io

from hiddenphysics import datasets
from hiddenphysics.equation import Equation
from hiddenphysics.simulate import simulate
from hiddenphysics.simulate.exact import (
    breather,
    burgers,
    fractional_heat_kernel,
    gaussian_pulse,
    heat_gaussian,
    two_solitons,
)
from hiddenphysics.snapshots import read


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    folder = tmp_path_factory.mktemp("datasets")
    return lambda name: datasets.load(name, folder=folder)


def test_every_name_has_a_truth_for_its_parameters():
    for name in datasets.names():
        recipe = datasets.entry(name)
        json.dumps(dict(recipe.settings))
        equation = Equation.parse(recipe.equation, coordinates=("x", "y") if "2d" in name else None)
        assert set(equation.parameters) == set(recipe.truth)


# ---- against exact solutions: these need nothing but this repository --------------------


def test_burgers_is_cole_and_hopf(load):
    data = load("burgers")
    assert data.u.shape == (101, 256)
    x = data.x.values
    # Further right the front reaches the edge of the box.
    for index in (0, 10, 20, 30):
        exact = burgers(gaussian_pulse, float(data.t[index]), x, 0.1, nodes=2001)
        inside = x < 6
        np.testing.assert_allclose(data.u.values[index, inside], exact[inside], atol=1e-6)


def test_kdv_is_two_solitons_up_to_the_tail_that_the_box_cuts(load):
    data = load("kdv")
    # The slow soliton starts ahead of the fast one, and is pushed on when that one passes.
    k = np.sqrt([1.0, 0.5])
    shift = 2 * np.log((k[0] + k[1]) / (k[0] - k[1])) / k[1]
    for index in (0, 100, 200):
        t = float(data.t[index])
        exact = two_solitons(t, data.x.values, speeds=(1.0, 0.5), centres=(-20.0, 5.0 - shift))
        np.testing.assert_allclose(data.u.values[index], exact, atol=5e-5)


def test_sine_gordon_is_the_breather(load):
    data = load("sine_gordon")
    for index in (0, 50, 200):
        exact = breather(float(data.t[index]), data.x.values, frequency=0.5)
        np.testing.assert_allclose(data.u.values[index], exact, atol=1e-6)
    assert read(data).fields == ("u",)


def test_random_motion_follows_its_equation(load):
    for name, exact in (
        ("brownian", lambda t, x: heat_gaussian(t, x, 0.5)),
        ("levy", lambda t, x: fractional_heat_kernel(t, x, np.sqrt(2))),
    ):
        data = load(name)
        assert data.u.shape == (5, 100)
        expected = np.stack([exact(t, data.x.values) for t in data.t.values])
        score = ((data.u - expected) / data.u_std).values
        assert np.sqrt(np.mean(score**2)) == pytest.approx(1, abs=0.15)
        assert np.abs(score).max() < 5


def test_the_equation_of_levy_can_be_read_and_moved(load):
    data = load("levy")
    assert Equation.parse(data.attrs["equation"]).parameters == ("alpha",)
    start = fractional_heat_kernel(0.02, np.linspace(-8, 8, 512, endpoint=False), np.sqrt(2))
    moved = simulate(
        data.attrs["equation"],
        {"u": start},
        box=(-8, 8),
        shape=512,
        times=[0.02, 0.05],
        parameters={"alpha": np.sqrt(2)},
    )
    exact = fractional_heat_kernel(0.05, moved.x.values, np.sqrt(2))
    np.testing.assert_allclose(moved.u[-1], exact, atol=1e-3 * exact.max())


def test_taylor_green_has_velocities_and_pressure(load):
    data = load("taylor_green")
    assert set(data.data_vars) == {"u", "v", "p"}
    assert data.u.dims == ("t", "x", "y")
    assert json.loads(data.attrs["truth"]) == {"a": 1.0, "b": 0.05}


def test_allen_cahn_separates_into_two_phases(load):
    data = load("allen_cahn")
    assert float(np.abs(data.u[-1]).max()) == pytest.approx(1, abs=1e-3)
    assert np.abs(data.u).max() < 1.001


# ---- against the paper's recordings, where they are present --------------------


def recording(shared, file, key):
    content = scipy.io.loadmat(shared(f"data/{file}.mat"))
    return content["x"].ravel(), content["tt" if "tt" in content else "t"].ravel(), content[key]


def distance(data, values, x, t, reference):
    """Largest difference at each time, over the recording's largest value; same points, same times."""
    np.testing.assert_allclose(data.x, x, atol=1e-12)
    np.testing.assert_allclose(data.t, t, atol=1e-12)
    return np.abs(values - reference).max(axis=1) / np.abs(reference).max()


def test_burgers_is_the_recording(load, shared):
    x, t, u = recording(shared, "burgers", "usol")
    data = load("burgers")
    assert distance(data, data.u.values, x, t, u.T).max() < 1e-6


def test_kdv_is_the_recording(load, shared):
    x, t, u = recording(shared, "kdv", "usol")
    data = load("kdv")
    assert distance(data, data.u.values, x, t, u.T).max() < 1e-4


def test_schrodinger_is_the_recording(load, shared):
    x, t, h = recording(shared, "nls", "usol")
    data = load("schrodinger")
    assert distance(data, data.h_re.values + 1j * data.h_im.values, x, t, h).max() < 3e-5


def test_kuramoto_sivashinsky_is_the_recording(load, shared):
    x, t, u = recording(shared, "kuramoto_sivishinky", "uu")
    data = load("kuramoto_sivashinsky")
    found = distance(data, data.u.values, x, t, u.T)
    assert found[t <= 20].max() < 1e-6
    assert found.max() < 1e-3
    late = t > 60
    assert data.u.values[late].std() == pytest.approx(u.T[late].std(), rel=1e-3)
