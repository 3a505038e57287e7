"""Fractional operators from the equation's words to a likelihood with exact slopes."""

from __future__ import annotations

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.equation import Equation, Fractional, derivative_symbol
from hiddenphysics.errors import ModelError
from hiddenphysics.models.paper import paper
from hiddenphysics.operators import Factor, Order, Symbol
from hiddenphysics.priors import Matern

ALPHA = Order("alpha", None, 4.0)


@pytest.mark.parametrize(
    ("operator", "coordinates", "factor"),
    [
        ("frac_lap(u, alpha)", ("x",), Factor(ALPHA, (0,), False)),
        ("frac_lap(u, alpha)", ("x", "y", "z"), Factor(ALPHA, (0, 1, 2), False)),
        ("D(u, y, alpha)", ("x", "y"), Factor(ALPHA, (1,), True)),
        ("D(u, x, 1.7)", ("x",), Factor(Order.known(1.7), (0,), True)),
        ("D(u, x, 2*s + 1/3)", ("x",), Factor(Order("2*s + 1/3", None, 4.0), (0,), True)),
    ],
)
def test_atoms_become_factors(operator: str, coordinates: tuple[str, ...], factor: Factor) -> None:
    equation = Equation.parse(f"u_t + {operator} = 0", coordinates=coordinates)
    found = derivative_symbol(equation.evolution["u"], coordinates)
    assert found == Symbol((0,) * len(coordinates), (factor,))
    assert found.fractional[0].order.limit == factor.order.limit


@pytest.mark.parametrize(
    "product", ["u*frac_lap(u, alpha)", "u_xx*frac_lap(u, alpha)", "u_x^2*D(u, x, alpha)"]
)
def test_of_a_product_the_fractional_factor_stays(product: str) -> None:
    equation = Equation.parse(f"u_t + {product} = 0")
    before = paper(equation.system, ["u"]).observations[1].quantity.operator
    ((_, symbol, coefficient),) = [term for term in before if term[1].fractional]
    assert not coefficient.has(Fractional)
    assert [f.order.name for f in symbol.fractional] == ["alpha"]
    assert len(before.terms) == 2


@pytest.mark.parametrize(
    "text",
    [
        "u_t + frac_lap(u, a)*D(u, x, b) = 0",
        "u_t + frac_lap(u, a)^2 = 0",
        "u_t + sin(D(u, x, 1.5)) = 0",
    ],
)
def test_a_fractional_factor_that_would_be_frozen_is_refused(text: str) -> None:
    with pytest.raises(
        ModelError, match=r"as a number: it stands in a product with another .* Write each as a term"
    ):
        paper(Equation.parse(text).system, ["u"])


def test_definitions_may_be_fractional() -> None:
    linear = paper(Equation.parse("u_t + c*u_x = 0; u = 2*frac_lap(psi, 1)").system, ["u"])
    after, before = (o.quantity.operator for o in linear.observations)
    ((latent, symbol, two),) = after
    assert (latent, two, symbol.fractional[0].order.value) == ("psi", 2, 1.0)
    assert any(s.orders == (1,) and s.fractional for _, s, _ in before)


def snapshots(dimensions: int = 1, count: int = 12) -> list[hp.Snapshot]:
    random = np.random.default_rng(7)
    found = []
    for t in (0.0, 0.05):
        axes = dict(zip("xy", random.uniform(-1.5, 1.5, (dimensions, count)), strict=False))
        u = np.exp(-(1 - t) * sum(a**2 for a in axes.values())) * np.cos(sum(axes.values()))
        found.append(hp.Snapshot(t=t, u=u, **axes))
    return found


VALUES = {"a": 0.9, "b": 0.4, "alpha": 1.37, "s": 0.61, "u.variance": 0.8, "noise.variance": 1e-3}


@pytest.mark.parametrize(
    ("text", "dimensions"),
    [
        ("u_t + a*u*u_x + b*frac_lap(u, alpha) = 0", 1),
        ("u_t + a*u*D(u, x, 2*s) - b*u_xx = 0", 1),
        ("u_t + a*u*u_x + b*frac_lap(u, alpha) = 0", 2),
    ],
)
def test_the_likelihoods_gradient_is_the_slope_of_its_value(text: str, dimensions: int) -> None:
    task = hp.problem(text, snapshots(dimensions), model="paper")
    lengths = {"u.length_x": 0.7, "u.length_y": 0.9}
    vector = task.unknowns.vector(VALUES | lengths)
    value, gradient = task.objective(vector)
    assert np.isfinite(value)
    for k, name in enumerate(task.names):
        step = np.zeros(len(vector))
        step[k] = 1e-5
        slope = (task.objective(vector + step)[0] - task.objective(vector - step)[0]) / 2e-5
        np.testing.assert_allclose(gradient[k], slope, rtol=1e-5, atol=1e-5, err_msg=name)


def likelihood(text: str, **values: float) -> float:
    task = hp.problem(text, snapshots(), model="paper")
    known = VALUES | {"u.length_x": 0.7} | values
    return task.negative_log_likelihood({name: known[name] for name in task.names})


def test_a_known_order_is_the_unknown_one_held_there() -> None:
    unknown = likelihood("u_t + b*frac_lap(u, alpha) = 0")
    np.testing.assert_allclose(likelihood("u_t + b*frac_lap(u, 1.37) = 0"), unknown, rtol=1e-12)


def test_kernels_without_fractional_derivatives_are_refused_at_the_door() -> None:
    with pytest.raises(ModelError, match=r"Matern\(nu=4.5\) was given, but the equation takes a fractional"):
        hp.problem("u_t + frac_lap(u, alpha) = 0", snapshots(), model="paper", kernel=Matern(4.5))


def test_outside_its_range_the_likelihood_is_not_a_number() -> None:
    assert np.isnan(likelihood("u_t + b*frac_lap(u, alpha) = 0", alpha=4.2))
