"""What constraints leave free of a state: processes without any tie, and the fields that they make."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import sympy

from hiddenphysics.equation import Equation, parameter
from hiddenphysics.spectral.projection import Projection, projection

LEVEL = 1e-9
"""Entries of a projection that are rounding."""

FIRST = 1e-6
"""By so much an earlier row of the state is preferred among equal ones: k and −k must prefer the same."""


class Group(NamedTuple):
    """Fields of the state, by their rows, that are tied together, and the number of processes that make them."""

    rows: tuple[int, ...]
    free: int


@lru_cache(maxsize=256)
def groups_of(equation: Equation) -> tuple[Group, ...]:
    """Return the groups of fields that constraints tie together; a field without ties is a group of its own.

    Told by the ranks of the projection at wave vectors drawn at random, and along the coordinates. Where these differ,
    as for u_x = 0, no number of processes fits all waves: every field is left to itself then, and projected.
    """
    count, sides = len(equation.system.state), len(equation.coordinates)
    alone = tuple(Group((row,), 1) for row in range(count))
    if not equation.system.constraints.ties:
        return alone
    rng = np.random.default_rng(0)
    drawn = rng.uniform(0.5, 1.5, (2, sides))
    every = [_allowed(equation, k, rng) for k in (*drawn, *np.eye(sides))]
    tied = sum(np.abs(one) for one in every) > LEVEL
    groups = tuple(
        Group(rows, round(float(np.trace(every[0][np.ix_(rows, rows)]).real))) for rows in _connected(tied)
    )
    same = all(
        round(float(np.trace(one[np.ix_(g.rows, g.rows)]).real)) == g.free for one in every for g in groups
    )
    return groups if same and all(g.free for g in groups) else alone


def _allowed(equation: Equation, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(F, F) projection onto the states that the ties allow, at a wave vector and parameters drawn at random."""
    numbers: dict[sympy.Expr, Any] = {parameter(p): rng.uniform(0.5, 1.5) for p in equation.parameters}
    shape = (1,) * len(k)
    waves = [np.reshape(one, shape) for one in k]
    made = projection(equation.system.constraints, waves, numbers, shape, np).allowed
    return np.asarray(made).reshape(made.shape[:2])


def _connected(tied: np.ndarray) -> list[tuple[int, ...]]:
    """Return the rows that a symmetric relation connects, each list in order, the one with the first row first."""
    label = np.arange(len(tied))
    for _ in label:
        for i, j in combinations(range(len(tied)), 2):
            if tied[i, j]:
                label[[i, j]] = label[[i, j]].min()
    return [tuple(int(row) for row in np.flatnonzero(label == one)) for one in np.unique(label)]


def process_count(groups: tuple[Group, ...]) -> int:
    """Return the number R of processes that make a state."""
    return sum(group.free for group in groups)


def basis(through: Projection, groups: tuple[Group, ...], xp: Any = jnp) -> Any:
    """(F, R, *modes) N with N Nᴴ the projection onto what ties allow: û = N ĉ of R processes without ties.

    Cholesky's factor with pivots, wavenumber by wavenumber; N(−k) is the conjugate of N(k), so that real processes make
    real fields. At k = 0, where ties of derivatives say nothing, processes stand for the means of the first fields.
    """
    allowed = through.allowed
    count, modes = allowed.shape[0], allowed.shape[2:]
    columns = []
    for rows, free in groups:
        left = allowed[np.ix_(rows, rows)]
        prefer = (1.0 - FIRST * np.arange(len(rows))).reshape(-1, *(1,) * len(modes))
        for _ in range(free):
            diagonal = xp.stack([left[i, i].real for i in range(len(rows))])
            pivot = xp.argmax(diagonal * prefer, axis=0)
            at = (np.arange(len(rows)).reshape(-1, *(1,) * len(modes)) == pivot).astype(float)
            column = xp.sum(left * at[None], axis=1) / xp.sqrt(xp.sum(diagonal * at, axis=0))
            left = left - column[:, None] * xp.conj(column)[None]
            every = [xp.zeros(modes, complex)] * count
            for i, row in enumerate(rows):
                every[row] = column[i]
            columns.append(xp.stack(every))
    return xp.stack(columns, axis=1)
