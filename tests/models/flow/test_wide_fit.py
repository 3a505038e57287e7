"""States with thousands of features: products along the flow against the matrices of the dense rounds."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.gaussian import covariance_of
from hiddenphysics.learning import silent
from hiddenphysics.models.flow import wide_fit
from hiddenphysics.models.flow.beginning import beginning_of
from hiddenphysics.models.flow.densities import Densities, finer_grid
from hiddenphysics.models.flow.flow_task import FlowTask
from hiddenphysics.models.flow.one_round import Point
from hiddenphysics.models.flow.windows import whole
from hiddenphysics.models.question import Question
from hiddenphysics.snapshots import Snapshot, Snapshots
from hiddenphysics.spectral import Features, values_at

HEAT = "u_t - d*lap(u) = 0"


def two_snapshots(points: int = 150) -> Snapshots:
    """A few waves that decay, d = 0.1, seen at random points with noise."""
    rng = np.random.default_rng(3)
    waves = np.array([(1, 0), (0, 1), (1, 1), (2, -1)])
    sizes, phases = np.array([1.0, 0.8, 0.5, 0.3]), rng.uniform(0, 2 * np.pi, 4)
    made = []
    for t in (0.0, 0.4):
        places = rng.uniform(0, 3, (points, 2))
        left = sizes * np.exp(-0.1 * np.sum(waves**2, axis=1) * t)
        u = np.cos(places @ waves.T + phases) @ left + 0.02 * rng.standard_normal(points)
        made.append(Snapshot(t=t, x=places[:, 0], y=places[:, 1], u=u))
    return Snapshots(made)


@pytest.fixture(scope="module")
def start():
    question = Question.of(HEAT, two_snapshots())
    return beginning_of(whole(question.equation, question.experiments), {}, silent)


def test_densities_sum_over_points_exactly(start):
    features = start.domain.features
    data = Densities.of(start.windows, features.grid)
    z = np.random.default_rng(0).standard_normal((1, features.count))
    modes = features.modes_of(z)
    fine = finer_grid(features.grid)
    field = np.asarray(fine.to_fields(features.grid.pad(modes, fine)))
    unit = start.windows.units[0]
    snapshots = start.windows.windows[0]
    apart = [s["u"] / unit - np.asarray(values_at(features.grid, modes, s.points))[0] for s in snapshots]
    told = data.residual(np.stack([field, field]))
    assert float(told) == pytest.approx(sum(float(one @ one) for one in apart), rel=1e-9)
    rows = np.concatenate([Features(features.grid, features.waves).at(s.points) for s in snapshots])
    gram = data.gram(features, np.ones(features.grid.shape))
    np.testing.assert_allclose(gram, rows.T @ rows, atol=1e-8)


def test_a_round_says_what_its_dense_twin_says(start):
    parameters = np.array([0.11])
    wide = wide_fit.Wide(start, start.domain, Point(start.z, parameters, start.theta), 4)
    (ended, *_) = wide_fit.rounds(wide, silent)
    task = FlowTask.of(start.windows, start.prior, start.domain, start.theta, start.scale)
    made = task.sweep(start.z, parameters, 0.1)
    linear = task.likelihood(made.data, parameters)
    at, _, _ = linear.scored(jnp.asarray(start.theta))
    deviation = float(np.sqrt(covariance_of(np.asarray(at.information))[0, 0]))
    assert float(np.sqrt(covariance_of(ended.information)[0, 0])) == pytest.approx(deviation, rel=0.01)
    step = np.linalg.solve(ended.made.information, ended.made.towards)[0]
    assert step == pytest.approx(float(np.asarray(at.estimate)[0]), abs=0.02 * deviation)


def test_answers_like_any_fit(start):
    made = wide_fit.fit_wide(start, start.parameters, silent)
    deviation = np.sqrt(made.covariance[0, 0])
    assert abs(made.values["d"] - 0.1) < 3 * deviation
    assert not made.verdict.status.is_bad
    assert made.criticism is not None
    assert np.sqrt(made.learned.belief.bound(made.learned.belief.noise)[0, 0]) == pytest.approx(
        float(deviation), rel=0.02
    )
