"""Inside a fit there are pure functions of pytrees: mapped, differentiated and compiled they stay what they are."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.equation import Equation
from hiddenphysics.models import MODELS
from hiddenphysics.models.flow import flow_fit
from hiddenphysics.models.flow.beginning import beginning_of
from hiddenphysics.models.flow.one_round import Point
from hiddenphysics.models.flow.starting_points import cold_task
from hiddenphysics.models.flow.sweep import sweep
from hiddenphysics.models.flow.windows import gathered
from hiddenphysics.snapshots import Snapshot, Snapshots

FLOW = MODELS["flow"]


@pytest.fixture(scope="module")
def begun():
    """A task before its first round, and the point where it begins."""
    rng = np.random.default_rng(0)
    x = np.linspace(-3, 3, 24)
    snapshots = Snapshots(
        Snapshot(t, x, u=np.exp(-(x**2) / (1 + t)) + 0.01 * rng.standard_normal(24)) for t in (0.0, 0.5)
    )
    equation = Equation.parse("u_t + a*u_x - b*u_xx = 0", fields=("u",), coordinates=("x",))
    start = beginning_of(gathered(equation, [snapshots]), {})
    task = cold_task(start)
    return task, Point(start.z.reshape(1, -1), start.parameters, start.theta)


def test_many_linear_models_at_once_are_the_single_ones(begun):
    task, at = begun
    many = jnp.asarray([at.parameters, 2 * at.parameters + 0.1])
    latent, path = task.domain.latent(at.z), task.path(task.longest_step)

    def around(parameters):
        return sweep(task.domain.program, task.seen, latent, parameters, path)

    together = jax.vmap(around)(many)
    for k, parameters in enumerate(many):
        leaves = zip(jax.tree.leaves(together), jax.tree.leaves(around(parameters)), strict=True)
        for all_of_them, one in leaves:
            np.testing.assert_allclose(all_of_them[k], one, rtol=1e-9, atol=1e-9)


def test_the_log_density_has_the_gradient_that_the_tuning_uses(begun):
    task, at = begun
    linear = FLOW.linearise(task, at)
    theta = jnp.asarray(at.theta)
    here, gradient, _ = linear.scored(theta)
    np.testing.assert_allclose(jax.jit(jax.grad(linear.log_density))(theta), -gradient, rtol=1e-6, atol=1e-8)
    assert FLOW.log_density(linear, at.theta) == pytest.approx(-float(here.value), rel=1e-12)


def test_a_round_is_a_function_of_its_point(begun):
    task, at = begun
    one, other = (task.round(at, task.longest_step) for _ in range(2))
    leaves, others = jax.tree.leaves(one), jax.tree.leaves(other)
    assert len(leaves) > 10
    for mine, same in zip(leaves, others, strict=True):
        np.testing.assert_array_equal(mine, same)
    # It goes through a compiled identity: nothing in it is hidden from JAX.
    again = jax.jit(lambda tree: tree)(one.linear)
    np.testing.assert_allclose(again.log_density(jnp.asarray(at.theta)), one.linear.log_density(at.theta))


@pytest.mark.parametrize(
    ("likeliest", "ends_settled", "taken"), [(9.0, True, 9.5), (9.0, False, 5.0), (4.0, True, 5.0)]
)
def test_a_search_that_explains_more_than_a_settled_one_is_finished(
    monkeypatch, likeliest, ends_settled, taken
):
    """An unsettled search of higher evidence gets more rounds, and is taken if it settles then."""

    task = SimpleNamespace(evidence=lambda last: -last.tuned.at.value)

    def searched(evidence, settled):
        tuned = SimpleNamespace(at=SimpleNamespace(value=-evidence))
        last = SimpleNamespace(settled=settled, misfit=0.1, tuned=tuned, point=None, dt=0.1, rough=0.1)
        return flow_fit.Searched(task, last, 25)

    longer = searched(9.5, ends_settled).last
    monkeypatch.setattr(flow_fit, "run", lambda task, point, dt, say, most, rough: iter([longer]))
    best = flow_fit._finished(searched(likeliest, False), searched(5.0, True), lambda stage: None)
    assert best.evidence == taken
