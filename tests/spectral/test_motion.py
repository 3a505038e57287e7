"""The motion: orders, limits, special cases."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.simulate.exact import breather, bright_soliton, burgers, gaussian_pulse, soliton
from hiddenphysics.spectral import Motion

BURGERS = "u_t + a*u*u_x - b*u_xx = 0"
PULSE = {"a": 1.0, "b": 0.1}


@partial(jax.jit, static_argnums=0)
def advance(motion, modes, parameters, duration, steps):
    """Steps counted at run time, so that one compilation serves them all."""
    by = motion.weights(parameters, duration / steps)
    return jax.lax.fori_loop(0, steps, lambda i, now: motion.step(now, parameters, by, i * by.dt), modes)


def order(motion, fields, parameters, duration, steps):
    """Slope of the error over the step, between `steps` and `2 steps`, with `16 steps` as the truth."""
    modes = motion.grid.to_modes(fields)
    coarse, fine, truth = (advance(motion, modes, parameters, duration, n * steps) for n in (1, 2, 16))
    error, half = (jnp.max(jnp.abs(motion.grid.to_fields(found - truth))) for found in (coarse, fine))
    return float(jnp.log2(error / half))


@pytest.mark.parametrize(
    ("text", "box", "shape", "start", "parameters", "duration", "steps"),
    [
        (BURGERS, (-8, 8), 128, [gaussian_pulse], PULSE, 1.0, 16),
        (
            "u_t + a*u*u_x + b*u_xxx = 0",
            (-20, 20),
            128,
            [lambda x: soliton(0.0, x, speed=1.0)],
            {"a": 6.0, "b": 1.0},
            1.0,
            64,
        ),
        (
            "u_t + u*u_x + u_xx + u_xxxx = 0",
            (0, 32 * np.pi),
            128,
            [lambda x: np.cos(x / 16) * (1 + np.sin(x / 16))],
            {},
            4.0,
            16,
        ),
        (
            "i*h_t + a*h_xx + b*abs(h)^2*h = 0",
            (-15, 15),
            128,
            [lambda x: 1 / np.cosh(x), np.zeros_like],
            {"a": 0.5, "b": 1.0},
            1.0,
            16,
        ),
        (
            "u_tt - u_xx + b*sin(a*u) = 0",
            (-20, 20),
            128,
            [lambda x: breather(0.0, x), np.zeros_like],
            {"a": 1.0, "b": 1.0},
            1.0,
            8,
        ),
        (
            "u_t - u_xx + u^2 - f*cos(w*t)*sin(x) = 0",
            (0, 2 * np.pi),
            32,
            [np.sin],
            {"f": 2.0, "w": 3.0},
            1.0,
            16,
        ),
    ],
    ids=["burgers", "kdv", "ks", "nls", "sine-gordon", "forced"],
)
def test_measured_order_is_four(text, box, shape, start, parameters, duration, steps):
    motion = Motion.of(text, box, shape)
    (x,) = motion.grid.points()
    fields = jnp.stack([jnp.asarray(f(x)) for f in start])
    assert order(motion, fields, parameters, duration, steps) == pytest.approx(4, abs=0.15)


def test_error_falls_faster_than_any_power_of_the_number_of_points():
    errors = []
    for shape in (32, 64, 128):
        motion = Motion.of(BURGERS, (-8, 8), shape)
        (x,) = motion.grid.points()
        u = motion.advance(gaussian_pulse(x)[None], PULSE, 2.0, 200)
        errors.append(np.abs(u[0] - burgers(gaussian_pulse, 2.0, x, 0.1)).max())
    assert errors[0] / errors[1] > 30
    assert errors[1] / errors[2] > 1000
    assert errors[2] < 1e-8


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("u_t + a*u*u_x - 2*u_xx = 0", lambda k: -2 * k**2),
        ("u_t + a*u*u_x + 3*u_xxx = 0", lambda k: 3j * k**3),
        ("u_t + a*u^3 + u_xx + u_xxxx - u_x + u = 0", lambda k: k**2 - k**4 + 1j * k - 1),
    ],
)
def test_without_its_nonlinear_term_one_step_is_exact(text, symbol):
    motion = Motion.of(text, (0, 2 * np.pi), 16)
    (x,) = motion.grid.points()
    u = motion.advance(np.cos(3 * x)[None], {"a": 0.0}, 0.7, 1)
    expected = (np.exp(3j * x) * np.exp(0.7 * symbol(3))).real
    np.testing.assert_allclose(u[0], expected, atol=1e-13)


def test_the_wave_equation_is_exact_for_any_step():
    motion = Motion.of("u_tt - c^2*u_xx = 0", (0, 2 * np.pi), 32)
    (x,) = motion.grid.points()
    start = jnp.stack([jnp.cos(5 * x) + 0.5, jnp.sin(2 * x) + 0.25])
    u, rate = motion.advance(start, {"c": 3.0}, 10.0, 1)
    np.testing.assert_allclose(
        u, np.cos(5 * x) * np.cos(150.0) + 0.5 + np.sin(2 * x) * np.sin(60.0) / 6 + 2.5, atol=1e-11
    )
    np.testing.assert_allclose(
        rate, -15 * np.cos(5 * x) * np.sin(150.0) + np.sin(2 * x) * np.cos(60.0) + 0.25, atol=1e-10
    )


def test_matrices_give_what_numbers_give():
    text = "u_t - a*u_xx + u*v_x = 0; v_t - 0.3*v_xx + v_xxx - u^2 = 0"
    results = []
    for coupled in (False, True):
        motion = Motion.of(text, (0, 2 * np.pi), 32, coupled=coupled)
        (x,) = motion.grid.points()
        results.append(motion.advance(jnp.stack([jnp.sin(x), jnp.cos(2 * x)]), {"a": 0.2}, 0.5, 20))
    assert motion.coupled
    np.testing.assert_allclose(results[0], results[1], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("shape", "sides"), [((32, 6), "xy"), ((32, 6, 5), "xyz")])
def test_a_field_that_varies_along_x_only_moves_as_in_one_dimension(shape, sides):
    line = Motion.of(BURGERS, (-8, 8), 32)
    (x,) = line.grid.points()
    u = line.advance(gaussian_pulse(x)[None], PULSE, 1.0, 20)
    text = "u_t + a*u*u_x - b*lap(u) = 0"
    space = Motion.of(text, dict.fromkeys(sides, (-8, 8)), shape)
    start = gaussian_pulse(space.grid.points()[0])
    wide = space.advance(start[None], PULSE, 1.0, 20)
    extra = (None,) * (len(shape) - 1)
    np.testing.assert_allclose(wide[0], np.broadcast_to(u[0][(..., *extra)], shape), atol=1e-13)


def test_x_and_y_can_be_exchanged():
    motion = Motion.of("u_t + a*(u*u_x + u*u_y) - b*lap(u) = 0", {"x": (0, 1), "y": (0, 1)}, (12, 12))
    u = np.random.default_rng(0).standard_normal((1, 12, 12))
    there = motion.advance(u, PULSE, 0.05, 10)
    turned = motion.advance(u.transpose(0, 2, 1), PULSE, 0.05, 10)
    np.testing.assert_allclose(there, turned.transpose(0, 2, 1), atol=1e-13)


def test_rate_is_the_derivative_of_the_flow():
    motion = Motion.of("i*h_t + a*h_xx + b*abs(h)^2*h = 0", (-15, 15), 64)
    (x,) = motion.grid.points()
    h = bright_soliton(0.0, x, speed=0.3)
    modes = motion.grid.to_modes(jnp.stack([h.real, h.imag]))
    parameters = {"a": 0.5, "b": 1.0}
    later, before = (motion.run(modes, parameters, t, 1) for t in (1e-4, -1e-4))
    np.testing.assert_allclose(motion.rate(modes, parameters), (later - before) / 2e-4, atol=1e-7)
