"""Constraints in Fourier space: what they make of a motion, wavenumber by wavenumber."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from hiddenphysics.equation import Constraints, Equation, parameter, wave_sum

CUT = 1e-11
"""Singular values of a matrix, its rows and columns scaled to 1, that are nothing: a mean that no gradient moves."""

SAME = 1e-9
"""Relative difference of matrices that commute."""

MATRICES, MOVED, LEFT = "matrices", "moved", "left"
"""What the linear part is under constraints: matrices; numbers that the projection has moved; or numbers with which the
projection commutes, so that it may be left out."""


class Projection(NamedTuple):
    """What constraints make of F fields h of the state and of right-hand sides N, mass ∂ₜh + forces q + N = 0.

    Attributes
    ----------
    rates
        (F, F, *modes) P in ∂ₜh = −P N; with mass 1 this is I − G (C G)⁻¹ C, and I where C G vanishes.
    multipliers
        (Q, F, *modes) in q = −M N.
    slaved
        (S, F, *modes) in q_s = T h.
    allowed
        (F, F, *modes) the orthogonal projection onto the states that satisfy the ties.
    """

    rates: Any
    multipliers: Any
    slaved: Any
    allowed: Any


def projection(
    constraints: Constraints,
    wavenumbers: Sequence[Any],
    numbers: Mapping[sympy.Expr, Any],
    shape: tuple[int, ...],
    xp: Any = jnp,
) -> Projection:
    """Return what constraints do at the wavenumbers of a grid, whose modes have this shape; traceable with JAX.

    Where a matrix is singular, as that of every derivative at k = 0, the smallest solution is taken: the mean of a
    velocity is free, that of a pressure or of a potential is 0.
    """
    tied = constraints.at(wavenumbers, numbers, xp)
    count, ties = len(constraints.system.state), len(constraints.ties)
    mass = _matrix(tied.mass, shape, count, xp)
    forces = _matrix(tied.forces, shape, len(constraints.multipliers), xp)
    on_state, on_rates = (_matrix(part, shape, count, xp) for part in (tied.on_state, tied.on_rates))
    on_slaved = _matrix(tied.on_slaved, shape, len(constraints.slaved), xp)
    slaved = xp.zeros((*shape, 0, count), complex)
    if constraints.slaved:
        # Where a potential has no say, as psi in u = psi_y at k = 0, it may grow without bound: u is free there.
        says = xp.any(on_slaved != 0, axis=-2, keepdims=True)
        named = np.array([[name in tie.latents for name in constraints.slaved] for tie in constraints.ties])
        silent = named.any(axis=-1) & ~xp.any(named & says, axis=-1)
        on_state, on_rates = (xp.where(silent[..., None], 0.0, one) for one in (on_state, on_rates))
        inverse = _pseudo_inverse(on_slaved, xp)
        left = xp.eye(ties) - on_slaved @ inverse
        slaved = -inverse @ on_state
        on_state, on_rates = (_without_rounding(left @ one, one, xp) for one in (on_state, on_rates))
    allowed = xp.broadcast_to(xp.eye(count, dtype=complex), (*shape, count, count))
    whole = mass
    if ties:
        # The ties of time derivatives below the highest are those of the fields.
        levels = [on_state, on_rates] if constraints.system.accelerations else [on_state]
        every = xp.concatenate(levels, axis=-2)
        allowed = allowed - _pseudo_inverse(every, xp, (-1,)) @ every
        corner = xp.zeros((*shape, ties, forces.shape[-1]), complex)
        above, below = xp.concatenate([mass, forces], axis=-1), xp.concatenate([on_rates, corner], axis=-1)
        whole = xp.concatenate([above, below], axis=-2)
    solved = _pseudo_inverse(whole, xp)
    parts = (solved[..., :count, :count], solved[..., count:, :count], slaved, allowed)
    return Projection(*(xp.moveaxis(part, (-2, -1), (0, 1)) for part in parts))


def _matrix(entries: list[list[Any]], shape: tuple[int, ...], columns: int, xp: Any) -> Any:
    """(*modes, rows, columns) of entries that are numbers or broadcast over the modes."""
    if not entries or not columns:
        return xp.zeros((*shape, len(entries), columns), complex)
    rows = [
        xp.stack([xp.broadcast_to(xp.asarray(e, dtype=complex), shape) for e in row], axis=-1)
        for row in entries
    ]
    return xp.stack(rows, axis=-2)


def _size(matrix: Any, axis: Any, xp: Any) -> Any:
    """Largest entry along some axes, which stay; a constant to whoever differentiates."""
    size = xp.max(xp.abs(matrix), axis=axis, keepdims=True)
    return jax.lax.stop_gradient(size) if xp is jnp else size


def _without_rounding(left: Any, of: Any, xp: Any) -> Any:
    """Return what is left of matrices (…, n, m), with 0 where that is only rounding."""
    return xp.where(xp.abs(left) > CUT * _size(of, (-2, -1), xp), left, 0.0)


def _pseudo_inverse(matrix: Any, xp: Any, axes: tuple[int, ...] = (-1, -2, -1)) -> Any:
    """Moore and Penrose's inverse of (…, n, m) with rows and columns scaled to 1: derivatives differ much in size.

    Where there are many solutions, the smallest one is told by the columns' scales. With rows (axis −1) scaled alone
    it is the smallest as it is, and what the inverse leaves of a vector the nearest one: an orthogonal projection.
    """
    scaled, by = matrix, {-1: xp.ones((1, 1)), -2: xp.ones((1, 1))}
    for axis in axes:
        size = _size(scaled, axis, xp)
        size = xp.where(size > 0, size, 1.0)
        scaled, by[axis] = scaled / size, by[axis] * size
    inverse = xp.linalg.pinv(scaled, rtol=CUT)
    return inverse / xp.swapaxes(by[-2], -1, -2) / xp.swapaxes(by[-1], -1, -2)


def total_linear(
    constraints: Constraints,
    wavenumbers: Sequence[Any],
    numbers: Mapping[sympy.Expr, Any],
    through: Projection | None,
    shape: tuple[int, ...],
    xp: Any = jnp,
) -> Any:
    """(F, F, *modes) the linear part of −N on the state, what slaved fields do in it included."""
    system = constraints.system
    rows = []
    for operator in system.linear:
        row = [wave_sum(operator.only(name), wavenumbers, numbers, xp) for name in system.state]
        if through is not None:
            for index, name in enumerate(constraints.slaved):
                values = wave_sum(operator.only(name), wavenumbers, numbers, xp)
                row = [own + values * through.slaved[index, f] for f, own in enumerate(row)]
        rows.append(xp.stack([xp.broadcast_to(xp.asarray(one, dtype=complex), shape) for one in row]))
    return xp.stack(rows)


def product(a: jax.Array, b: jax.Array) -> jax.Array:
    """Multiply matrices (F, G, *modes) and (G, H, *modes)."""
    return jnp.sum(a[:, :, None] * b[None], axis=1)


@lru_cache(maxsize=256)
def kind_of_linear_part(equation: Equation) -> str:
    """Return MATRICES, MOVED or LEFT: what the linear part is, told at two wave vectors drawn at random."""
    kinds = []
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        k = [
            np.reshape(v, (1,) * len(equation.coordinates))
            for v in rng.uniform(0.5, 1.5, len(equation.coordinates))
        ]
        numbers: dict[sympy.Expr, Any] = {parameter(p): rng.uniform(0.5, 1.5) for p in equation.parameters}
        shape = (1,) * len(equation.coordinates)
        constraints = equation.system.constraints
        made = projection(constraints, k, numbers, shape, np)
        total = total_linear(constraints, k, numbers, made, shape, np)
        P, L = (part.reshape(len(part), -1) for part in (made.rates, total))
        kinds.append(_kind(P, L, plain=not equation.mass))
    return MATRICES if MATRICES in kinds else kinds[0]


def _kind(P: np.ndarray, L: np.ndarray, *, plain: bool) -> str:
    def is_diagonal(matrix: np.ndarray) -> bool:
        return bool(
            np.all(np.abs(matrix - np.diag(np.diag(matrix))) <= SAME * np.abs(matrix).max(initial=0.0))
        )

    if is_diagonal(P @ L):
        return MOVED
    if plain and is_diagonal(L) and np.abs(P @ L - L @ P).max() <= SAME * np.abs(L).max():
        return LEFT
    return MATRICES
