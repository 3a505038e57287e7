"""Constraints wavenumber by wavenumber: exact flows, one form against another, measured order, and refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.simulate import simulate
from hiddenphysics.spectral import Motion

PLANE = {"x": (0.0, 2 * np.pi), "y": (0.0, 2 * np.pi)}
MOMENTUM = "u_t + a*(u*u_x + v*u_y) + p_x - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) + p_y - b*lap(v) = 0; "
NAVIER_STOKES = MOMENTUM + "u_x + v_y = 0"
VORTICITY = "w_t + a*(psi_y*w_x - psi_x*w_y) - b*lap(w) = 0; lap(psi) = -w"
NUMBERS = {"a": 1.0, "b": 0.05}


def taylor_green(t, x, y, b, drift=(0.3, -0.2)):
    """Velocity and pressure of Taylor's vortices, carried along by a mean flow; Taylor (1923)."""
    x, y = x - drift[0] * t, y - drift[1] * t
    fade = np.exp(-2 * b * t)
    u = drift[0] + np.cos(x) * np.sin(y) * fade
    v = drift[1] - np.sin(x) * np.cos(y) * fade
    return u, v, -0.25 * (np.cos(2 * x) + np.cos(2 * y)) * fade**2


@pytest.mark.parametrize("tie", ["u_x + v_y = 0", "u = psi_y; v = -psi_x"])
def test_taylors_vortices_with_their_pressure(tie):
    start = {
        "u": lambda x, y: taylor_green(0, x, y, 0.05)[0],
        "v": lambda x, y: taylor_green(0, x, y, 0.05)[1],
    }
    data = simulate(MOMENTUM + tie, start, box=PLANE, shape=16, times=[0, 1], parameters=NUMBERS)
    x, y = np.meshgrid(data.x, data.y, indexing="ij")
    for name, exact in zip("uvp", taylor_green(1.0, x, y, 0.05), strict=True):
        np.testing.assert_allclose(data[name][1], exact, atol=1e-7)
    np.testing.assert_allclose(data.p[0], taylor_green(0.0, x, y, 0.05)[2], atol=1e-12)
    if "psi" in tie:
        np.testing.assert_allclose(data.psi[0], -np.cos(x) * np.cos(y), atol=1e-12)


def test_velocity_and_pressure_move_as_vorticity_and_stream_function_do():
    rng = np.random.default_rng(3)
    plane = Motion.of(VORTICITY, PLANE, 16)
    kx, ky = plane.grid.wavenumbers
    few = (np.abs(kx) < 4) & (np.abs(ky) < 4) & (kx**2 + ky**2 > 0)
    w = plane.grid.to_modes(jnp.asarray(rng.standard_normal((1, 16, 16)))) * few
    (psi,) = jax.jit(plane.idle)(w, NUMBERS)
    flow = Motion.of(NAVIER_STOKES, PLANE, 16)
    rate = jax.jit(flow.rate)(jnp.stack([1j * ky * psi, -1j * kx * psi]), NUMBERS)
    curl = 1j * kx * rate[1] - 1j * ky * rate[0]
    assert np.abs(curl).max() > 0.05
    np.testing.assert_allclose(curl, jax.jit(plane.rate)(w, NUMBERS)[0], atol=1e-12)
    np.testing.assert_allclose(kx * rate[0] + ky * rate[1], 0, atol=1e-13)
    text = "lap(psi)_t + a*(psi_y*lap(psi)_x - psi_x*lap(psi)_y) - b*lap(lap(psi)) = 0"
    stream = Motion.of(text, PLANE, 16)
    np.testing.assert_allclose(
        (kx**2 + ky**2) * jax.jit(stream.rate)(psi[None], NUMBERS)[0], curl, atol=1e-12
    )


