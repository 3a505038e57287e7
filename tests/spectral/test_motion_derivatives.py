"""Derivatives of the motion by state and parameters, forwards and backwards."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.spectral import Motion

CASES = {
    "burgers": ("u_t + a*u*u_x - b*u_xx = 0", {"a": 1.0, "b": 0.1}),
    "nls": ("i*h_t + a*h_xx + b*abs(h)^2*h = 0", {"a": 0.5, "b": 1.0}),
    "sine-gordon": ("u_tt - c*u_xx + b*sin(a*u) = 0", {"a": 1.0, "b": 1.0, "c": 2.0}),
    "backward heat": ("u_t + a*u*u_x - b*u_xx = 0", {"a": 1.0, "b": -0.1}),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_forwards_and_backwards(name):
    text, values = CASES[name]
    motion = Motion.of(text, (0, 2 * np.pi), 16)
    (x,) = motion.grid.points()
    rows = range(len(motion.state))
    start = jnp.stack([jnp.sin(x + row) + 0.3 * jnp.cos(2 * x) for row in rows])
    tangent = jnp.stack([jnp.cos(3 * x - row) for row in rows])
    change = dict.fromkeys(values, 1.0)
    weights = jnp.asarray(np.random.default_rng(0).standard_normal(start.shape))

    @jax.jit
    def moved(fields, values):
        return motion.advance(fields, values, 0.5, 10)

    # Forwards: the limit of differences.
    _, slope = jax.jit(lambda *at: jax.jvp(moved, at, (tangent, change)))(start, values)
    h = 1e-6
    there = moved(start + h * tangent, {k: v + h * change[k] for k, v in values.items()})
    back = moved(start - h * tangent, {k: v - h * change[k] for k, v in values.items()})
    np.testing.assert_allclose(slope, (there - back) / (2 * h), rtol=1e-6, atol=1e-7)
    # Backwards: the transpose of forwards.
    by_state, by_values = jax.jit(lambda *at: jax.vjp(moved, *at)[1](weights))(start, values)
    total = jnp.vdot(by_state, tangent) + sum(by_values[k] * change[k] for k in values)
    np.testing.assert_allclose(total, jnp.vdot(weights, slope), rtol=1e-10)


def test_many_directions_at_once():
    motion = Motion.of(*CASES["burgers"][:1], (0, 2 * np.pi), 8)
    (x,) = motion.grid.points()
    basis = jnp.eye(8)[:, None, :]

    def moved(fields):
        return motion.advance(fields, CASES["burgers"][1], 0.2, 4)

    start = jnp.sin(x)[None]
    columns = jax.jit(jax.vmap(lambda v: jax.jvp(moved, (start,), (v,))[1]))(basis)
    np.testing.assert_allclose(columns[:, 0], jax.jit(jax.jacrev(moved))(start)[0, :, 0, :].T, atol=1e-12)
