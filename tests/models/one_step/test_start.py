"""What surrounds the likelihood: the arrays of a data set, and natural sizes read off it."""

from __future__ import annotations

import numpy as np

import hiddenphysics as hp
from hiddenphysics.equation import Equation
from hiddenphysics.models.one_step.places import collect, latent_time
from hiddenphysics.models.one_step.posterior import measured
from hiddenphysics.models.one_step.start import Sizes
from hiddenphysics.models.paper import paper
from hiddenphysics.operators import Symbol
from hiddenphysics.snapshots import Snapshots

SYSTEM = "u_t + a*(u*u_x + v*u_y) - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) - b*lap(v) = 0"


# ---- data --------------------


def test_collect_freezes_measured_values_and_asks_for_their_derivatives() -> None:
    equation = Equation.parse("u_t + a*u_x^2 + b*u*u_xx = 0", fields=["u"])
    step = paper(equation.system, ["u"])
    x0, x1 = np.linspace(0.0, 1.0, 4), np.linspace(0.0, 1.0, 3)
    snapshots = Snapshots([hp.Snapshot(t=2.0, x=x0, u=x0**2), hp.Snapshot(t=2.5, x=x1, u=x1**3)])
    asked = []

    class Smoothed:
        def means(self, symbols: tuple[Symbol, ...], points: np.ndarray) -> np.ndarray:
            asked.append((symbols, points.shape))
            return np.full((2, 1, len(points)), 7.0)

    data = collect(step, snapshots, measured(step, snapshots, lambda field: Smoothed()))
    assert asked == [((Symbol((1,)),), (4, 1))]
    before, after = data.places
    np.testing.assert_array_equal(before.frozen["u(t, x)"], x0**2)
    np.testing.assert_array_equal(before.frozen["Derivative(u(t, x), x)"], np.full(4, 7.0))
    assert after.frozen == {}
    assert (float(before.lag), float(after.lag)) == (0.5, 0.0)
    assert float(before.time) == float(after.time) == latent_time(step, snapshots) == 2.5
    np.testing.assert_array_equal(data.stacked, np.concatenate([x1**3, x0**2]))


# ---- scales --------------------


def plane(stretch: float, size: float) -> Snapshots:
    random = np.random.default_rng(0)

    def snapshot(t: float) -> hp.Snapshot:
        x, y = random.uniform(0.0, 1.0, (2, 16))
        fields = {f: size * np.sin(3 * x + k) for k, f in enumerate("uv")}
        return hp.Snapshot(t=t, x=stretch * x, y=y, **fields)

    return Snapshots([snapshot(0.0), snapshot(0.1)])


def test_scales_are_extent_spacing_and_power() -> None:
    snapshots = plane(1.0, 2.0)
    scales = Sizes.of(snapshots)
    every = np.concatenate([s.points for s in snapshots])
    np.testing.assert_allclose(scales.extent, every.max(axis=0) - every.min(axis=0))
    np.testing.assert_allclose(scales.spacing, scales.extent / 4)  # 16 points, four to a side
    np.testing.assert_allclose(scales.power["v"], np.mean(np.concatenate([s["v"] for s in snapshots]) ** 2))


def test_bounds_follow_the_units_of_the_data() -> None:
    """A length follows the unit of its coordinate, variances and noise the square of the field's."""
    limits = []
    for stretch, size in ((1.0, 1.0), (100.0, 10.0)):
        task = hp.problem(SYSTEM, plane(stretch, size))
        bounds = Sizes.of(plane(stretch, size)).bounds(task, dict.fromkeys("uv", size**2))
        limits.append(dict(zip(task.unknowns.prior.names, np.exp(bounds), strict=True)))
    factors = {
        "u.length_x": 100.0,
        "v.length_x": 100.0,
        "u.variance": 100.0,
        "v.variance": 100.0,
        "noise.variance": 100.0,
    }
    plain, other = limits
    for name, ends in plain.items():
        np.testing.assert_allclose(other[name], factors.get(name, 1.0) * ends, rtol=1e-12)
