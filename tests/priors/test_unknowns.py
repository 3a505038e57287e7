"""Every unknown by name: vectors, values, processes and bounds."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.priors import Prior, Unknowns


@pytest.fixture(scope="module")
def unknowns() -> Unknowns:
    kernels = (("u", hp.RationalQuadratic()), ("v", hp.SquaredExponential()))
    return Unknowns(("a", "b"), Prior(kernels, ("x", "y")))


def test_names_are_parameters_then_latents_then_noise(unknowns: Unknowns) -> None:
    assert unknowns.names == (
        "a", "b",
        "u.variance", "u.length_x", "u.alpha_x", "u.length_y", "u.alpha_y",
        "v.variance", "v.length_x", "v.length_y",
        "noise.variance",
    )  # fmt: skip
    assert unknowns.prior.names == unknowns.names[2:]


def test_values_and_vector_are_inverse(unknowns: Unknowns) -> None:
    values = {name: 0.3 + k for k, name in enumerate(unknowns.names)} | {"a": -2.0}
    vector = unknowns.vector(values)
    np.testing.assert_array_equal(vector[:2], [-2.0, 1.3])
    np.testing.assert_allclose(vector[2:], np.log([values[n] for n in unknowns.prior.names]))
    back = unknowns.values(jnp.asarray(vector))
    assert tuple(back) == unknowns.names
    np.testing.assert_allclose(
        [back[n] for n in unknowns.names], [values[n] for n in unknowns.names], rtol=1e-14
    )


def test_slopes_are_the_derivative_of_values(unknowns: Unknowns) -> None:
    values = {name: 0.3 + k for k, name in enumerate(unknowns.names)}
    vector = jnp.asarray(unknowns.vector(values))
    jacobian = jax.jit(jax.jacfwd(lambda v: jnp.stack(list(unknowns.values(v).values()))))(vector)
    np.testing.assert_allclose(jacobian, np.diag(unknowns.slopes(values)), rtol=1e-14)


def test_priors_take_their_own_numbers(unknowns: Unknowns) -> None:
    values = {name: jnp.asarray(float(k)) for k, name in enumerate(unknowns.names)}
    priors = unknowns.prior.processes(values)
    assert set(priors) == {"u", "v"}
    assert (priors["u"].variance, priors["v"].variance) == (2.0, 7.0)
    assert priors["u"].shapes == ({"length": 3.0, "alpha": 4.0}, {"length": 5.0, "alpha": 6.0})
    assert priors["v"].shapes == ({"length": 8.0}, {"length": 9.0})


def test_unknowns_are_static_arguments(unknowns: Unknowns) -> None:
    twin = Unknowns(("a", "b"), Prior(tuple(unknowns.prior.latents), ("x", "y")))
    assert twin == unknowns
    assert hash(twin) == hash(unknowns)


def test_bounds_are_logarithms_in_the_order_of_the_names(unknowns: Unknowns) -> None:
    prior = unknowns.prior
    bounds = prior.bounds(
        {"u": 4.0, "v": 1.0},
        lambda row, d: {"length": (0.1 + row, 2.0 + d)} | ({} if row else {"alpha": (0.5, 5.0)}),
        (1e-8, 3.0),
    )
    limits = dict(zip(prior.names, np.exp(bounds), strict=True))
    np.testing.assert_allclose(limits["u.variance"], [4e-6, 4e6])
    np.testing.assert_allclose(limits["v.length_y"], [1.1, 3.0])
    np.testing.assert_allclose(limits["u.alpha_x"], [0.5, 5.0])
    np.testing.assert_allclose(limits["noise.variance"], [1e-8, 3.0])
