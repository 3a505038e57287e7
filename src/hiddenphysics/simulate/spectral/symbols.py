"""What a linear operator does to a plane wave: the one place that knows operators by their Fourier symbols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from hiddenphysics.equation import evaluate
from hiddenphysics.simulate.spectral.grid import Grid
from hiddenphysics.simulate.spectral.split import Split

Numbers = Mapping[sympy.Expr, Any]


def fourier_symbol(atom: sympy.Expr, coordinates: tuple[str, ...], grid: Grid) -> Any:
    """τ(k) with T e^{ik·x} = τ(k) e^{ik·x}, for the operator T that takes a field to `atom`.

    A field itself has τ = 1, a mixed derivative Π_d (ik_d)^{m_d}. Shape: broadcasts over the grid's modes.
    """
    symbol: Any = 1.0
    if isinstance(atom, sympy.Derivative):
        for variable, count in atom.variable_count:
            k = grid.wavenumbers[coordinates.index(variable.name)]
            symbol = symbol * (1j * k) ** int(count)
    return symbol


def linear_symbol(
    split: Split, coordinates: tuple[str, ...], grid: Grid, numbers: Numbers, *, coupled: bool
) -> jax.Array:
    """Symbol of the whole linear part.

    Shape (F, *modes) when no field drives another one; with `coupled`, (F, F, *modes): row, then column.
    """
    count = len(split.state)
    total = jnp.zeros((count, count, *grid.modes_shape), complex)
    for term in split.linear:
        factor = evaluate(term.coefficient, numbers, jnp)
        symbol = factor * fourier_symbol(term.atom, coordinates, grid)
        total = total.at[term.row, term.column].add(symbol)
    if coupled:
        return total
    rows = jnp.arange(count)
    return total[rows, rows]
