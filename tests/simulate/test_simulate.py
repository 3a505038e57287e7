"""The verb: tolerances, layouts, refusals."""

import json

import numpy as np
import pytest
import xarray as xr

from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.simulate import simulate
from hiddenphysics.simulate.exact import breather, bright_soliton, burgers, gaussian_pulse, soliton
from hiddenphysics.snapshots import read

PULSE = {"u": gaussian_pulse}
BURGERS = "u_t + a*u*u_x - b*u_xx = 0"


@pytest.mark.parametrize("tolerance", [1e-4, 1e-7, 1e-10])
def test_the_tolerance_is_met(tolerance):
    data = simulate(
        "u_t + a*u*u_x + b*u_xxx = 0",
        {"u": lambda x: soliton(0.0, x, speed=2.0)},
        box=(-24, 24),
        shape=256,
        times=[0, 0.5, 2],
        parameters={"a": 6, "b": 1},
        tolerance=tolerance,
    )
    for t, u in zip(data.t.values, data.u.values, strict=True):
        exact = soliton(t, data.x.values, speed=2.0)
        assert np.abs(u - exact).max() < tolerance


def test_burgers_against_cole_and_hopf():
    data = simulate(
        BURGERS,
        PULSE,
        box=(-8, 8),
        shape=256,
        times=[0, 0.5, 1.5],
        parameters={"a": 1, "b": 0.1},
        tolerance=1e-9,
    )
    for t, u in zip(data.t.values, data.u.values, strict=True):
        exact = burgers(gaussian_pulse, t, data.x.values, 0.1)
        np.testing.assert_allclose(u, exact, atol=2e-9)
    assert data.attrs["equation"] == BURGERS
    assert json.loads(data.attrs["parameters"]) == {"a": 1.0, "b": 0.1}
    assert data.attrs["spectral_tail"] < 1e-10
    assert read(data).fields == ("u",)


def test_complex_fields_go_in_whole_and_come_out_in_parts():
    data = simulate(
        "i*h_t + a*h_xx + b*abs(h)^2*h = 0",
        {"h": lambda x: bright_soliton(0.0, x, amplitude=1.5, speed=0.8)},
        box=(-16, 16),
        shape=256,
        times=[0, 1],
        parameters={"a": 0.5, "b": 1},
        tolerance=1e-7,
    )
    exact = bright_soliton(1.0, data.x.values, amplitude=1.5, speed=0.8)
    assert np.abs(data.h_re[1].values + 1j * data.h_im[1].values - exact).max() < 1e-6
    assert read(data).complex_fields == ("h",)


def test_second_order_in_time():
    data = simulate(
        "u_tt - u_xx + b*sin(a*u) = 0",
        {"u": lambda x: breather(0.0, x), "u_t": 0.0},
        box=(-20, 20),
        shape=192,
        times=[0, 3],
        parameters={"a": 1, "b": 1},
        tolerance=1e-7,
    )
    assert list(data.data_vars) == ["u"]
    np.testing.assert_allclose(data.u[1], breather(3.0, data.x.values), atol=1e-6)


def test_a_system_in_two_dimensions_against_its_plane_waves():
    """u + iv = R exp(i(k·x − bR²t)), R² = 1 − a|k|²: Kopell & Howard (1973)."""
    a, b, k = 0.1, 0.7, np.array([2.0, 1.0])
    radius = np.sqrt(1 - a * k @ k)

    def wave(t, x, y):
        return radius * np.exp(1j * (k[0] * x + k[1] * y - b * radius**2 * t))

    data = simulate(
        "u_t = a*lap(u) + (1 - u^2 - v^2)*u + b*(u^2 + v^2)*v;"
        " v_t = a*lap(v) - b*(u^2 + v^2)*u + (1 - u^2 - v^2)*v",
        {"u": lambda x, y: wave(0, x, y).real, "v": lambda x, y: wave(0, x, y).imag},
        box={"x": (0, 2 * np.pi), "y": (0, 2 * np.pi)},
        shape=12,
        times=[0, 2],
        parameters={"a": a, "b": b},
    )
    exact = wave(2.0, *np.meshgrid(data.x, data.y, indexing="ij"))
    np.testing.assert_allclose(data.u[1] + 1j * data.v[1], exact, atol=1e-8)


