"""Searches that begin with a part of the data: they end where a search with all of the data ends."""

from __future__ import annotations

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.learning.optimiser import NEAR
from hiddenphysics.models.one_step import expansion, one_step
from hiddenphysics.models.one_step.expansion import _unseen
from hiddenphysics.models.one_step.places import Data, place
from hiddenphysics.models.one_step.search import GAIN, _with_scales_nearer
from hiddenphysics.snapshots import Snapshots
from tests.learning.exact_fields import advection

ADVECTION = "u_t + a*u_x = 0"
FLOW = (
    "u_t + a*(u*u_x + v*u_y) + p_x - b*(u_xx + u_yy) = 0; v_t + a*(u*v_x + v*v_y) + p_y - b*(v_xx + v_yy) = 0; "
    "u = psi_y; v = -psi_x"
)


def waves(points: int, noise: float) -> Snapshots:
    random = np.random.default_rng(3)

    def snapshot(t: float) -> hp.Snapshot:
        x = np.sort(random.uniform(0.0, 4 * np.pi, points))
        return hp.Snapshot(t=t, x=x, u=advection(t, x) + noise * random.standard_normal(points))

    return Snapshots([snapshot(0.0), snapshot(0.1)])


@pytest.mark.parametrize("model", ["paper", "midpoint"])
@pytest.mark.parametrize("noise", [0.0, 0.02], ids=["clean", "noisy"])
def test_a_search_that_begins_with_a_part_ends_where_one_with_all_data_does(
    model: str, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = waves(60, noise)
    whole = hp.identify(ADVECTION, data, model=model)
    monkeypatch.setattr(one_step, "MANY", 100)
    used = []
    searched = expansion.searched
    monkeypatch.setattr(expansion, "searched", lambda *words: used.append(words[2]) or searched(*words))
    from_a_part = hp.identify(ADVECTION, data, model=model)
    assert used[0] == 4
    assert from_a_part.status == whole.status == "converged"
    np.testing.assert_allclose(from_a_part.evidence, whole.evidence, rtol=0.0, atol=GAIN)
    one, other = from_a_part.parameters["a"], whole.parameters["a"]
    # Either search ends within NEAR standard deviations of the optimum.
    np.testing.assert_allclose(one.estimate, other.estimate, rtol=0.0, atol=2 * NEAR * other.std)
    # It holds the step's own error, taken where each search has ended: these differ by up to 2 NEAR deviations.
    np.testing.assert_allclose(one.std, other.std, rtol=2 * NEAR)


def test_a_part_keeps_points_values_and_coefficients_together() -> None:
    sizes = (9, 6)
    places = tuple(
        place(
            np.arange(n, dtype=float)[:, None] + 100 * k, {"u(t, x)": 10 * np.arange(n) + 1000 * k}, 0.1, 0.0
        )
        for k, n in enumerate(sizes)
    )
    values = tuple(2 * np.arange(n) + 200.0 * k for k, n in enumerate(sizes))
    part = Data(places, values, tuple(0 * v for v in values)).thinned([0, 1], 4, seed=0)
    assert [len(v) for v in part.values] == [3, 2]
    for here, seen in zip(part.places, part.values, strict=True):
        np.testing.assert_array_equal(seen, 2 * here.points[:, 0])
        np.testing.assert_array_equal(here.frozen["u(t, x)"], 10 * here.points[:, 0])
    again = Data(places, values, values).thinned([0, 1], 4, seed=0)
    np.testing.assert_array_equal(part.values[0], again.values[0])


def test_nearer_scales_move_the_longer_lengths_and_dim_the_shortest() -> None:
    names = (
        "a",
        "psi.variance",
        "psi.length_x",
        "psi.2.variance",
        "psi.2.length_x",
        "p.length_x",
        "noise.variance",
    )
    moved = np.exp(_with_scales_nearer(names, np.log([1.0, 6.0, 0.5, 2.0, 40.0, 7.0, 0.1])))
    np.testing.assert_allclose(moved, [1.0, 0.2, 0.5, 2.0, 1.5, 7.0, 0.1])
    single = ("a", "u.variance", "u.length_x", "noise.variance")
    np.testing.assert_array_equal(_with_scales_nearer(single, np.arange(4.0)), np.arange(4.0))


def test_a_latent_that_a_part_does_not_show_is_sought_from_the_start_with_the_parameters() -> None:
    random = np.random.default_rng(0)
    x, y = random.uniform(0.0, 6.0, (2, 12))
    vortex = {"u": np.sin(x) * np.cos(y), "v": -np.cos(x) * np.sin(y)}
    later = {name: 0.99 * values for name, values in vortex.items()}
    data = [hp.Snapshot.from_columns(t, {"x": x, "y": y}, at) for t, at in ((0.0, vortex), (0.1, later))]
    task = hp.problem(FLOW, data, model="paper")
    curvatures, free = np.full(len(task.names), 50.0), np.full(len(task.names), True)
    assert not _unseen(task, curvatures, free).any()
    curvatures[task.names.index("p.length_y")] = 0.2
    found = {n for n, lost in zip(task.names, _unseen(task, curvatures, free), strict=True) if lost}
    assert found == {"a", "b", "p.variance", "p.length_x", "p.length_y"}
    free[task.names.index("psi.variance")] = False
    assert _unseen(task, curvatures, free)[:-1].all()
