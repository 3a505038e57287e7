"""Constraints and hidden fields in the flow: u_xxt, a field without data, a stream without sources, its pressure."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hiddenphysics as hp
from benchmarks.zoo.cases import SPECIES, Case
from hiddenphysics.equation import Equation
from hiddenphysics.learning import Status
from hiddenphysics.models.flow.latent import Latent
from hiddenphysics.models.flow.moved_fields import Along, at_the_end, idle_fields
from hiddenphysics.models.flow.path import Path
from hiddenphysics.models.flow.program import Program
from hiddenphysics.models.flow.windows import gathered
from hiddenphysics.spectral import Features, Gauge, Grid, Motion

NAVIER_STOKES = (
    "u_t + a*(u*u_x + v*u_y) + p_x - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) + p_y - b*lap(v) = 0; "
    "u_x + v_y = 0"
)
BBM = "u_t + u_x + b*u*u_x - c*u_xxt = 0"
FITZHUGH_NAGUMO = "u_t - d*u_xx - u + c*u^3 + w = 0; w_t - e*(u - g*w) = 0"


def test_the_numbers_of_a_soliton_with_a_time_derivative_under_an_operator():
    """Benjamin, Bona & Mahony's, of speed 2: 3 sech²((x − 2t)/√8) for b = c = 1."""
    rng = np.random.default_rng(0)
    data = []
    for t in (0.0, 0.5):
        x = np.sort(rng.uniform(-12, 14, 40))
        u = 3 / np.cosh((x - 2 * t) / np.sqrt(8)) ** 2 + 1e-4 * rng.standard_normal(40)
        data.append(hp.Snapshot(t=t, x=x, u=u))
    result = hp.identify(BBM, data)
    assert (result.model, result.status) == ("flow", Status.CONVERGED)
    for name in "bc":
        estimate = result.parameters[name]
        assert abs(estimate.estimate - 1) < min(3 * estimate.std, 0.01)


def test_a_field_without_data_has_its_place_in_the_state():
    """FitzHugh and Nagumo's recovery variable: no time derivative of another field, as large as that until learned."""
    rng = np.random.default_rng(0)
    data = [hp.Snapshot(t=t, x=np.sort(rng.uniform(0, 8, 30)), u=rng.standard_normal(30)) for t in (0.0, 0.4)]
    windows = gathered(Equation.parse(FITZHUGH_NAGUMO, fields=["u"]), [hp.Snapshots(data)])
    assert (windows.state, windows.measured, windows.hidden) == (("u", "w"), (0,), (1,))
    assert windows.sizes[1] == windows.sizes[0]


def test_the_numbers_of_a_field_that_nobody_measured():
    """Of v_t = e (u − b v) the guess is e = 0, where b says nothing at all: it must not spoil the others."""
    (case,) = (Case(one, "1 %", 0) for one in SPECIES if one.name == "hidden_recovery")
    result = hp.identify(case.text, case.data(), model="flow")
    assert result.status is Status.CONVERGED
    for name, truth in case.truth.items():
        estimate = result.parameters[name]
        assert abs(estimate.estimate - truth) < 3 * estimate.std
        assert estimate.std < 0.1 * truth


@pytest.fixture(scope="module")
def stream():
    """A small state of Navier and Stokes' equations: program, latent, parameters, path."""
    equation = Equation.parse(NAVIER_STOKES)
    features = Features(Grid(((0.0, 2 * np.pi), (0.0, 2 * np.pi)), (8, 8)), (2, 2))
    program = Program.of(equation, features)
    z = np.random.default_rng(1).standard_normal(program.features)
    latent = Latent(z, Gauge(np.ones((1, 8, 8)), None), np.array(features.grid.box))
    path = Path.through(np.array([[0.0, 0.2]]), 0.1, 90.0).window(0)
    return program, latent, np.array([1.0, 0.1]), path


def test_the_state_has_no_sources_and_moves_as_the_simulator_does(stream):
    program, latent, parameters, path = stream
    end = at_the_end(program, latent, parameters, path)
    motion = Motion.of(NAVIER_STOKES, {"x": (0, 2 * np.pi), "y": (0, 2 * np.pi)}, 8)
    numbers = dict(zip("ab", parameters, strict=True))
    features = Features(motion.grid, program.waves)
    made = program.state_of(motion, features, latent.gauge)
    begun = jax.jit(made)(jnp.asarray(latent.z), parameters)
    np.testing.assert_allclose(jax.jit(motion.allowed)(begun, numbers), begun, atol=1e-12)
    kx, ky = motion.grid.wavenumbers
    np.testing.assert_allclose(kx * begun[0] + ky * begun[1], 0, atol=1e-12)
    np.testing.assert_allclose(begun[:, 0, 0], latent.z[[0, -1]])
    np.testing.assert_allclose(end.modes, motion.run(begun, numbers, 0.2, 2), atol=1e-13)


def test_the_pressure_and_its_tangents(stream):
    program, latent, parameters, path = stream
    pressures = [pressure_of(program, latent, at, path) for at in (parameters, *stencil(parameters))]
    np.testing.assert_allclose(
        pressures[0].in_parameters[0],
        (pressures[1].modes - pressures[2].modes) / 2e-5,
        atol=1e-7 * np.abs(pressures[0].modes).max(),
    )
    assert np.abs(pressures[0].in_state).max() > 0


def pressure_of(program, latent, parameters, path) -> Along:
    end = at_the_end(program, latent, parameters, path)
    return idle_fields(program, end, latent, parameters, 0.2)


def stencil(parameters):
    """The first parameter a little larger, and a little smaller."""
    aside = np.array([1e-5, 0.0])
    return parameters + aside, parameters - aside


def test_a_hidden_field_that_nothing_determines_is_refused():
    x = np.linspace(0.0, 6.0, 12)
    pair = [hp.Snapshot(t=t, x=x, u=np.sin(x - t)) for t in (0.0, 0.1)]
    with pytest.raises(hp.ModelError, match="Nothing determines w: it has no data, and does not enter"):
        hp.identify("u_t + a*u_x = 0; w_t - w_xx + u = 0", pair, model="flow")
    both = [hp.Snapshot(t=t, x=x, w=np.sin(x - t), psi=np.sin(x - t)) for t in (0.0, 0.1)]
    with pytest.raises(hp.ModelError, match="psi has data and no time derivative"):
        hp.identify("w_t + a*psi_x = 0; psi_xx = -w", both, model="flow")
