"""What comes from outside does so after the window's own stops, whichever times are asked for."""

from types import SimpleNamespace

import numpy as np
import pytest

from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.learned import LearnedFlow
from hiddenphysics.models.flow.path import Latent, Path, moved
from hiddenphysics.models.flow.program import Program
from hiddenphysics.spectral import Features, Gauge, Grid

OWN = [0.0, 0.1, 0.2]


@pytest.fixture(scope="module")
def pushed():
    """Program, latent and its modes at the window's own stops, as a fit sees them."""
    features = Features(Grid(((0.0, 6.0),), (16,)), (3,))
    program = Program.of(Equation.parse("u_t - b*u_xx = 0"), features, (2,))
    z = np.random.default_rng(0).standard_normal(program.features + 4 * program.kicks)
    latent = Latent(z, Gauge(np.ones((1, 16)), None), np.array(features.grid.box), np.linspace(0, 1, 16))
    path = Path.through(np.array([OWN]), 0.05, 90.0).window(0)
    return program, latent, np.asarray(moved(program, latent, np.array([0.3]), path))[:3]


@pytest.mark.parametrize("times", [[0.0, 0.1, 0.2], [0.1], [0.05, 0.2]])
def test_a_stop_shows_what_was_there_before_something_came(pushed, times):
    program, latent, expected = pushed
    learned = SimpleNamespace(
        stops=np.array([OWN]), program=program, dt=0.05, _most=90.0, _check_driven=lambda window, t: None
    )
    path, asked = LearnedFlow._path(learned, 0, np.array(times))
    got = np.asarray(moved(program, latent, np.array([0.3]), path))[asked]
    for t, modes in zip(times, got, strict=True):
        if t in OWN:
            np.testing.assert_allclose(modes, expected[OWN.index(t)], atol=1e-14)
