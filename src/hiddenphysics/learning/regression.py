"""Regression on an equation: its residual at many points as a function of its parameters, in the mean square."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import sympy
from scipy.linalg import solve_triangular

from hiddenphysics.equation import evaluate_by_name, frozen_atoms, parameter, slopes

Function = Callable[[np.ndarray], np.ndarray]

STARTS = (0.1, 0.3, 1.0, 3.0)
"""Sizes of all parameters from which a nonlinear search starts."""


@dataclass(frozen=True)
class Row:
    """One equation h_t + N = 0 at n points.

    Attributes
    ----------
    rate
        N without hidden fields.
    hidden
        Field or derivative that nobody measured -> its factor in N, numbers (n,) or a constant.
    increment
        h_t from the data, (n,).
    size
        The root mean square of h_t, by which the row is divided.
    """

    rate: sympy.Expr
    hidden: Mapping[sympy.Expr, np.ndarray]
    increment: np.ndarray
    size: float


@dataclass(frozen=True)
class Rows:
    """All usable equations, with the numbers in them and the parameters that they hold."""

    rows: tuple[Row, ...]
    numbers: Mapping[str, np.ndarray]
    unknown: tuple[str, ...]

    @classmethod
    def of(
        cls,
        rates: Mapping[str, sympy.Expr],
        increments: Mapping[str, np.ndarray],
        numbers: Mapping[str, np.ndarray],
        parameters: Sequence[str],
        *,
        every: bool = False,
    ) -> Rows:
        """Keep the equations that hold parameters, or `every` one; hidden fields only linearly, with known factors."""
        rows = []
        for name, rate in rates.items():
            row = _row(rate, increments[name], numbers, parameters)
            if row is not None and (every or _names(row.rate) & set(parameters)):
                rows.append(row)
        held = set().union(*(_names(row.rate) for row in rows)) if rows else set()
        return cls(tuple(rows), numbers, tuple(p for p in parameters if p in held))

    @property
    def is_linear(self) -> bool:
        """Whether every residual is linear in the parameters."""
        return all(_is_linear(row.rate, self.unknown) for row in self.rows)

    def residual(self, at: np.ndarray) -> np.ndarray:
        """Return (h_t + N)/size of all rows, stacked, at parameter values (P,)."""
        increments = np.concatenate([r.increment / r.size for r in self.rows])
        return self._stacked([r.rate for r in self.rows], at) + increments

    def jacobian(self, at: np.ndarray) -> np.ndarray:
        """Return the derivative of `residual` in every parameter, (n, P)."""
        slopes = [[sympy.diff(r.rate, parameter(n)) for r in self.rows] for n in self.unknown]
        count = sum(r.increment.size for r in self.rows)
        return np.reshape([self._stacked(each, at) for each in slopes], (len(slopes), count)).T

    def _stacked(self, rates: Sequence[sympy.Expr], at: np.ndarray) -> np.ndarray:
        here = dict(self.numbers) | dict(zip(self.unknown, at, strict=True))
        return np.concatenate([
            np.broadcast_to(evaluate_by_name(rate, here, np), r.increment.shape) / r.size
            for rate, r in zip(rates, self.rows, strict=True)
        ])  # fmt: skip


def _row(
    rate: sympy.Expr, increment: np.ndarray, numbers: Mapping[str, np.ndarray], parameters: Sequence[str]
) -> Row | None:
    hidden = {atom: slope for atom, slope in slopes(rate).items() if str(atom) not in numbers}
    for slope in hidden.values():
        if _names(slope) & set(parameters) or any(str(a) not in numbers for a in frozen_atoms(slope)):
            return None
    factors = {
        atom: np.asarray(evaluate_by_name(slope, numbers, np), float) for atom, slope in hidden.items()
    }
    known = rate.xreplace(dict.fromkeys(hidden, sympy.Integer(0)))
    return Row(known, factors, increment, float(np.sqrt(np.mean(increment**2))) or 1.0)


def _names(expression: sympy.Expr) -> set[str]:
    return {symbol.name for symbol in expression.free_symbols}


def _is_linear(rate: sympy.Expr, unknown: Sequence[str]) -> bool:
    symbols = [parameter(name) for name in unknown]
    return all(sympy.diff(rate, a, b) == 0 for a in symbols for b in symbols)


# ---- least squares, ordinary or generalised --------------------


@dataclass(frozen=True)
class HiddenPrior:
    """Length along each coordinate, and variance, of a hidden latent; a squared exponential."""

    lengths: tuple[float, ...]
    variance: float


@dataclass(frozen=True)
class Whitening:
    """The error covariance C = L Lᵀ of the rows, up to one overall factor, in independent blocks.

    `blocks` holds which rows each has, and its L; there are none where all errors are independent.
    """

    blocks: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    priors: Mapping[str, HiddenPrior] = field(default_factory=dict)

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return L⁻¹ rows."""
        white = np.array(rows, float)
        for own, factor in self.blocks:
            white[own] = solve_triangular(factor, rows[own], lower=True, check_finite=False)
        return white

    @property
    def half_log_det(self) -> float:
        """½ log|C|."""
        return float(sum(np.sum(np.log(np.diagonal(factor))) for _, factor in self.blocks))


