"""Names, vectors, scales and the arrays of a data set: what surrounds the likelihood."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.equation import Equation
from hiddenphysics.forward import paper
from hiddenphysics.inference.data import collect, latent_time
from hiddenphysics.inference.parameters import Layout
from hiddenphysics.inference.scales import Scales
from hiddenphysics.inference.state import measured
from hiddenphysics.operators import Symbol
from hiddenphysics.snapshots import Snapshots

SYSTEM = "u_t + a*(u*u_x + v*u_y) - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) - b*lap(v) = 0"


@pytest.fixture(scope="module")
def layout() -> Layout:
    equation = Equation.parse(SYSTEM, fields=["u", "v"])
    kernels = (("u", hp.RationalQuadratic()), ("v", hp.SquaredExponential()))
    return Layout(paper(equation, ["u", "v"]), kernels)


def test_names_are_parameters_then_latents_then_noise(layout: Layout) -> None:
    assert layout.names == (
        "a", "b",
        "u.variance", "u.length_x", "u.alpha_x", "u.length_y", "u.alpha_y",
        "v.variance", "v.length_x", "v.length_y",
        "noise.variance",
    )  # fmt: skip
    assert layout.positive == layout.names[2:]


def test_values_and_vector_are_inverse(layout: Layout) -> None:
    values = {name: 0.3 + k for k, name in enumerate(layout.names)} | {"a": -2.0}
    vector = layout.vector(values)
    np.testing.assert_array_equal(vector[:2], [-2.0, 1.3])
    np.testing.assert_allclose(vector[2:], np.log([values[n] for n in layout.positive]))
    back = layout.values(jnp.asarray(vector))
    assert tuple(back) == layout.names
    np.testing.assert_allclose([back[n] for n in layout.names], [values[n] for n in layout.names], rtol=1e-14)


def test_slopes_are_the_derivative_of_values(layout: Layout) -> None:
    values = {name: 0.3 + k for k, name in enumerate(layout.names)}
    vector = jnp.asarray(layout.vector(values))
    jacobian = jax.jit(jax.jacfwd(lambda v: jnp.stack(list(layout.values(v).values()))))(vector)
    np.testing.assert_allclose(jacobian, np.diag(layout.slopes(values)), rtol=1e-14)


def test_priors_take_their_own_numbers(layout: Layout) -> None:
    values = {name: jnp.asarray(float(k)) for k, name in enumerate(layout.names)}
    priors = layout.priors(values)
    assert set(priors) == {"u", "v"}
    assert (priors["u"].variance, priors["v"].variance) == (2.0, 7.0)
    assert priors["u"].shapes == ({"length": 3.0, "alpha": 4.0}, {"length": 5.0, "alpha": 6.0})
    assert priors["v"].shapes == ({"length": 8.0}, {"length": 9.0})


def test_layouts_are_static_arguments(layout: Layout) -> None:
    equation = Equation.parse(SYSTEM, fields=["u", "v"])
    twin = Layout(paper(equation, ["u", "v"]), layout.kernels)
    assert twin == layout
    assert hash(twin) == hash(layout)


# ---- data --------------------


def test_collect_freezes_measured_values_and_asks_for_their_derivatives() -> None:
    equation = Equation.parse("u_t + a*u_x^2 + b*u*u_xx = 0", fields=["u"])
    linear = paper(equation, ["u"])
    x0, x1 = np.linspace(0.0, 1.0, 4), np.linspace(0.0, 1.0, 3)
    snapshots = Snapshots([hp.Snapshot(t=2.0, x=x0, u=x0**2), hp.Snapshot(t=2.5, x=x1, u=x1**3)])
    asked = []

    class Smoothed:
        def means(self, symbols: tuple[Symbol, ...], points: np.ndarray) -> np.ndarray:
            asked.append((symbols, points.shape))
            return np.full((2, 1, len(points)), 7.0)

    data = collect(linear, snapshots, measured(linear, snapshots, lambda field: Smoothed()))
    assert asked == [((Symbol((1,)),), (4, 1))]
    before, after = data.places
    np.testing.assert_array_equal(before.frozen["u(t, x)"], x0**2)
    np.testing.assert_array_equal(before.frozen["Derivative(u(t, x), x)"], np.full(4, 7.0))
    assert after.frozen == {}
    assert (float(before.lag), float(after.lag)) == (0.5, 0.0)
    assert float(before.time) == float(after.time) == latent_time(linear, snapshots) == 2.5
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
    scales = Scales.of(snapshots)
    every = np.concatenate([s.points for s in snapshots])
    np.testing.assert_allclose(scales.extent, every.max(axis=0) - every.min(axis=0))
    np.testing.assert_allclose(scales.spacing, scales.extent / 4)  # 16 points, four to a side
    np.testing.assert_allclose(scales.power["v"], np.mean(np.concatenate([s["v"] for s in snapshots]) ** 2))


def test_bounds_follow_the_units_of_the_data(layout: Layout) -> None:
    plain = Scales.of(plane(1.0, 1.0)).hyper_bounds(layout, {"u": 1.0, "v": 1.0})
    other = Scales.of(plane(100.0, 10.0)).hyper_bounds(layout, {"u": 100.0, "v": 100.0})
    factors = {
        "u.length_x": 100.0,
        "v.length_x": 100.0,
        "u.variance": 100.0,
        "v.variance": 100.0,
        "noise.variance": 100.0,
    }
    assert set(plain) == set(layout.positive)
    for name, limits in plain.items():
        np.testing.assert_allclose(other[name], factors.get(name, 1.0) * np.array(limits), rtol=1e-12)
