"""Hidden fields in a regression: Gaussian processes that make the errors of its rows correlated."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from jax import Array

from hiddenphysics.equation import System, derivative_symbol, field_name
from hiddenphysics.gaussian import RUNS_ONCE, Observed, joint_covariance
from hiddenphysics.learning.regression import HiddenPrior, Row, Rows, Whitening
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.priors import Process, SquaredExponential

LENGTHS = (0.5, 1.0, 2.0, 4.0)
"""Lengths of hidden fields to try, relative to those of the measured ones."""
NOISES = (1e-4, 1e-2, 1e-1)
"""Variances of what neither the equation nor the hidden field explains, relative to the hidden field's share."""


def whitenings(rows: Rows, system: System, points: np.ndarray, lengths: np.ndarray) -> Iterator[Whitening]:
    """Yield the error covariances to try: one without hidden fields, otherwise a few lengths and noises.

    `lengths` (D,) are those of the measured fields.
    """
    operators = [_operator(row, system) for row in rows.rows]
    latents = sorted({latent for operator in operators for latent in operator.latents})
    if not latents:
        yield Whitening()
        return
    for factor in LENGTHS:
        scaled = tuple(factor * lengths)
        shares = {latent: _covariance(operators, latent, scaled, points) for latent in latents}
        # Each hidden field gets the variance that makes its share of the rows 1 in the mean.
        variances = {latent: 1.0 / float(np.mean(np.diagonal(K))) for latent, K in shares.items()}
        total = sum(variances[latent] * K for latent, K in shares.items())
        priors = {latent: HiddenPrior(scaled, variances[latent]) for latent in latents}
        for noise in NOISES:
            yield Whitening(
                np.linalg.cholesky(total + noise * np.eye(points.shape[0] * len(rows.rows))), priors
            )


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
    operators: list[Operator[np.ndarray]], latent: str, lengths: tuple[float, ...], points: np.ndarray
) -> np.ndarray:
    """Return the covariance of the rows' parts in one latent of variance 1."""
    parts = [operator.only(latent) for operator in operators]
    symbols = tuple(tuple(symbol for _, symbol, _ in part) for part in parts)
    coefficients = [[jnp.asarray(c, float) for _, _, c in part] for part in parts]
    return np.asarray(_compiled(latent, symbols, coefficients, jnp.asarray(lengths), jnp.asarray(points)))


@partial(jax.jit, static_argnames=("latent", "symbols"), compiler_options=RUNS_ONCE)
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