@dataclass(frozen=True)
class Solution:
    """Parameters by name, the natural step of each, and the restricted negative log likelihood up to a constant.

    `others` are local optima besides the best, where a search from other starts has ended in them.
    """

    estimate: dict[str, float]
    scale: dict[str, float]
    cost: float
    others: tuple[dict[str, float], ...]


def solve(rows: Rows, whitening: Whitening, bounds: np.ndarray) -> Solution:
    """Minimise the whitened residual; linear parameters at once, others by a few searches within bounds (P, 2)."""

    def residual(at: np.ndarray) -> np.ndarray:
        return whitening.apply(rows.residual(at))

    def jacobian(at: np.ndarray) -> np.ndarray:
        return whitening.apply(rows.jacobian(at))

    if rows.is_linear:
        solution, *others = [_linear(residual, jacobian, len(rows.unknown))]
    else:
        solution, *others = [
            _upright(one, rows.residual, bounds) for one in _nonlinear(residual, jacobian, bounds)
        ]
    scale = natural_steps(rows, solution)
    return Solution(
        dict(zip(rows.unknown, solution.tolist(), strict=True)),
        dict(zip(rows.unknown, scale.tolist(), strict=True)),
        _cost(residual(solution), jacobian(solution) * scale, whitening),
        tuple(dict(zip(rows.unknown, other.tolist(), strict=True)) for other in others),
    )


def natural_steps(rows: Rows, at: np.ndarray) -> np.ndarray:
    """Return for each parameter the change that alters the rates by as much as the fields change, (P,)."""
    with np.errstate(all="ignore"):
        columns = np.sqrt(np.mean(rows.jacobian(at) ** 2, axis=0))
    usable = np.isfinite(columns) & (columns > 0)
    return np.where(usable, 1.0 / np.where(usable, columns, 1.0), 1.0)


def _cost(residual: np.ndarray, columns: np.ndarray, whitening: Whitening) -> float:
    """Return the restricted negative log likelihood with the overall variance at its optimum."""
    count = max(residual.size - columns.shape[1], 1)
    spread = np.log(max(float(residual @ residual) / count, 1e-300))
    sizes = np.linalg.svd(columns, compute_uv=False)
    return float(0.5 * count * spread + whitening.half_log_det + np.sum(np.log(np.maximum(sizes, 1e-300))))


def _linear(residual: Function, jacobian: Function, count: int) -> np.ndarray:
    origin = np.zeros(count)
    columns = jacobian(origin)
    norms = np.linalg.norm(columns, axis=0)
    norms = np.where(norms > 0, norms, 1.0)
    return np.asarray(np.linalg.lstsq(columns / norms, -residual(origin), rcond=1e-8)[0] / norms)


def _nonlinear(residual: Function, jacobian: Function, bounds: np.ndarray) -> list[np.ndarray]:
    """Return where searches from several sizes have ended, the best first."""
    from scipy.optimize import least_squares  # a quarter of a second to import, which few fits need

    runs = []
    for size in STARTS:
        start = np.array([_inside(size, low, high) for low, high in bounds])
        with np.errstate(all="ignore"):
            try:
                run = least_squares(
                    residual, start, jacobian, bounds=tuple(bounds.T), x_scale="jac", max_nfev=200
                )
            except (ValueError, np.linalg.LinAlgError):  # the residual left the numbers: not a start to use
                continue
        runs.append(run)
    return [np.asarray(run.x) for run in sorted(runs, key=lambda run: run.cost)] or [np.ones(len(bounds))]


def _upright(at: np.ndarray, residual: Function, bounds: np.ndarray) -> np.ndarray:
    """Turn the signs that the equation does not see, of one parameter as K in u^2/(K^2 + u^2) or of two, to plus."""
    here = residual(at)
    if not np.all(np.isfinite(here)):
        return at
    for some in (*combinations(range(len(at)), 1), *combinations(range(len(at)), 2)):
        turned = at.copy()
        turned[list(some)] *= -1.0
        inside = np.all((bounds[:, 0] <= turned) & (turned <= bounds[:, 1]))
        if not inside or np.any(at[list(some)] >= 0):
            continue
        if np.allclose(residual(turned), here, rtol=1e-9, atol=1e-12):
            at = turned
    return at


def _inside(size: float, low: float, high: float) -> float:
    """Return a start of about this size that lies well between the bounds, whatever their units."""
    if low < size < high:
        return size
    if np.isfinite(low) and np.isfinite(high):
        return 0.5 * (low + high)
    return low + max(abs(low), size) if np.isfinite(low) else high - max(abs(high), size)
