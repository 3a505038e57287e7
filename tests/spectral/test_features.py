"""Features and priors against closed forms and quadrature."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from hiddenphysics.errors import ModelError
from hiddenphysics.models.flow.box import choose
from hiddenphysics.models.flow.windows import Region
from hiddenphysics.operators import Symbol
from hiddenphysics.priors import Matern, Prior, RationalQuadratic, Sech, SquaredExponential
from hiddenphysics.spectral import Features, Gauge, Grid, values_at

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("box", "shape", "waves"), [(((-1.0, 2.0),), (20,), (7,)), (((-1.0, 2.0), (0.0, 3.0)), (12, 14), (4, 5))]
)
def test_amplitudes_and_modes_are_the_same_field(box, shape, waves):
    features = Features(Grid(box, shape), waves)
    z = RNG.standard_normal((2, features.count))
    points = RNG.uniform(0, 2, (9, len(box)))
    modes = features.to_modes(jnp.asarray(z), Gauge(jnp.ones((2, *shape)), None))
    np.testing.assert_allclose(
        values_at(features.grid, modes, jnp.asarray(points)), z @ features.at(points).T, atol=1e-12
    )


def test_derivatives_of_features_and_of_modes():
    features = Features(Grid(((0.0, 2.0),), (30,)), (9,))
    z = RNG.standard_normal((1, features.count))
    points = np.linspace(0.1, 1.9, 7)[:, None]
    step = 1e-6
    slope = (z @ (features.at(points + step) - features.at(points - step)).T) / (2 * step)
    modes = features.to_modes(jnp.asarray(z), Gauge(jnp.ones((1, 30)), None))
    np.testing.assert_allclose(
        values_at(features.grid, modes, jnp.asarray(points), Symbol((1,))), slope, rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(z @ features.with_slopes(points)[1][0].T, slope, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", [SquaredExponential(), Sech(), Matern(4.5)])
def test_spectral_density_is_the_transform_of_the_correlation(kernel):
    for omega in (0.0, 0.7, 2.0):
        expected = (
            2
            * quad(
                lambda r, w=omega: (
                    float(kernel.derivatives(jnp.asarray(r), 0, {"length": 0.8})[0]) * np.cos(w * r)
                ),
                0,
                25,
                limit=200,
            )[0]
        )
        assert float(kernel.spectral_density(jnp.asarray(omega), {"length": 0.8})) == pytest.approx(
            expected, rel=1e-7
        )


def test_a_kernel_without_spectral_density_says_so():
    with pytest.raises(ModelError, match="spectral density"):
        RationalQuadratic().spectral_density(jnp.zeros(1), {"length": 1.0})


@pytest.mark.parametrize("kernel", [SquaredExponential(), Sech()])
def test_features_carry_the_prior_in_two_dimensions(kernel):
    prior = Prior((("u", kernel),), ("x", "y"))
    points = RNG.uniform(0, 1, (12, 2))
    features = choose(Region.of(points), np.array([0.6, 0.8]), np.array([1.5, 1.5]), prior.reach(1e-7))
    theta = jnp.log(jnp.array([1.7, 0.7, 0.9, 1e-3]))
    spectrum = np.asarray(prior.spectrum(theta, features.omega, features.measure, np.zeros(1)))
    A = features.at(points)
    apart = points[:, None] - points[None]
    expected = 1.7
    for d, length in enumerate((0.7, 0.9)):
        expected = expected * np.asarray(
            kernel.derivatives(jnp.asarray(apart[..., d]), 0, {"length": length})[0]
        )
    # The secant's tails reach around the box; the squared exponential's do not.
    np.testing.assert_allclose(
        (A * spectrum) @ A.T, expected, atol=1e-5 if kernel == SquaredExponential() else 5e-3
    )


def test_too_many_waves_are_refused_with_a_way_out():
    with pytest.raises(ModelError, match="smaller region"):
        choose(Region(np.zeros(2), np.ones(2)), np.full(2, 1e-3), np.full(2, 1e-2), 8.0)
