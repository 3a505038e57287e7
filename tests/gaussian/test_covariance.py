"""Dense covariances against automatic differentiation of the plain kernel, in one and two dimensions."""

from __future__ import annotations

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.gaussian import Observed, covariance, joint_covariance, variance
from hiddenphysics.gaussian.covariance import STRIP_ENTRIES
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.priors import Kernel, Matern, Process, RationalQuadratic, SquaredExponential

from .referee import Term, differentiated_covariance, observe


def prior(kernel: Kernel, gamma: float, *lengths: float, **others: float) -> Process:
    shapes = tuple({"length": jnp.asarray(length)} | others for length in lengths)
    return Process(kernel, jnp.asarray(gamma), shapes)


def wavy(phase: float):
    """A coefficient field that no term can absorb."""
    return lambda x: 1.0 + 0.5 * jnp.sin(jnp.sum(x * (1.0 + jnp.arange(x.size))) + phase)


def constant(value: float):
    return lambda x: value + 0.0 * x[0]


@dataclass(frozen=True)
class Pair:
    """Two operators, their priors, and points of which the first three coincide."""

    name: str
    left: tuple[Term, ...]
    right: tuple[Term, ...]
    priors: dict[str, Process] = field(hash=False)
    dimensions: int = 1

    @property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(len(self.name))
        x = random.uniform(-2.0, 2.0, (7, self.dimensions))
        return x, np.concatenate([x[:3], random.uniform(-2.0, 2.0, (5, self.dimensions))])


ONE = {"u": prior(SquaredExponential(), 1.3, 0.8)}
TWO = {
    "p": prior(SquaredExponential(), 0.4, 0.9, 1.7),
    "psi": prior(RationalQuadratic(), 2.1, 1.1, 0.7, alpha=1.5),
}

PAIRS = (
    Pair(
        "Burgers against itself",
        (Term("u", (0,), constant(1.0)), Term("u", (1,), wavy(0.1)), Term("u", (2,), constant(-0.3))),
        (Term("u", (0,), constant(1.0)), Term("u", (1,), wavy(0.1)), Term("u", (2,), constant(-0.3))),
        ONE,
    ),
    Pair(
        "fourth against third order",
        (Term("u", (4,), wavy(1.0)), Term("u", (0,), wavy(2.0))),
        (Term("u", (3,), wavy(3.0)), Term("u", (4,), constant(0.2))),
        ONE,
    ),
    Pair(
        "two dimensions, two latents",
        (Term("psi", (0, 1), wavy(0.0)), Term("psi", (1, 2), constant(0.5)), Term("p", (1, 0), wavy(0.5))),
        (Term("psi", (1, 0), constant(-1.0)), Term("psi", (2, 0), wavy(0.7)), Term("p", (0, 1), wavy(0.9))),
        TWO,
        dimensions=2,
    ),
    Pair(
        "latents in common with only one side",
        (Term("psi", (0, 0), wavy(0.2)), Term("p", (1, 1), wavy(0.4))),
        (Term("p", (0, 2), wavy(0.6)),),
        TWO,
        dimensions=2,
    ),
)


def random_pair(seed: int) -> Pair:
    """Operators of random length, derivatives and coefficient fields."""
    random = np.random.default_rng(seed)

    def side() -> tuple[Term, ...]:
        orders = random.choice(9, size=3, replace=False)
        return tuple(
            Term(
                str(random.choice(["p", "psi"])), (int(m) // 3, int(m) % 3), wavy(float(random.uniform(0, 6)))
            )
            for m in orders
        )

    return Pair(f"random {seed}", side(), side(), TWO, dimensions=2)


PAIRS += (random_pair(1), random_pair(2))
each_pair = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)


def both(pair: Pair) -> tuple[Observed, Observed]:
    x, other = pair.points
    return observe(pair.left, x), observe(pair.right, other)


@each_pair
def test_covariance_equals_automatic_differentiation(pair: Pair) -> None:
    found = np.asarray(covariance(*both(pair), pair.priors))
    expected = differentiated_covariance(pair.left, pair.right, pair.priors, pair.points)
    assert found.shape == (7, 8)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())


@each_pair
def test_covariance_transposes_when_its_sides_are_exchanged(pair: Pair) -> None:
    left, right = both(pair)
    there, back = covariance(left, right, pair.priors), covariance(right, left, pair.priors)
    np.testing.assert_allclose(there, back.T, rtol=1e-13, atol=1e-13)


@each_pair
def test_variance_is_the_diagonal_of_the_covariance(pair: Pair) -> None:
    left, _ = both(pair)
    whole = covariance(left, left, pair.priors)
    assert np.all(np.diagonal(whole) > 0)
    np.testing.assert_allclose(variance(left, pair.priors), np.diagonal(whole), rtol=1e-13)


