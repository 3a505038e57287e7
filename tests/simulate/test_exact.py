"""Exact solutions: each satisfies its equation, by derivatives taken with Fourier modes or differences."""

import numpy as np
import pytest
import scipy.stats

from hiddenphysics.simulate.exact import (
    breather,
    bright_soliton,
    burgers,
    fractional_heat_kernel,
    fractional_heat_peak,
    gaussian_pulse,
    heat_gaussian,
    soliton,
    taylor_green,
    two_solitons,
)

X = np.linspace(-40, 40, 1024, endpoint=False)


def derivative(u, order, length=80.0):
    k = 2 * np.pi * np.fft.fftfreq(u.shape[-1]) * u.shape[-1] / length
    found = np.fft.ifft((1j * k) ** order * np.fft.fft(u))
    return found if np.iscomplexobj(u) else found.real


def rate(f, t, h=1e-3):
    """∂ₜf by a difference of sixth order."""
    steps = zip((1, 2, 3), (45, -9, 1), strict=True)
    return sum(c * (f(t + n * h) - f(t - n * h)) for n, c in steps) / (60 * h)


@pytest.mark.parametrize(
    "u",
    [
        lambda t: soliton(t, X, speed=1.3, centre=-2.0),
        lambda t: two_solitons(t, X, speeds=(2.0, 0.7), centres=(-6.0, 1.0)),
    ],
    ids=["one", "two"],
)
@pytest.mark.parametrize("t", [0.0, 3.0])
def test_solitons_solve_kdv(u, t):
    now = u(t)
    np.testing.assert_allclose(rate(u, t) + 6 * now * derivative(now, 1), -derivative(now, 3), atol=1e-8)


def test_far_apart_two_solitons_are_one_and_one():
    both = two_solitons(0.0, X, speeds=(1.0, 0.5), centres=(-25.0, 15.0))
    # The one behind has been shifted back by the one ahead: log((k1 + k2)/(k1 - k2)) / k each way.
    k = np.sqrt([1.0, 0.5])
    shift = 2 * np.log((k[0] + k[1]) / (k[0] - k[1])) / k[1]
    alone = soliton(0.0, X, speed=1.0, centre=-25.0) + soliton(0.0, X, speed=0.5, centre=15.0 + shift)
    np.testing.assert_allclose(both, alone, atol=1e-7)


def test_bright_soliton_solves_schrodinger():
    def h(t):
        return bright_soliton(t, X, amplitude=1.4, speed=0.6, centre=-1.0)

    now = h(0.7)
    residual = 1j * rate(h, 0.7) + derivative(now, 2) / 2 + np.abs(now) ** 2 * now
    assert np.abs(residual).max() < 1e-9


def test_breather_solves_sine_gordon():
    h = 1e-3

    def u(t):
        return breather(t, X, frequency=0.6)

    second = (2 * u(1 + 3 * h) - 27 * u(1 + 2 * h) + 270 * u(1 + h) - 490 * u(1.0)) / (180 * h**2)
    second += (270 * u(1 - h) - 27 * u(1 - 2 * h) + 2 * u(1 - 3 * h)) / (180 * h**2)
    np.testing.assert_allclose(second - derivative(u(1.0), 2) + np.sin(u(1.0)), 0, atol=1e-7)
    np.testing.assert_allclose(rate(u, 0.0), 0, atol=1e-12)


def test_gaussian_solves_the_heat_equation():
    def u(t):
        return heat_gaussian(t, X, 0.7, width=1.0, mass=2.0)

    np.testing.assert_allclose(rate(u, 1.0), 0.7 * derivative(u(1.0), 2), atol=1e-11)
    assert np.sum(u(2.0)) * (X[1] - X[0]) == pytest.approx(2.0)


def test_cole_and_hopf_solve_burgers():
    x = np.linspace(-12, 12, 128, endpoint=False)

    def u(t):
        return burgers(gaussian_pulse, t, x, 0.5, speed=0.8, nodes=801)

    now = u(1.0)
    np.testing.assert_allclose(
        rate(u, 1.0) + 0.8 * now * derivative(now, 1, 24.0), 0.5 * derivative(now, 2, 24.0), atol=1e-8
    )
    np.testing.assert_array_equal(u(0), gaussian_pulse(x))


def test_vortices_solve_navier_and_stokes():
    axis = 2 * np.pi * np.arange(16) / 16
    x, y = np.meshgrid(axis, axis, indexing="ij")
    nu, drift, t = 0.1, 0.4, 0.3

    def along(u, axis):
        return np.moveaxis(derivative(np.moveaxis(u, axis, -1), 1, 2 * np.pi), -1, axis)

    u, v, p = taylor_green(t, x, y, nu, drift=drift)
    np.testing.assert_allclose(along(u, 0) + along(v, 1), 0, atol=1e-13)
    for index, w in enumerate((u, v)):
        change = rate(lambda t, i=index: taylor_green(t, x, y, nu, drift=drift)[i], t)
        curvature = along(along(w, 0), 0) + along(along(w, 1), 1)
        residual = change + u * along(w, 0) + v * along(w, 1) + along(p, index) - nu * curvature
        np.testing.assert_allclose(residual, 0, atol=1e-11)


def test_fractional_kernel_is_gauss_at_two_and_cauchy_at_one():
    x = np.linspace(-5, 5, 41)
    np.testing.assert_allclose(
        fractional_heat_kernel(0.6, x, 2.0, diffusivity=1.5), heat_gaussian(0.6, x, 1.5), atol=1e-13
    )
    np.testing.assert_allclose(
        fractional_heat_kernel(0.6, x, 1.0, diffusivity=1.5),
        scipy.stats.cauchy.pdf(x, scale=0.9),
        atol=1e-13,
    )


@pytest.mark.parametrize("alpha", [0.7, np.sqrt(2), 1.9])
def test_fractional_kernel_is_a_stable_density(alpha):
    x = np.array([0.0, 0.05, 0.4, 1.5, 12.0])
    width = 0.3 ** (1 / alpha)
    expected = scipy.stats.levy_stable.pdf(x, alpha, 0.0, scale=width)
    np.testing.assert_allclose(fractional_heat_kernel(0.3, x, alpha), expected, rtol=1e-6)
    assert fractional_heat_kernel(0.3, [0.0], alpha)[0] == pytest.approx(
        fractional_heat_peak(0.3, alpha), rel=1e-12
    )
