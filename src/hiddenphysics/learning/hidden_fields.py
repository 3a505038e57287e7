"""Hidden fields in a regression: Gaussian processes that make the errors of its rows correlated."""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np
import sympy
from jax import Array

from hiddenphysics.compiled_code import compiled
from hiddenphysics.equation import System, derivative_symbol, field_name
from hiddenphysics.gaussian import Observed, joint_covariance
from hiddenphysics.learning.regression import HiddenPrior, Row, Rows, Whitening
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.priors import Process, SquaredExponential

LENGTHS = (0.5, 1.0, 2.0, 4.0)
"""Lengths of hidden fields to try, relative to those of the measured ones."""
NOISES = (1e-4, 1e-2, 1e-1)
"""Variances of what neither the equation nor the hidden field explains, relative to the hidden field's share."""


def whitenings(
    rows: Rows, system: System, points: np.ndarray, times: np.ndarray, lengths: np.ndarray
) -> Iterator[Whitening]:
    """Yield the error covariances to try: one without hidden fields, otherwise a few lengths and noises.

    What a hidden field is at one time says nothing here of what it is at another: points (N, D) with the same time
    (N,) are a block. As one matrix the nine gaps between ten snapshots of a wake took five minutes. `lengths` (D,) are
    those of the measured fields.
    """
    operators = [_operator(row, system) for row in rows.rows]
    latents = sorted({latent for operator in operators for latent in operator.latents})
    if not latents:
        yield Whitening()
        return
    groups = [np.nonzero(times == t)[0] for t in np.unique(times)]
    owned = [(np.arange(len(operators))[:, None] * len(points) + group).ravel() for group in groups]
    for factor in LENGTHS:
        scaled = tuple(factor * lengths)
        shares = {
            latent: [_covariance(operators, latent, scaled, points, group) for group in groups]
            for latent in latents
        }
        # Each hidden field gets the variance that makes its share of the rows 1 in the mean.
        variances = {
            latent: 1.0 / float(np.mean(np.concatenate([np.diagonal(K) for K in each])))
            for latent, each in shares.items()
        }
        totals = [
            np.sum([variances[latent] * shares[latent][number] for latent in latents], axis=0)
            for number in range(len(groups))
        ]
        priors = {latent: HiddenPrior(scaled, variances[latent]) for latent in latents}
        for noise in NOISES:
            factors = (np.linalg.cholesky(total + noise * np.eye(len(total))) for total in totals)
            yield Whitening(tuple(zip(owned, factors, strict=True)), priors)


def _operator(row: Row, system: System) -> Operator[np.ndarray]:
    """Return a row's hidden part, in units of the row's size, as an operator on latents with numeric coefficients."""
    terms = Operator.collect(
        (field_name(atom), derivative_symbol(atom, system.equation.coordinates), factor / row.size)
        for atom, factor in row.hidden.items()
    )
    return terms.after({name: system.by_latents(name).map(_number) for name, _, _ in terms})


def _number(constant: sympy.Expr) -> np.ndarray:
    """Return a constant of a definition; one that holds a parameter counts as 1 in a first guess."""
    return np.asarray(float(constant) if constant.is_number else 1.0)


def _covariance(
    operators: list[Operator[np.ndarray]],
    latent: str,
    lengths: tuple[float, ...],
    points: np.ndarray,
    group: np.ndarray,
) -> np.ndarray:
    """Return the covariance of the rows' parts in one latent of variance 1, at a group of the points."""
    parts = [operator.only(latent) for operator in operators]
    symbols = tuple(tuple(symbol for _, symbol, _ in part) for part in parts)
    coefficients = [
        [jnp.asarray(c if np.ndim(c) == 0 else np.asarray(c)[group], float) for _, _, c in part]
        for part in parts
    ]
    return np.asarray(
        _compiled(latent, symbols, coefficients, jnp.asarray(lengths), jnp.asarray(points[group]))
    )


@compiled(once=True, static_argnames=("latent", "symbols"))
def _compiled(
    latent: str,
    symbols: tuple[tuple[Symbol, ...], ...],
    coefficients: list[list[Array]],
    lengths: Array,
    points: Array,
) -> Array:
    process = Process(SquaredExponential(), jnp.ones(()), tuple({"length": length} for length in lengths))
    observed = [
        Observed(Operator(tuple((latent, s, c) for s, c in zip(some, numbers, strict=True))), points)
        for some, numbers in zip(symbols, coefficients, strict=True)
    ]
    return joint_covariance(observed, {latent: process})