def test_joint_covariance_stacks_the_blocks_in_order() -> None:
    pair = PAIRS[2]
    left, right = both(pair)
    joint = np.asarray(joint_covariance([left, right], pair.priors))
    np.testing.assert_array_equal(joint, joint.T)
    np.testing.assert_array_equal(joint[:7, :7], covariance(left, left, pair.priors))
    np.testing.assert_array_equal(joint[:7, 7:], covariance(left, right, pair.priors))
    np.testing.assert_array_equal(joint[7:, 7:], covariance(right, right, pair.priors))
    assert np.linalg.eigvalsh(joint)[0] > 0


def test_independent_latents_do_not_covary() -> None:
    points = jnp.linspace(0.0, 1.0, 4)[:, None]
    u, v = (Observed(Operator.of(f, Symbol((1,)), 2.0), points) for f in "uv")
    priors = {f: prior(SquaredExponential(), 1.0, 0.5) for f in "uv"}
    np.testing.assert_array_equal(covariance(u, v, priors), np.zeros((4, 4)))


def test_matern_variances_of_derivatives_are_its_spectral_moments() -> None:
    """E(z')² = 2ν/ℓ² · 1/(2ν−2) and E(z'')² = 3 (2ν/ℓ²)²/((2ν−2)(2ν−4)), at coincident points."""
    nu, length, gamma = 2.5, 0.7, 1.9
    at = jnp.array([[0.3]])
    rate = 2 * nu / length**2
    expected = [gamma, gamma * rate / (2 * nu - 2), gamma * 3 * rate**2 / ((2 * nu - 2) * (2 * nu - 4))]
    for order, value in enumerate(expected):
        one = Observed(Operator.of("u", Symbol((order,)), 1.0), at)
        np.testing.assert_allclose(
            covariance(one, one, {"u": prior(Matern(nu), gamma, length)}), value, rtol=1e-14
        )


# ---- strips --------------------


def weighted_sum(pair: Pair):
    """A scalar that feels every entry, as a function of all that a likelihood differentiates."""
    x, other = (jnp.asarray(p) for p in pair.points)
    weights = jnp.asarray(np.random.default_rng(0).standard_normal((x.shape[0], other.shape[0])))
    right = observe(pair.right, np.asarray(other))

    def total(logs: dict[str, jax.Array], factor: jax.Array, points: jax.Array) -> jax.Array:
        priors = {
            name: Process(
                p.kernel,
                p.variance * jnp.exp(logs[name]),
                tuple(s | {"length": s["length"] * jnp.exp(logs[name])} for s in p.shapes),
            )
            for name, p in pair.priors.items()
        }
        left = observe(pair.left, points)
        scaled = Observed(left.operator.map(lambda c: factor * c), points)
        return jnp.sum(weights * covariance(scaled, right, priors))

    return total, ({name: jnp.zeros(()) for name in pair.priors}, jnp.ones(()), x)


@pytest.mark.parametrize(
    "entries", [8, 17, 40]
)  # one row, two rows and five rows at a time; 7 = 2·3 + 1 = 5 + 2
def test_strips_give_the_same_matrix(monkeypatch: pytest.MonkeyPatch, entries: int) -> None:
    pair = PAIRS[2]
    whole = covariance(*both(pair), pair.priors)
    monkeypatch.setitem(STRIP_ENTRIES, "cpu", entries)
    np.testing.assert_allclose(covariance(*both(pair), pair.priors), whole, rtol=1e-14, atol=1e-14)


def test_strips_give_the_same_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    total, at = weighted_sum(PAIRS[0])
    whole = jax.jit(jax.value_and_grad(total, argnums=(0, 1, 2)))(*at)
    monkeypatch.setitem(STRIP_ENTRIES, "cpu", 17)
    strips = jax.jit(jax.value_and_grad(lambda *a: total(*a), argnums=(0, 1, 2)))(*at)
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(strips), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-11, atol=1e-11)
        assert np.any(np.asarray(one) != 0)


def test_strips_with_plain_number_coefficients(monkeypatch: pytest.MonkeyPatch) -> None:
    points = jnp.linspace(0.0, 2.0, 9)[:, None]
    one = Observed(Operator.of("u", Symbol((1,)), 2.0), points)
    whole = covariance(one, one, ONE)
    monkeypatch.setitem(STRIP_ENTRIES, "cpu", 20)
    np.testing.assert_allclose(covariance(one, one, ONE), whole, rtol=1e-14, atol=1e-14)
