"""The linear model of a round without its matrix: products along the flow, and conjugate gradients.

With z = S^½ c, c ~ N(0, 1), the round's system is P = 1 + S^½ Jᵀ EᵀE J S^½ / σ². One product with it is a tangent
carried along the flow, a sum over points as a density (`Densities`), and a transposed tangent on the way back: 40
milliseconds for two fields on 64 × 64 points, where P itself would be 3600 × 3600 and take minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from hiddenphysics.compiled_code import compiled
from hiddenphysics.models.flow.densities import Densities, finer_grid
from hiddenphysics.models.flow.latent import Latent
from hiddenphysics.models.flow.path import MOST_GROWTH
from hiddenphysics.models.flow.program import Program

ACCURATE, MOST_PRODUCTS = 1e-3, 200
"""Relative accuracy of a solve, and products after which it ends where it is."""


class Course(NamedTuple):
    """What the motion of a window needs to know: the latent but its amplitudes, the times (T,), sizes (G,) of fields.

    Attributes
    ----------
    rows
        (G,) of the measured fields in the state.
    """

    latent: Latent
    times: Any
    units: Any
    rows: Any


class Weights(NamedTuple):
    """The prior's deviations S^½ (K,), the noise's variance, and the local inverse (R, K/R, K/R) of every process.

    The local inverse is P⁻¹ for values that are seen where they are, not where the motion takes them: what conjugate
    gradients begin with.
    """

    root: Any
    noise: Any
    local: Any


class Stepped(NamedTuple):
    """What the linear model around a point says.

    Attributes
    ----------
    state, slope
        (K,) change of z for the parameters as they are, (K, P) by how much it falls with them.
    towards, information
        (P,) and (P, P): the step in the parameters is information⁻¹ · towards.
    imitated
        (K, P) S^½ Jᵀ EᵀE B / σ²: how the parameters' columns B look to the state.
    products
        How many it took.
    """

    state: Any
    slope: Any
    towards: Any
    information: Any
    imitated: Any
    products: Any


def predicted(program: Program, steps: int, course: Course, z: jax.Array, parameters: jax.Array) -> jax.Array:
    """Fields (T, G, *n) at the stops, at the densities' points and in units of their sizes; `steps` in every gap."""
    latent = course.latent
    motion, features = program.on(latent.ends, latent.driving)
    numbers = dict(zip(program.equation.parameters, parameters, strict=True))
    most = MOST_GROWTH / (course.times[-1] - course.times[0])

    def to_stop(modes: jax.Array, gap: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        start, dt = gap[0], (gap[1] - gap[0]) / steps
        by = motion.readied(motion.weights(numbers, dt, most=most), modes, numbers, start)

        def one(now: jax.Array, index: jax.Array) -> tuple[jax.Array, None]:
            return motion.step(now, numbers, by, start + index * dt), None

        modes = jax.lax.scan(one, modes, jnp.arange(steps))[0]
        return modes, modes

    first = program.state_of(motion, features, latent.gauge)(z, parameters)
    later = jax.lax.scan(to_stop, first, (course.times[:-1], course.times[1:]))[1]
    every = jnp.concatenate([first[None], later])[:, course.rows]
    fine, shape = finer_grid(motion.grid), every.shape[:2]
    flat = motion.grid.pad(every.reshape(-1, *motion.grid.modes_shape), fine)
    fields = fine.to_fields(flat).reshape(*shape, *fine.shape)
    return fields / course.units.reshape(-1, *(1,) * len(fine.shape))


class Left(NamedTuple):
    """What is left over at a point.

    Attributes
    ----------
    squares
        Σ (y − φ)² of all values.
    slope
        (T, G, *n) half of its derivative in the fields.
    apart
        Σ (φ − φ')² where φ' takes half as many steps: 15² times the squared error of φ.
    """

    squares: Any
    slope: Any
    apart: Any


@compiled(static_argnames=("program", "steps"))
def left_at(
    program: Program, steps: int, course: Course, data: Densities, z: jax.Array, parameters: jax.Array
) -> Left:
    """Move a state (K,), and compare with the values."""
    fine = predicted(program, steps, course, z, parameters)
    apart = fine - predicted(program, steps // 2, course, z, parameters)
    return Left(data.residual(fine), data.slope(fine), jnp.sum(data.weighted(apart) * apart))


@compiled(static_argnames=("program", "steps"))
def stepped(
    program: Program,
    steps: int,
    course: Course,
    data: Densities,
    weights: Weights,
    z: jax.Array,
    parameters: jax.Array,
    slope: jax.Array,
) -> Stepped:
    """Solve the linear model around a state (K,) and parameters (P,), with the `slope` of what is left over there."""
    root, noise = weights.root, weights.noise
    system = _system(program, steps, course, data, weights, z, parameters)
    left = slope / noise
    own = jax.vmap(lambda unit: system.push(jnp.zeros_like(z), unit))(jnp.eye(parameters.size))
    seen = jax.vmap(data.weighted)(own) / noise
    imitated = jax.vmap(lambda one: root * system.pull(one)[0])(seen)
    down = -(root * system.pull(left)[0] + z / root)
    solved, products = _solve(system.product, system.local, jnp.concatenate([down[None], imitated]))
    both = own.reshape(parameters.size, -1)
    towards = -both @ left.ravel() - imitated @ solved[0]
    information = both @ seen.reshape(parameters.size, -1).T - imitated @ solved[1:].T
    information = 0.5 * (information + information.T)
    state, fall = root * solved[0], (root * solved[1:]).T
    return Stepped(state, fall, towards, information, imitated.T, products)


class _System(NamedTuple):
    push: Callable[[jax.Array, jax.Array], jax.Array]
    pull: Callable[[jax.Array], tuple[jax.Array, jax.Array]]
    product: Callable[[jax.Array], jax.Array]
    local: Callable[[jax.Array], jax.Array]


def _system(
    program: Program,
    steps: int,
    course: Course,
    data: Densities,
    weights: Weights,
    z: jax.Array,
    parameters: jax.Array,
) -> _System:
    root, noise, blocks = weights
    push = jax.linearize(partial(predicted, program, steps, course), z, parameters)[1]
    pull = jax.linear_transpose(push, z, parameters)
    still = jnp.zeros_like(parameters)

    def product(c: jax.Array) -> jax.Array:
        return c + root * pull(data.weighted(push(root * c, still)))[0] / noise

    def local(c: jax.Array) -> jax.Array:
        return jnp.einsum("rij,rj->ri", blocks, c.reshape(len(blocks), -1)).ravel()

    return _System(push, pull, product, local)


def _solve(
    product: Callable[[jax.Array], jax.Array], local: Callable[[jax.Array], jax.Array], right: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """P⁻¹ of right-hand sides (n, K) by conjugate gradients side by side, and the products that each took.

    Hestenes & Stiefel (1952), J. Res. Nat. Bur. Stand. 49, 409.
    """

    def moved_by(way: jax.Array) -> jax.Array:
        return jax.lax.cond(jnp.any(way != 0), product, jnp.zeros_like, way)

    act = partial(jax.lax.map, moved_by)
    begin = jax.vmap(local)(right)
    first = jnp.sum(right * begin, axis=1)

    def going(now: Any) -> jax.Array:
        return (now[-1] < MOST_PRODUCTS) & jnp.any(now[3] > ACCURATE**2 * first)

    def one(now: Any) -> Any:
        x, left, way, size, count = now
        moved = act(way)
        # A side that has come to its end has no way to go any more.
        part = jnp.where(size > 0, size / jnp.maximum(jnp.sum(way * moved, axis=1), 1e-300), 0.0)
        x, left = x + part[:, None] * way, left - part[:, None] * moved
        nearer = jax.vmap(local)(left)
        after = jnp.sum(left * nearer, axis=1)
        more = jnp.where(size > 0, after / jnp.maximum(size, 1e-300), 0.0)
        return x, left, nearer + more[:, None] * way, after, count + 1

    start = (jnp.zeros_like(right), right, begin, first, jnp.asarray(0))
    x, *_, count = jax.lax.while_loop(going, one, start)
    return x, count