def test_axes_are_named_and_ordered():
    data = simulate(
        "u_t - b*lap(u) = 0",
        {"u": lambda x, y: np.cos(x) * np.cos(2 * y)},
        box={"x": (0, 2 * np.pi), "y": (-np.pi, np.pi)},
        shape={"x": 8, "y": 10},
        times=[1.0, 1.5],
        parameters={"b": 0.2},
    )
    assert data.u.dims == ("t", "x", "y")
    expected = np.cos(data.x) * np.cos(2 * data.y) * np.exp(-0.2 * 5 * 0.5)
    xr.testing.assert_allclose(data.u[1].drop_vars("t"), expected.transpose("x", "y"))


def test_progress_is_told():
    told = []
    simulate(
        "u_t - u_xx = 0", {"u": np.cos}, box=(0, 2 * np.pi), shape=8, times=[0, 1, 2, 3], progress=told.append
    )
    assert told == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(
    ("text", "parameters", "end", "message"),
    [
        ("u_t - b*u_xx = 0", {"b": -0.1}, 10.0, "ill-posed forward in time"),
        ("u_t - 1.5*u^2 = 0", {}, 1.0, "blows up"),
        ("u_t + u_xx - u_xxxx = 0", {}, 1.0, "ill-posed"),
        ("u_tt + u_xx = 0", {}, 10.0, "ill-posed"),
    ],
)
def test_what_has_no_future_is_refused(text, parameters, end, message):
    initial = {"u": gaussian_pulse, "u_t": gaussian_pulse} if "u_tt" in text else PULSE
    with pytest.raises(ModelError, match=message):
        simulate(text, initial, box=(-8, 8), shape=64, times=[0, end], parameters=parameters)


def test_a_growing_but_well_posed_equation_is_not_refused():
    data = simulate(
        "u_t - r*u - 0.01*u_xx = 0",
        {"u": lambda x: 1e-30 + 0 * x},
        box=(0, 1),
        shape=16,
        times=[0, 60],
        parameters={"r": 1},
    )
    np.testing.assert_allclose(data.u[1], 1e-30 * np.exp(60.0), rtol=1e-10)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"initial": {"v": np.cos}}, DataError, "needs exactly these"),
        ({"initial": {"u": np.zeros(7)}}, DataError, r"shape \(7,\)"),
        ({"initial": {"u": np.full(32, np.nan)}}, DataError, "32 values that are not finite"),
        ({"initial": {"u": np.full(32, 1j)}}, DataError, "complex"),
        ({"box": (8, -8)}, ModelError, "smaller one first"),
        ({"box": {"y": (0, 1)}}, Exception, "along x"),
        ({"box": 3 * (1.0,)}, ModelError, "two ends"),
        ({"shape": 2}, ModelError, "at least 4"),
        ({"shape": {"y": 32}}, ModelError, "whole numbers of points"),
        ({"times": [0, 1, 1]}, DataError, "increase"),
        ({"parameters": {"a": 1.0}}, ModelError, "parameter b is missing"),
        ({"parameters": {"a": 1.0, "b": np.nan}}, ModelError, "parameter b is nan"),
        ({"parameters": {"a": 1.0, "b": 1.0, "c": 2.0}}, ModelError, "its parameters are a, b"),
        ({"tolerance": 1e-15}, ModelError, "rounding"),
    ],
)
def test_wrong_requests_are_answered_with_a_sentence(change, error, message):
    request = {
        "initial": PULSE,
        "box": (-8, 8),
        "shape": 32,
        "times": [0, 1],
        "parameters": {"a": 1.0, "b": 0.1},
    }
    with pytest.raises(error, match=message):
        simulate(BURGERS, **(request | change))
