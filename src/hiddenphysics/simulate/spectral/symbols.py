"""What a linear operator does to a plane wave: the one place that knows operators by their Fourier symbols."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from hiddenphysics.equation import FractionalDerivative, FractionalLaplacian, evaluate
from hiddenphysics.simulate.spectral.grid import Grid
from hiddenphysics.simulate.spectral.split import Split

Numbers = Mapping[sympy.Expr, Any]


def fourier_symbol(atom: sympy.Expr, coordinates: tuple[str, ...], grid: Grid, numbers: Numbers) -> Any:
    """τ(k) with T e^{ik·x} = τ(k) e^{ik·x}, for the operator T that takes a field to `atom`.

    A field itself has τ = 1, a mixed derivative Π_d (ik_d)^{m_d}, `frac_lap(u, alpha)` has |k|^α and
    `D(u, x, alpha)` has (ik)^α = |k|^α e^{iαπ/2 sign k}. Shape: broadcasts over the grid's modes.

    Parameters
    ----------
    atom
        A field, a spatial derivative or a fractional operator, with fields as functions of t and
        `coordinates`.
    numbers
        Values of the parameters, of which an order α may consist; they may be traced.
    """
    if isinstance(atom, FractionalLaplacian):
        k = np.sqrt(sum(np.square(k) for k in grid.wavenumbers))
        return _power(k, evaluate(atom.order, numbers, jnp))
    if isinstance(atom, FractionalDerivative):
        k, order = grid.wavenumbers[coordinates.index(atom.along.name)], evaluate(atom.order, numbers, jnp)
        return _power(np.abs(k), order) * jnp.exp(0.5j * jnp.pi * order * np.sign(k))
    symbol: Any = 1.0
    if isinstance(atom, sympy.Derivative):
        for variable, count in atom.variable_count:
            k = grid.wavenumbers[coordinates.index(variable.name)]
            symbol = symbol * (1j * k) ** int(count)
    return symbol


def _power(k: np.ndarray, order: Any) -> jax.Array:
    """k^α for k ≥ 0 and α ≥ 0, with the derivative in α that it has for α > 0: at k = 0 none, not 0·log 0."""
    origin = jnp.where(jnp.asarray(order) == 0, 1.0, 0.0)
    return jnp.where(k > 0, jnp.power(np.where(k > 0, k, 1.0), order), origin)


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
        symbol = factor * fourier_symbol(term.atom, coordinates, grid, numbers)
        total = total.at[term.row, term.column].add(symbol)
    if coupled:
        return total
    rows = jnp.arange(count)
    return total[rows, rows]
