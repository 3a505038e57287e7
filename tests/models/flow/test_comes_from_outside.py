"""What comes from outside is a spline in time with knots at the window's own stops, whichever times are asked for."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import BSpline

from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.inflow import Entering
from hiddenphysics.models.flow.latent import Latent, kicks_of
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.moved_fields import at_the_end, moved
from hiddenphysics.models.flow.path import Path
from hiddenphysics.models.flow.program import Program
from hiddenphysics.spectral import Features, Gauge, Grid

OWN, STEP = [0.0, 0.1, 0.2], 0.0125
"""Stops, and steps in time: the error of a forced step falls like its fourth power, and is 1e-5 at four times this."""


@pytest.fixture(scope="module")
def pushed():
    """Program, latent and its modes at the window's own stops, as a fit sees them."""
    features = Features(Grid(((0.0, 6.0),), (16,)), (3,))
    program = Program.of(Equation.parse("u_t - b*u_xx = 0"), features, (2,))
    z = np.random.default_rng(0).standard_normal(program.features + program.blocks(4) * program.kicks)
    latent = Latent(z, Gauge(np.ones((1, 16)), None), np.array(features.grid.box), np.linspace(0, 1, 16))
    path = Path.through(np.array([OWN]), STEP, 90.0, entering=Entering.smoothly(np.array([OWN]))).window(0)
    return program, latent, np.asarray(moved(program, latent, np.array([0.3]), path))[:3]


@pytest.mark.parametrize("times", [[0.0, 0.1, 0.2], [0.1], [0.05, 0.2]])
def test_other_times_change_nothing_at_the_stops(pushed, times):
    program, latent, expected = pushed
    learned = SimpleNamespace(
        stops=np.array([OWN]), program=program, dt=STEP, _most=90.0, _check_driven=lambda window, t: None
    )
    learned._entering = lambda window: LearnedFlow._entering(learned, window)
    path, asked = LearnedFlow._path(learned, 0, np.array(times))
    got = np.asarray(moved(program, latent, np.array([0.3]), path))[asked]
    for t, modes in zip(times, got, strict=True):
        if t in OWN:
            np.testing.assert_allclose(modes, expected[OWN.index(t)], atol=1e-6)


def test_modes_follow_the_forced_equation(pushed):
    """û' = −b k² û + Σ c_j B_j(t) û_j over the mean gap: SciPy's splines and solver, mode by mode, are the referee."""
    program, latent, expected = pushed
    grid = Grid(((0.0, 6.0),), (16,))
    basis = np.asarray(kicks_of(program, grid, latent, lambda modes: modes)[1])[:, 0]
    amplitudes = latent.z[program.features :].reshape(-1, program.kicks)
    knots = np.concatenate([[-0.3, -0.2, -0.1], OWN, [0.3, 0.4, 0.5, 0.6]])
    forcing = BSpline(knots, amplitudes[: len(knots) - 4] @ basis / 0.1, 3)
    for mode, k in enumerate(np.asarray(grid.wavenumbers[0]).ravel()):
        ran = solve_ivp(
            lambda t, u, k=k, mode=mode: -0.3 * k**2 * u + forcing(t)[mode],
            (0.0, 0.2), [expected[0, 0, mode] + 0j], t_eval=OWN, rtol=1e-10, atol=1e-12,
        )  # fmt: skip
        np.testing.assert_allclose(expected[:, 0, mode], ran.y[0], atol=1e-5)


def test_splines_sum_to_one_whatever_the_gaps():
    """Cubic B-splines are a partition of unity; what comes in counts over the mean gap, and stays beyond the end."""
    own = np.array([[0.0, 1.0, 2.5, 3.0, 3.0]])
    every = Entering.smoothly(own)
    one = Entering(every.knots[0], every.gaps[0], every.shapes[0])
    for gap, t in [(0, 0.0), (0, 0.7), (1, 2.4), (2, 2.9), (3, 3.3), (3, 9.0)]:
        assert np.sum(one.weights(gap, t)) == pytest.approx(1.0)
    assert np.sum(one.weights(-1, 0.0)) == 0


@pytest.fixture(scope="module")
def remembered():
    """The same, and what had come in before the first stop, in two shapes at each end."""
    features = Features(Grid(((0.0, 6.0),), (16,)), (3,))
    program = Program.of(Equation.parse("u_t - b*u_xx = 0"), features, (2,), 2)
    rng = np.random.default_rng(1)
    z = rng.standard_normal(program.features + program.blocks(4) * program.kicks)
    ends, shapes = np.array(features.grid.box), rng.standard_normal((2, 2, 16))
    latent = Latent(z, Gauge(np.ones((1, 16)), None), ends, np.linspace(0, 1, 16), history=shapes)
    return program, latent


def test_what_came_in_before_stands_beside_the_first_state_and_decays(remembered):
    """Without it the same modes, less e^{−b k² t} of its shapes' own."""
    program, latent = remembered
    own = program.history * program.kicks
    without = latent._replace(z=np.concatenate([latent.z[:-own], np.zeros(own)]))
    path = Path.through(np.array([OWN]), STEP, 90.0, entering=Entering.smoothly(np.array([OWN]))).window(0)
    one, other = (
        np.asarray(moved(program, each, np.array([0.3]), path))[:3, 0] for each in (latent, without)
    )
    grid = Grid(((0.0, 6.0),), (16,))
    field = np.einsum("he,hen->n", latent.z[-own:].reshape(2, 2), latent.history)
    first = np.asarray(grid.to_modes(field[None]))[0]
    decay = np.exp(-0.3 * np.multiply.outer(OWN, np.asarray(grid.wavenumbers[0]).ravel() ** 2))
    np.testing.assert_allclose(one - other, decay * first, atol=1e-7)


def test_its_tangents_are_what_it_makes(remembered):
    """The motion is linear: amplitudes times tangents are what the amplitudes make."""
    program, latent = remembered
    path = Path.through(np.array([OWN]), STEP, 90.0, entering=Entering.smoothly(np.array([OWN]))).window(0)
    ended = at_the_end(program, latent, np.array([0.3]), path)
    made = np.tensordot(latent.z, np.asarray(ended.in_state), 1)
    np.testing.assert_allclose(made, np.asarray(ended.modes), atol=1e-10)
