"""The flow in planes and volumes: the linear model of the heat equation in closed form, and who is asked first."""

import jax.numpy as jnp
import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.equation import Equation
from hiddenphysics.models import MODELS, Question
from hiddenphysics.models.flow.domain import domain_of
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.windows import gathered
from hiddenphysics.priors import Prior, SquaredExponential
from hiddenphysics.snapshots import read_experiments

RATE, GAP = 0.3, 0.4
STREAM = "u_t + a*(u*u_x + v*u_y) + p_x - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) + p_y - b*lap(v) = 0; "


@pytest.fixture(scope="module")
def task():
    """Twelve values of a field in a volume, at two times."""
    rng = np.random.default_rng(0)
    data = [
        hp.Snapshot(
            t=t, **dict(zip("xyz", rng.uniform(0, 2, (3, 12)), strict=True)), u=rng.standard_normal(12)
        )
        for t in (0.0, GAP)
    ]
    windows = gathered(
        Equation.parse("u_t - d*lap(u) = 0", coordinates=("x", "y", "z")), [hp.Snapshots(data)]
    )
    prior = Prior((("u", SquaredExponential()),), ("x", "y", "z"))
    theta = np.log([windows.sizes[0] ** 2, 1.5, 1.2, 1.8, 1e-2])
    domain = domain_of(windows, prior, [Envelope.flat(1, 3)], prior.lengths(theta), 1e-2)
    return FlowTask.of(windows, prior, domain, theta, np.ones(1))


def test_waves_in_a_volume_decay_as_they_must(task):
    """Every wave ω by e^{−d|ω|²t}, seen at the points of each snapshot."""
    features = task.domain.features
    z = np.random.default_rng(1).standard_normal((1, features.count))
    data = task.sweep(z, jnp.array([RATE]), GAP / 2).data
    A = np.asarray(data.A[0]).reshape(2, -1, features.count)
    decay = np.exp(-RATE * GAP * np.sum(features.omega**2, axis=1))
    first, second = (features.at(s.points) / task.windows.sizes[0] for s in task.windows.windows[0])
    np.testing.assert_allclose(A[0, :12], first, atol=1e-12)
    np.testing.assert_allclose(A[1, :12], second * decay, atol=1e-12)
    slower = -GAP * np.sum(features.omega**2, axis=1) * decay * z[0]
    np.testing.assert_allclose(np.asarray(data.B[0]).reshape(2, -1)[1, :12], second @ slower, atol=1e-10)


@pytest.mark.parametrize(
    ("coordinates", "fields", "equation", "says"),
    [
        ("xy", "uv", STREAM + "u_x + v_y = 0", None),
        ("xy", "uv", STREAM + "u = psi_y; v = -psi_x", None),
        ("xyz", "u", "u_t - d*lap(u) = 0", None),
        (
            "xyz",
            "uvw",
            "u_t + p_x - b*lap(u) = 0; v_t + p_y - b*lap(v) = 0; w_t + p_z - b*lap(w) = 0; u_x + v_y + w_z = 0",
            "tied together in a volume",
        ),
    ],
)
def test_the_flow_is_asked_first_where_it_is_quick(coordinates, fields, equation, says):
    rng = np.random.default_rng(0)
    data = [
        hp.Snapshot(t=t, **{name: rng.standard_normal(30) for name in (*coordinates, *fields)})
        for t in (0.0, 0.1)
    ]
    question = Question.of(equation, read_experiments(hp.Snapshots(data)))
    assert MODELS["flow"].applies(question) is None
    hesitation = MODELS["flow"].hesitates(question)
    assert hesitation is None if says is None else says in hesitation