def test_a_flow_without_sources_is_carried_by_few_transforms():
    """Of ∂_x u², ∂_x uv, ∂_y uv and ∂_y v²: two fields, three products, instead of six atoms and two sums."""
    system = Equation.parse(NAVIER_STOKES).system
    assert {str(atom) for atom in system.flux_atoms} == {"u(t, x, y)", "v(t, x, y)"}
    assert len({flux.inside for row in system.fluxes for flux in row}) == 3


def bbm_soliton(t, x, speed=2.0):
    """u_t + u_x + u u_x − u_xxt = 0; Benjamin, Bona & Mahony (1972)."""
    width = 0.5 * np.sqrt((speed - 1) / speed)
    return 3 * (speed - 1) / np.cosh(width * (x - speed * t)) ** 2


def test_the_soliton_of_benjamin_bona_and_mahony():
    text = "u_t + a*u_x + u*u_x - c*u_xxt = 0"
    data = simulate(
        text, {"u": lambda x: bbm_soliton(0, x)}, box=(-40, 40), shape=192, times=[0, 2],
        parameters={"a": 1.0, "c": 1.0}, tolerance=1e-7,
    )  # fmt: skip
    np.testing.assert_allclose(data.u[1], bbm_soliton(2.0, data.x.values), atol=3e-6)


def test_camassa_and_holm_typed_in_three_ways():
    """With u_xxt, with the momentum m and its inverse, and with that solved for: the same waves."""
    x = np.arange(32) * 2 * np.pi / 32
    u = 1 + 0.3 * np.cos(x) + 0.1 * np.sin(2 * x)
    k = np.fft.rfftfreq(32, 1 / 32)
    m = np.fft.irfft(np.fft.rfft(u) * (1 + k**2))
    run = {"box": (0, 2 * np.pi), "shape": 32, "times": [0, 0.2], "tolerance": 1e-9}
    direct = simulate("u_t - u_xxt + 3*u*u_x - 2*u_x*u_xx - u*u_xxx = 0", {"u": u}, **run)
    defined = simulate("m_t + u*m_x + 2*m*u_x = 0; m = u - u_xx", {"m": m}, **run)
    np.testing.assert_allclose(defined.u, direct.u, atol=2e-8)
    assert float(np.abs(direct.u[1] - direct.u[0]).max()) > 0.05
    slopes = np.fft.irfft(1j * k * np.fft.rfft(direct.u), axis=1)
    energy = np.mean(direct.u**2 + slopes**2, axis=1)
    np.testing.assert_allclose(energy[1], energy[0], rtol=1e-8)
    solved = Motion.of("m_t + u*m_x + 2*m*u_x = 0; u - c*u_xx = m", (0, 2 * np.pi), 32)
    modes = solved.grid.to_modes(jnp.asarray(m)[None])
    np.testing.assert_allclose(
        solved.grid.to_fields(jax.jit(solved.idle)(modes, {"c": 1.0}))[0], u, atol=1e-12
    )


@pytest.mark.parametrize(
    ("text", "box", "numbers"),
    [
        (NAVIER_STOKES, PLANE, NUMBERS),
        ("u_t + u_x + u*u_x - c*u_xxt = 0", (0, 2 * np.pi), {"c": 0.5}),
    ],
)
def test_the_order_is_four(text, box, numbers):
    motion = Motion.of(text, box, 16)
    rng = np.random.default_rng(0)
    modes = motion.grid.to_modes(jnp.asarray(rng.standard_normal((len(motion.state), *motion.grid.shape))))
    few = np.all(np.broadcast_arrays(*(np.abs(k) < 4 for k in motion.grid.wavenumbers)), axis=0)
    modes = jax.jit(motion.allowed)(modes * few, numbers)

    @jax.jit
    def moved(steps):
        by = motion.weights(numbers, 1.0 / steps)
        return jax.lax.fori_loop(0, steps, lambda i, now: motion.step(now, numbers, by), modes)

    truth, coarse, fine = map(moved, (320, 10, 20))
    order = np.log2(jnp.abs(coarse - truth).max() / jnp.abs(fine - truth).max())
    assert 3.7 < order < 4.6


