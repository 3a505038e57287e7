"""Rows that are pulled back along the flow, against forward derivatives of the plain motion."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.adjoint import pulled_rows, pulls
from hiddenphysics.models.flow.domain import domain_of
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.moved_fields import moved
from hiddenphysics.models.flow.processes import joint_prior, relative_sizes, with_outside
from hiddenphysics.models.flow.program import Program
from hiddenphysics.models.flow.windows import gathered
from hiddenphysics.priors import SquaredExponential
from hiddenphysics.spectral import padded_shape

STREAM = "u_t + a*(u*u_x + v*u_y) + p_x - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) + p_y - b*lap(v) = 0; u_x + v_y = 0"
PARAMETERS = jnp.array([1.0, 0.1])
TIMES = (0.0, 0.1, 0.3)


@pytest.fixture(scope="module")
def task():
    """Taylor's vortices in a stream, a few points at three times, something coming in after every one."""
    rng = np.random.default_rng(0)
    data = []
    for t in TIMES:
        x, y = rng.uniform(0, 3, (2, 6))
        data.append(hp.Snapshot(t=t, x=x, y=y, u=0.7 - np.cos(x) * np.sin(y), v=np.sin(x) * np.cos(y)))
    windows = gathered(Equation.parse(STREAM), [hp.Snapshots(data)])
    each = {
        row: (SquaredExponential(), np.array([2 * np.log(windows.sizes[row]), 0.2, 0.2])) for row in (0, 1)
    }
    prior, theta = with_outside(*joint_prior(windows, each, np.log(1e-2)))
    lengths, relative = prior.lengths(theta), relative_sizes(prior, theta, windows)
    domain = domain_of(windows, prior, [Envelope.flat(1, 2)], lengths, 0.1, outside=1, relative=relative)
    return FlowTask.of(windows, prior, domain, theta, np.ones(2))


@pytest.fixture(scope="module")
def state(task):
    """A state that the prior allows, and what comes in."""
    program, rng = task.domain.program, np.random.default_rng(1)
    z = np.zeros(program.features + len(TIMES) * program.kicks)
    spectrum = task.prior.spectrum(jnp.asarray(theta_of(task)), *waves(task))
    every = np.asarray(spectrum)[task.domain.columns(len(TIMES))]
    return np.sqrt(every) * rng.standard_normal(z.size)


def theta_of(task):
    """The prior's vector of the fixture, which a task does not keep."""
    size = np.log(float(np.linalg.norm(task.windows.sizes)) ** 2)
    return np.array([size, 0.4, 0.4, size - 3, -0.3, -0.3, size - 4.6, 0.4, 0.4, np.log(1e-2)])


def waves(task):
    features = task.domain.features
    return features.omega, features.measure, task.level


def changes(task, z, directions):
    """(T·G·r, directions) by forward differentiation of the motion, in the steps of the derivatives."""
    path = task.path(0.05, 0.1).window(0)
    path = path._replace(stops=path.stops._replace(fine=path.stops.rough))
    latent = jax.tree.map(lambda part: jnp.asarray(part[0]), task.domain.latent(z[None]))
    seen, which = task.seen, task.seen.which[0]

    def values(z):
        modes = moved(task.domain.program, latent._replace(z=z), PARAMETERS, path)
        return jnp.concatenate([seen.rows(modes[t], which[t]) for t in range(len(TIMES))])

    push = jax.jit(lambda direction: jax.jvp(values, (jnp.asarray(z),), (direction,))[1])
    return np.stack([np.asarray(push(direction)) for direction in directions], axis=1)


def pulled(task, z):
    latent = jax.tree.map(lambda part: jnp.asarray(part[0]), task.domain.latent(z[None]))
    path, seen = jax.tree.map(jnp.asarray, (task.path(0.05, 0.1).window(0), task.seen))
    made = jax.jit(
        lambda latent: pulled_rows(task.domain.program, seen, latent, PARAMETERS, path, seen.which[0])
    )(latent)
    return np.asarray(made).reshape(-1, z.size)


def test_rows_pulled_back_are_derivatives_of_the_motion(task, state, monkeypatch):
    monkeypatch.setattr(
        Program, "for_derivatives", lambda self, ends, driving=None: self.on(ends, driving)[0]
    )
    directions = np.random.default_rng(2).standard_normal((3, state.size))
    # The first of them is what comes in alone: after the first stop, and after the second.
    directions[0, : task.domain.program.features] = 0
    expected, rows = changes(task, state, directions), pulled(task, state)
    assert np.abs(expected[:, 0]).max() > 0
    np.testing.assert_allclose(rows @ directions.T, expected, atol=1e-12 * np.abs(expected).max())


def test_rows_of_a_line_are_derivatives_of_the_motion():
    """A spike on a line has more waves than values: tangents of all waves, and rows that go back, make one sweep."""
    rng, places = np.random.default_rng(4), np.linspace(-4, 4, 12)
    data = [hp.Snapshot(t=t, x=places, u=rng.standard_normal(12)) for t in (0.0, 0.2)]
    windows = gathered(Equation.parse("u_t + a*u*u_x - b*u_xx = 0"), [hp.Snapshots(data)])
    each = {0: (SquaredExponential(), np.array([2 * np.log(windows.sizes[0]), np.log(0.4)]))}
    prior, theta = joint_prior(windows, each, np.log(1e-2))
    lengths = prior.lengths(theta)
    task = FlowTask.of(
        windows, prior, domain_of(windows, prior, [Envelope.flat(1, 1)], lengths, 1e-2), theta, np.ones(2)
    )
    program, seen = task.domain.program, task.seen
    spectrum = np.asarray(prior.spectrum(jnp.asarray(theta), *waves(task)))
    z = np.sqrt(spectrum) * rng.standard_normal(program.features)
    assert pulls(program, seen, z.size)
    made = task.sweep(z[None], np.array([1.0, 0.1]), 0.05)
    latent = jax.tree.map(lambda part: jnp.asarray(part[0]), task.domain.latent(z[None]))
    path = task.path(0.05).window(0)

    def values(z):
        modes = moved(program, latent._replace(z=z), jnp.array([1.0, 0.1]), path)
        return jnp.concatenate([seen.rows(modes[t], seen.which[0, t]) for t in range(2)])

    expected = np.asarray(jax.jit(jax.jacfwd(values))(jnp.asarray(z)))
    np.testing.assert_allclose(made.data.A[0], expected, atol=1e-12 * np.abs(expected).max())


def test_products_on_fewer_points_change_nothing_that_the_prior_lets_happen(task, state):
    program = task.domain.program
    whole = padded_shape(program.shape, program.equation.system.padding)
    assert np.prod(program.products) < 0.9 * np.prod(whole)
    every = np.asarray(task.prior.spectrum(jnp.asarray(theta_of(task)), *waves(task)))
    size = np.sqrt(every[task.domain.columns(len(TIMES))])
    directions = size * np.random.default_rng(3).standard_normal((3, state.size))
    expected, rows = changes(task, state, directions), pulled(task, state)
    assert np.linalg.norm(rows @ directions.T - expected) < 1e-3 * np.linalg.norm(expected)


def test_rows_go_back_where_they_are_fewer_than_features(task):
    program, seen = task.domain.program, task.seen
    rows = seen.values[0].size
    assert pulls(program, seen, rows)
    assert not pulls(program, seen, rows // 2)
