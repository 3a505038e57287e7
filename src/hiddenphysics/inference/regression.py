"""A first guess of the parameters: regress the smoothed increment between snapshots on the equation's terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import sympy
from scipy.optimize import least_squares

from hiddenphysics.equation import Equation
from hiddenphysics.forward import derivative_symbol, evaluate_by_name, field_name, frozen_atoms
from hiddenphysics.inference.smooth import SmoothedField
from hiddenphysics.snapshots import Snapshots

Row = tuple[np.ndarray, sympy.Expr]


@dataclass(frozen=True)
class Regression:
    """The least-squares answer.

    Attributes
    ----------
    estimate
        Parameter values; 0 for parameters that no usable equation holds.
    scale
        For each parameter the change that alters the equation's right-hand side by as much as the data
        change: the natural step of an optimiser.
    """

    estimate: dict[str, float]
    scale: dict[str, float]


def regress(equation: Equation, snapshots: Snapshots, smoothed: Mapping[str, SmoothedField]) -> Regression:
    """Solve h_t + N^λ(h) ≈ 0 for λ in the mean square, at all points of the first and last snapshot.

    h_t is the increment of the smoothed snapshots over their gap, N is taken at their mean, which is second
    order in the gap. Only equations whose fields are all measured take part. Linear parameters come by linear
    least squares, others by a few Levenberg–Marquardt runs.
    """
    first, last = snapshots[0], snapshots[-1]
    points = np.concatenate([first.points, last.points])
    rates = {f: n for f, n in dict(equation.evolution).items() if _measured(f, n, smoothed)}
    before, after = _fields(equation, rates, smoothed, points)
    numbers = {name: points[:, d] for d, name in enumerate(equation.coordinates)}
    numbers["t"] = np.full(points.shape[0], 0.5 * (first.t + last.t))
    numbers |= {name: 0.5 * (before[name] + after[name]) for name in before}
    names = {f: str(equation.field(f)) for f in rates}
    increments = {f: (after[name] - before[name]) / (last.t - first.t) for f, name in names.items()}
    return _solve(equation.parameters, rates, increments, numbers)


def _measured(field: str, rate: sympy.Expr, smoothed: Mapping[str, SmoothedField]) -> bool:
    return field in smoothed and all(field_name(a) in smoothed for a in frozen_atoms(rate))


def _fields(
    equation: Equation,
    rates: Mapping[str, sympy.Expr],
    smoothed: Mapping[str, SmoothedField],
    points: np.ndarray,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """All fields and derivatives in the rates, by printed name, in the first and in the last snapshot."""
    atoms = frozen_atoms(*rates.values()) | {equation.field(f) for f in rates}
    before: dict[str, np.ndarray] = {}
    after: dict[str, np.ndarray] = {}
    for field in sorted({field_name(a) for a in atoms}):
        own = sorted((a for a in atoms if field_name(a) == field), key=str)
        means = smoothed[field].means(tuple(derivative_symbol(a, equation.coordinates) for a in own), points)
        before |= {str(a): means[0, j] for j, a in enumerate(own)}
        after |= {str(a): means[-1, j] for j, a in enumerate(own)}
    return before, after


def _solve(
    parameters: Sequence[str],
    rates: Mapping[str, sympy.Expr],
    increments: Mapping[str, np.ndarray],
    numbers: Mapping[str, np.ndarray],
) -> Regression:
    unknown = [p for p in parameters if any(p in map(str, n.free_symbols) for n in rates.values())]
    if not unknown:
        return Regression(dict.fromkeys(parameters, 0.0), dict.fromkeys(parameters, 1.0))
    size = {f: float(np.sqrt(np.mean(i**2))) or 1.0 for f, i in increments.items()}

    def stacked(expression_of: Callable[[sympy.Expr], sympy.Expr], at: np.ndarray) -> np.ndarray:
        here = dict(numbers) | dict(zip(unknown, at, strict=True))
        rows = []
        for field, rate in rates.items():
            value = evaluate_by_name(expression_of(rate), here, np)
            rows.append(np.broadcast_to(value, increments[field].shape) / size[field])
        return np.concatenate(rows)

    def residual(at: np.ndarray) -> np.ndarray:
        return np.concatenate([i / size[f] for f, i in increments.items()]) + stacked(lambda n: n, at)

    def jacobian(at: np.ndarray) -> np.ndarray:
        return np.stack([stacked(partial(_slope, name), at) for name in unknown], axis=1)

    linear = all(_is_linear(n, unknown) for n in rates.values())
    solution = (
        _linear(residual, jacobian, len(unknown)) if linear else _nonlinear(residual, jacobian, len(unknown))
    )
    columns = np.sqrt(np.mean(jacobian(solution) ** 2, axis=0))
    scale = np.where(columns > 0, 1.0 / np.maximum(columns, 1e-300), 1.0)
    return Regression(
        dict.fromkeys(parameters, 0.0) | dict(zip(unknown, solution.tolist(), strict=True)),
        dict.fromkeys(parameters, 1.0) | dict(zip(unknown, scale.tolist(), strict=True)),
    )


def _slope(name: str, rate: sympy.Expr) -> sympy.Expr:
    return sympy.diff(rate, _symbol(rate, name))


def _symbol(expression: sympy.Expr, name: str) -> sympy.Symbol:
    found = [s for s in expression.free_symbols if str(s) == name]
    return found[0] if found else sympy.Symbol(name, real=True)


def _is_linear(rate: sympy.Expr, unknown: Sequence[str]) -> bool:
    symbols = [_symbol(rate, p) for p in unknown]
    return all(sympy.diff(rate, a, b) == 0 for a in symbols for b in symbols)


def _linear(
    residual: Callable[[np.ndarray], np.ndarray], jacobian: Callable[[np.ndarray], np.ndarray], count: int
) -> np.ndarray:
    origin = np.zeros(count)
    columns = jacobian(origin)
    norms = np.linalg.norm(columns, axis=0)
    norms = np.where(norms > 0, norms, 1.0)
    return np.linalg.lstsq(columns / norms, -residual(origin), rcond=1e-8)[0] / norms


def _nonlinear(
    residual: Callable[[np.ndarray], np.ndarray], jacobian: Callable[[np.ndarray], np.ndarray], count: int
) -> np.ndarray:
    """Return the best of Levenberg–Marquardt runs from a few sizes of the parameters."""
    runs = []
    for start in (0.1, 1.0, 3.0):
        with np.errstate(all="ignore"):
            try:
                run = least_squares(residual, np.full(count, start), jacobian, x_scale="jac", max_nfev=200)
            except ValueError:  # the residual left the numbers: not a start to use
                continue
        runs.append(run)
    return min(runs, key=lambda r: r.cost).x if runs else np.ones(count)
