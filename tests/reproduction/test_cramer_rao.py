"""The limit of accuracy against its definition, written out with dense matrices."""

from types import SimpleNamespace

import numpy as np
import pytest

from hiddenphysics.gaussian import Belief
from hiddenphysics.models import LearnedFlow
from hiddenphysics.reproduction import Library
from hiddenphysics.reproduction.cramer_rao import cramer_rao_bounds, spread_of
from hiddenphysics.reproduction.fit_plan import Plan, Unit
from hiddenphysics.reproduction.fitting import perform
from hiddenphysics.snapshots import Snapshot, Snapshots
from tests.reproduction.small import TIMES, TRUTH, heat, small_study, write_recording

COUNTS, PADDED, FEATURES = (9, 7), 10, 60
"""Points of two snapshots, as a fit pads them, and waves."""


def pair_of(fields):
    generator = np.random.default_rng(1)
    return Snapshots(
        Snapshot.from_columns(t, {"x": np.arange(n)}, {f: generator.standard_normal(n) for f in fields})
        for t, n in zip((0.0, 0.1), COUNTS, strict=True)
    )


def made_up_fit(units, rows):
    """Derivatives of `rows` values, those of padding zero, as a fit keeps them: (window, row, …)."""
    generator = np.random.default_rng(2)
    A, B = generator.standard_normal((1, rows, FEATURES)), generator.standard_normal((1, rows, 2))
    padding = [k for k in range(rows) if k % PADDED >= COUNTS[k >= rows // 2]]
    A[:, padding] = B[:, padding] = 0.0
    spectrum = generator.uniform(0.001, 0.01, FEATURES)
    belief = Belief(A, B, np.zeros((2, 2)), spectrum, 1e-6, np.zeros((1, rows)), np.eye(2))
    equation = SimpleNamespace(parameters=("a", "b"))
    learned = SimpleNamespace(
        units=units,
        belief=belief,
        equation=equation,
        whole=True,
        owners=np.zeros(1, int),
        parameters=np.ones(2),
    )
    pair = pair_of(list(units))
    told = SimpleNamespace(cramer_rao=lambda noise: LearnedFlow.cramer_rao(learned, pair, noise))
    return told, belief, padding


def by_definition(belief, variances, padding):
    kept = [k for k in range(len(variances)) if k not in padding]
    A, B = belief.A[0, kept], belief.B[0, kept]
    K = A @ np.diag(belief.spectrum) @ A.T + np.diag(variances[kept])
    return np.sqrt(np.diagonal(np.linalg.inv(B.T @ np.linalg.inv(K) @ B)))


def test_one_field_by_definition():
    told, belief, padding = made_up_fit({"u": 2.0}, 20)
    bounds = cramer_rao_bounds(told, {"u": 3.0}, (0.01, 0.05))
    assert set(bounds) == {"0.01", "0.05"}
    for noise in (0.01, 0.05):
        # A share of a spread of 3, in units of 2.
        expected = by_definition(belief, np.full(20, (noise * 1.5) ** 2), padding)
        assert list(bounds[f"{noise:g}"].values()) == pytest.approx(expected, rel=1e-9)
    assert bounds["0.05"]["a"] > bounds["0.01"]["a"]


def test_every_field_has_its_own_noise():
    told, belief, padding = made_up_fit({"u": 2.0, "v": 0.5}, 40)
    bounds = cramer_rao_bounds(told, {"v": 0.1, "u": 3.0}, (0.05,))
    deviations = [
        0.05 * (3.0 / 2.0 if field == "u" else 0.1 / 0.5) for field in "uvuv" for _ in range(PADDED)
    ]
    expected = by_definition(belief, np.square(deviations), padding)
    assert list(bounds["0.05"].values()) == pytest.approx(expected, rel=1e-9)


def test_rotated_values_of_several_fields_have_no_bound():
    told, _, _ = made_up_fit({"u": 2.0, "v": 0.5}, 36)
    assert cramer_rao_bounds(told, {"u": 3.0, "v": 0.1}, (0.05,)) == {}


def test_rotated_values_of_fields_with_about_the_same_noise_have_the_bound_of_its_mean():
    """Two halves of a complex field: their units follow from estimates of one noise, which differ a little."""
    told, belief, _ = made_up_fit({"u": 2.0, "v": 1.96}, 36)
    bounds = cramer_rao_bounds(told, {"u": 3.0, "v": 3.0}, (0.05,))["0.05"]
    variance = 0.5 * ((0.05 * 3.0 / 2.0) ** 2 + (0.05 * 3.0 / 1.96) ** 2)
    expected = np.sqrt(np.diagonal(belief.bound(variance)))
    assert list(bounds.values()) == pytest.approx(expected, rel=1e-12)


def test_the_spread_is_what_noise_is_relative_to():
    pair = Snapshots(
        Snapshot(t, np.arange(20000.0), np.sin(np.arange(20000.0)) * (1 + t)) for t in (0.0, 1.0)
    )
    added = np.concatenate([b["u"] - a["u"] for a, b in zip(pair, pair.with_noise(0.1, 0), strict=True)])
    # The standard deviation of 40000 numbers is known to 0.35 %.
    assert np.std(added) == pytest.approx(0.1 * spread_of(pair)["u"], rel=0.015)


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    study = small_study(models=("paper", "flow"))
    return Plan((study,), Library(write_recording(tmp_path_factory.mktemp("bounds"))))


def test_only_clean_fits_of_the_flow_are_asked_for_bounds(plan):
    asked = {(u.model, u.noise): plan.task(u) for u in plan.units}
    assert {key for key, task in asked.items() if task.noises} == {("flow", 0.0)}
    assert asked["flow", 0.0].noises == (0.01,)


def test_the_row_of_a_clean_fit_keeps_its_bounds(plan):
    """Were the first field known, du₁/db = Δt ∂ₓ²u₁ would make the limit σ/|du₁/db|; unknown, it is above that."""
    unit = Unit("heat", "heat.npz", 1, 0.0, "flow", 2, 0)
    row = perform(plan.task(unit))
    x, (before, after) = plan.draw(unit)[1]["x"], TIMES[2:4]
    curvature = -np.exp(-TRUTH * after) * np.sin(x) - 2 * np.exp(-4 * TRUTH * after) * np.cos(2 * x)
    sigma = 0.01 * np.std(np.concatenate([heat(before), heat(after)]))
    floor = sigma / np.linalg.norm((after - before) * curvature)
    assert row["status"] == "converged"
    assert floor < row["bounds"]["0.01"]["b"] < 3 * floor