def test_derivatives_in_a_number_that_stands_in_a_constraint():
    motion = Motion.of("u_t + w*u_x = 0; w - c*w_xx = u", (0, 2 * np.pi), 16)
    (x,) = motion.grid.points()
    u = jnp.asarray(np.cos(x) + 0.2 * np.sin(2 * x))[None]

    def late(c):
        return motion.advance(u, {"c": c}, 0.5, 8)

    slope = jax.jit(lambda c: jax.jvp(late, (c,), (1.0,))[1])(0.3)
    np.testing.assert_allclose(slope, (late(0.3 + 1e-5) - late(0.3 - 1e-5)) / 2e-5, atol=1e-8)


def test_a_vector_potential_keeps_a_volume_free_of_sources():
    """Beltrami's flow, ∇ × u = u: it decays like e^{−b t}, whatever carries it; its pressure is −|u|²/2."""
    rows = [
        f"{c}_t + u*{c}_x + v*{c}_y + w*{c}_z + p_{axis} - b*lap({c}) = 0"
        for c, axis in zip("uvw", "xyz", strict=True)
    ]
    text = "; ".join([*rows, "u = e_y - d_z; v = c_z - e_x; w = d_x - c_y"])
    abc = {
        "u": lambda x, y, z: np.sin(z) + np.cos(y),
        "v": lambda x, y, z: np.sin(x) + np.cos(z),
        "w": lambda x, y, z: np.sin(y) + np.cos(x),
    }
    motion = Motion.of(text, dict.fromkeys("xyz", (0, 2 * np.pi)), 8)
    fields = np.stack([abc[name](*motion.grid.points()) for name in "uvw"])
    modes = motion.grid.to_modes(jnp.asarray(fields))
    rate, idle = jax.jit(lambda z: (motion.rate(z, {"b": 0.1}), motion.idle(z, {"b": 0.1})))(modes)
    np.testing.assert_allclose(rate, -0.1 * modes, atol=1e-13)
    squares = 0.5 * np.sum(fields**2, axis=0)
    pressure = motion.grid.to_fields(idle)[motion.idle_fields.index("p")]
    np.testing.assert_allclose(pressure, squares.mean() - squares, atol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("u_t + p_x = 0", "no time derivative of p, and no statement that p could keep.*u_x \\+ v_y = 0"),
        ("u_t - u_xx = 0; v_t - v_yy = 0; u_x + v_y = 0", "over-determined.*gradient of a pressure"),
        (NAVIER_STOKES + "; u_y = 0", "only p could keep it: the system is over-determined"),
        (
            "u_t + u*u_x + u*p_x = 0; v_t + p_y = 0; u_x + v_y = 0",
            "p .* must enter linearly and with constant coefficients, which it does not in the equation of u",
        ),
        ("u_t + p_y = 0; v_t - p_x = 0; u_x + v_y = 0", "singular, whatever the wavenumber"),
        (
            "u_t + c*u_x = 0; v_t + u*v_x = 0; u = c_y - d_x",
            "leave c open, and the evolution equations need it",
        ),
    ],
)
def test_what_cannot_be_projected_is_refused(text, message):
    with pytest.raises(ModelError, match=message):
        Motion.of(text, PLANE, 8)


def test_an_initial_state_that_contradicts_the_constraint_is_refused():
    start = {"u": lambda x, y: np.cos(x), "v": lambda x, y: np.zeros_like(x)}
    with pytest.raises(DataError, match=r"does not satisfy u_x \+ v_y = 0: .* differs by 1 of its size"):
        simulate(NAVIER_STOKES, start, box=PLANE, shape=8, times=[0, 1], parameters=NUMBERS)


def test_models_of_one_gap_say_what_to_type():
    for text, message in (
        (NAVIER_STOKES, "u = psi_y; v = -psi_x"),
        ("u_t - u_xxt + a*u_x = 0", "model='flow'"),
    ):
        with pytest.raises(ModelError, match=message):
            Equation.parse(text).system.latents(["u", "v"])
