"""Fractional operators in the simulator: single modes, the stable density, limits, derivatives in the order."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import gamma, zeta

from hiddenphysics.errors import ModelError
from hiddenphysics.simulate import simulate
from hiddenphysics.simulate.exact import fractional_heat_kernel
from hiddenphysics.spectral import Motion

BOX = (0, 2 * np.pi)
HEAT = "u_t + c*frac_lap(u, alpha) = 0"


@pytest.mark.parametrize("alpha", [0.3, 1.0, np.sqrt(2), 2.0, 3.7])
def test_modes_decay_by_the_power_of_their_wavenumber(alpha):
    motion = Motion.of(HEAT, BOX, 16)
    (x,) = motion.grid.points()
    u = motion.advance((2 + np.cos(x) + np.sin(5 * x))[None], {"c": 0.3, "alpha": alpha}, 0.7, 1)
    decay = np.exp(-0.21 * np.array([1.0, 5.0]) ** alpha)
    np.testing.assert_allclose(u[0], 2 + decay[0] * np.cos(x) + decay[1] * np.sin(5 * x), atol=1e-14)


def test_in_two_dimensions_the_length_of_the_wavevector_counts():
    motion = Motion.of(HEAT, {"x": BOX, "y": BOX}, (12, 16))
    x, y = motion.grid.points()
    u = motion.advance(np.cos(3 * x - 4 * y)[None], {"c": 0.3, "alpha": 1.2}, 0.5, 1)
    np.testing.assert_allclose(u[0], np.exp(-0.15 * 5**1.2) * np.cos(3 * x - 4 * y), atol=1e-14)


def test_the_stable_density_spreads():
    """The box is periodic, the density is not: images of the kernel add up, the far ones by their tail.

    For |x| → ∞ the density is A t |x|^{−1−α} with A = D Γ(1 + α) sin(πα/2)/π; Nolan (2020).
    """
    alpha, length, near = np.sqrt(2), 40.0, 2
    tail = 0.5 * gamma(1 + alpha) * np.sin(np.pi * alpha / 2) / np.pi / length ** (1 + alpha)

    def periodic(t, x):
        images = [x + n * length for n in range(-near, near + 1)]
        return sum(
            fractional_heat_kernel(t, image, alpha, diffusivity=0.5) for image in images
        ) + 2 * tail * t * zeta(1 + alpha, near + 1)

    data = simulate(
        HEAT,
        {"u": lambda x: periodic(1.0, x)},
        box=(-length / 2, length / 2),
        shape=256,
        times=[1, 2, 3],
        parameters={"c": 0.5, "alpha": alpha},
    )
    for t, u in zip(data.t.values, data.u.values, strict=True):
        exact = periodic(t, data.x.values)
        np.testing.assert_allclose(u, exact, atol=1e-5 * exact.max())


@pytest.mark.parametrize("text", ["u_t + c*frac_lap(u, 2) = 0", HEAT])
def test_order_two_is_the_heat_equation(text):
    heat, fractional = Motion.of("u_t - c*u_xx = 0", BOX, 32), Motion.of(text, BOX, 32)
    start = np.random.default_rng(0).standard_normal((1, 32))
    found = fractional.advance(start, {"c": 0.1, "alpha": 2.0}, 0.5, 1)
    np.testing.assert_allclose(found, heat.advance(start, {"c": 0.1}, 0.5, 1), atol=1e-14)


@pytest.mark.parametrize("text", ["u_t + c*D(u, x, 1) = 0", "u_t + c*D(u, x, alpha) = 0"])
def test_order_one_advects(text):
    motion = Motion.of(text, BOX, 32)
    (x,) = motion.grid.points()
    u = motion.advance(np.exp(np.sin(x))[None], {"c": 2.0, "alpha": 1.0}, 0.4, 1)
    np.testing.assert_allclose(u[0], np.exp(np.sin(x - 0.8)), atol=1e-12)


def test_the_derivative_of_order_1_7_moves_and_damps_modes():
    motion = Motion.of("u_t - c*D(u, x, 1.7) = 0", BOX, 32)
    (x,) = motion.grid.points()
    u = motion.advance((1 + np.cos(2 * x) + np.sin(7 * x))[None], {"c": 0.2}, 0.6, 1)
    two, seven = (np.exp(0.12 * (1j * k) ** 1.7 + 1j * k * x) for k in (2, 7))
    np.testing.assert_allclose(u[0], 1 + two.real + seven.imag, atol=1e-13)


def test_along_a_coordinate_that_keeps_negative_wavenumbers():
    motion = Motion.of("u_t - c*D(u, x, 1.7) = 0", {"x": BOX, "y": BOX}, (16, 12))
    x, y = motion.grid.points()
    u = motion.advance(np.cos(3 * x - 2 * y)[None], {"c": 0.2}, 0.6, 1)
    wave = np.exp(0.12 * (3j) ** 1.7 + 1j * (3 * x - 2 * y))
    np.testing.assert_allclose(u[0], wave.real, atol=1e-13)


def test_orders_add():
    """D^a D^b = D^{a+b}, and frac_lap is the part of D that is even in k."""
    flows = [Motion.of(f"u_t - D(u, x, {order}) = 0", BOX, 16) for order in ("0.6", "1.1", "1.7")]
    one, two, both = (motion.symbol({}) for motion in flows)
    np.testing.assert_allclose(one * two, both, rtol=1e-13)
    even = Motion.of("u_t - frac_lap(u, 1.7) = 0", BOX, 16).symbol({})
    np.testing.assert_allclose(both.real, np.cos(0.85 * np.pi) * even.real, rtol=1e-13)


def test_order_zero_is_the_field_for_numbers_and_for_parameters():
    motion = Motion.of("u_t - frac_lap(u, a) - D(u, x, a) = 0", BOX, 8)
    np.testing.assert_allclose(motion.symbol({"a": 0.0}), 2.0)
    np.testing.assert_allclose(Motion.of("u_t - frac_lap(u, 0) = 0", BOX, 8).symbol({}), 1.0)


def test_products_are_evaluated_at_points():
    motion = Motion.of("u_t + u*frac_lap(u, a) + u_x*D(u, x, b) = 0", BOX, 32)
    (x,) = motion.grid.points()
    modes = motion.grid.to_modes((np.cos(2 * x) + np.sin(5 * x))[None])
    rate = motion.grid.to_fields(motion.rate(modes, {"a": 1.3, "b": 0.4}))
    u, u_x = np.cos(2 * x) + np.sin(5 * x), -2 * np.sin(2 * x) + 5 * np.cos(5 * x)
    lap = 2**1.3 * np.cos(2 * x) + 5**1.3 * np.sin(5 * x)
    D = ((2j) ** 0.4 * np.exp(2j * x)).real + ((5j) ** 0.4 * np.exp(5j * x)).imag
    np.testing.assert_allclose(rate[0], -u * lap - u_x * D, atol=1e-12)


def test_the_fractional_schroedinger_equation_keeps_the_norm():
    motion = Motion.of("i*h_t = frac_lap(h, s)", BOX, 32)
    (x,) = motion.grid.points()
    re, im = motion.advance(jnp.stack([np.cos(3 * x), np.sin(3 * x)]), {"s": 1.5}, 2.0, 1)
    np.testing.assert_allclose(re + 1j * im, np.exp(3j * x - 2j * 3**1.5), atol=1e-12)


def test_of_second_order_in_time():
    motion = Motion.of("u_tt + frac_lap(u, s) = 0", BOX, 32)
    (x,) = motion.grid.points()
    u, _ = motion.advance(jnp.stack([np.cos(3 * x), 0 * x]), {"s": 1.5}, 2.0, 1)
    np.testing.assert_allclose(u, np.cos(2 * 3**0.75) * np.cos(3 * x), atol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        HEAT,
        "u_t - c*D(u, x, alpha) = 0",
        "u_t + c*u*frac_lap(u, alpha) - u_xx = 0",
        "u_t + c*u*D(u, x, 2*alpha/3) - u_xx = 0",
    ],
)
def test_derivatives_in_the_order(text):
    motion = Motion.of(text, BOX, 16)
    (x,) = motion.grid.points()
    start = (0.5 + np.cos(x) + np.sin(3 * x))[None]

    @jax.jit
    def moved(alpha):
        return motion.advance(start, {"c": 0.2, "alpha": alpha}, 0.5, 8)

    _, slope = jax.jvp(moved, (1.4,), (1.0,))
    h = 1e-6
    np.testing.assert_allclose(slope, (moved(1.4 + h) - moved(1.4 - h)) / (2 * h), atol=1e-8)
    weights = np.random.default_rng(0).standard_normal(start.shape)
    (back,) = jax.vjp(moved, 1.4)[1](jnp.asarray(weights))
    np.testing.assert_allclose(back, np.vdot(weights, slope), rtol=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.4])
@pytest.mark.parametrize("text", ["u_t - frac_lap(u, alpha) = 0", "u_t - D(u, x, alpha) = 0"])
def test_the_symbol_at_zero_wavenumber_does_not_move_with_the_order(text, alpha):
    motion = Motion.of(text, BOX, 16)
    slope = jax.jacfwd(lambda a: motion.symbol({"alpha": a}))(alpha)
    assert slope[0, 0] == 0
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("alpha", [-0.5, 12.5])
def test_orders_out_of_range_are_refused(alpha):
    with pytest.raises(ModelError, match=rf"order alpha of .* on u is {alpha:g} .* from 0 to 12"):
        simulate(HEAT, {"u": np.cos}, box=BOX, shape=16, times=[0, 1], parameters={"c": 1, "alpha": alpha})


def test_a_fractional_laplacian_of_the_wrong_sign_is_refused():
    with pytest.raises(ModelError, match="ill-posed forward in time"):
        simulate(HEAT, {"u": np.cos}, box=BOX, shape=128, times=[0, 1], parameters={"c": -1, "alpha": 1.5})
