"""The loop over pairs of terms against the covariance written out."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from hiddenphysics.gaussian import Observed, joint_covariance
from hiddenphysics.gaussian.covariance import count_pairs, is_local, stacked_covariance
from hiddenphysics.operators import Factor, Operator, Order, Symbol
from hiddenphysics.priors import Matern, Process, SquaredExponential

GENERATOR = np.random.default_rng(3)


def observed(count: int, terms: list[tuple[str, tuple[int, int]]]) -> Observed:
    points = jnp.asarray(GENERATOR.uniform(0.0, 2.0, (count, 2)))
    coefficients = [GENERATOR.standard_normal(count) if k % 2 else 0.7 for k in range(len(terms))]
    return Observed(
        Operator.collect((z, Symbol(o), c) for (z, o), c in zip(terms, coefficients, strict=True)), points
    )


SEEN = [
    observed(4, [("psi", (0, 1)), ("psi", (1, 1)), ("p", (1, 0)), ("psi", (0, 3))]),
    observed(3, [("psi", (1, 0)), ("p", (0, 1)), ("psi", (2, 1))]),
    observed(5, [("p", (0, 0))]),
]


def priors(length: float) -> dict[str, Process]:
    shapes = ({"length": jnp.asarray(length)}, {"length": jnp.asarray(0.8)})
    return {
        "psi": Process(SquaredExponential(), jnp.asarray(1.7), shapes),
        "p": Process(Matern(4.5), jnp.asarray(0.4), shapes),
    }


def test_values_and_slopes_equal_those_of_the_blocks() -> None:
    weights = jnp.asarray(GENERATOR.standard_normal((12, 12)))

    def of(covariance):
        def value(length):
            made = covariance(SEEN, priors(length))
            return jnp.vdot(weights, made), made

        return jax.jit(jax.value_and_grad(value, has_aux=True))(0.6)

    (written, blocks), slope = of(joint_covariance)
    (looped, stacked), looped_slope = of(stacked_covariance)
    np.testing.assert_allclose((looped, looped_slope), (written, slope), rtol=1e-12)
    np.testing.assert_allclose(stacked, blocks, rtol=1e-12, atol=1e-12)


def test_pairs_are_counted_and_fractional_ones_told_apart() -> None:
    # psi: 3·3 + 3·2 + 2·2, p: 1·1 + 1·1 + 1·1 + 1·1 + 1·1 + 1·1
    assert count_pairs(SEEN) == 9 + 6 + 4 + 6
    assert is_local(SEEN)
    half = Symbol((0, 0), (Factor(Order("alpha", 1.5, 2.0), (0,), one_sided=True),))
    assert not is_local([Observed(Operator.of("p", half, 1.0), SEEN[0].points)])
