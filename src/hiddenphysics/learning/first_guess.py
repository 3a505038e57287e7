"""A first guess of the parameters: regress the smoothed increment between snapshots on the equation's terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np
import sympy

from hiddenphysics.equation import (
    TIME,
    Equation,
    Fractional,
    System,
    derivative_symbol,
    field_name,
    frozen_atoms,
    velocity,
)
from hiddenphysics.learning.hidden_fields import whitenings
from hiddenphysics.learning.regression import HiddenPrior, Rows, Solution, natural_steps, solve
from hiddenphysics.learning.smoothing import SmoothedField
from hiddenphysics.operators import Symbol
from hiddenphysics.snapshots import Snapshots

MOST_POINTS = 600
"""Points that take part; more would not change a first guess."""
ORDERS = (0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
"""Values to try for an unknown order of differentiation, in which the terms are far from linear."""
NEAR = 0.01
"""How near to the best order a first guess comes, where that costs no compilation."""


@dataclass(frozen=True)
class Source:
    """Where increments and derivatives come from: the one thing in which models differ here.

    Attributes
    ----------
    points, times
        (n, D) and (n,) where and when the equation is asked to hold.
    lengths
        (D,) over which the measured fields change.
    increment
        Field of the state -> its time derivative at the points, (n,); None where data do not tell.
    values
        Field, J symbols -> what these make of it at the points, (J, n); None where data do not tell.
    quick
        Whether values of any further symbol cost next to nothing: nothing is compiled for them.
    """

    points: np.ndarray
    times: np.ndarray
    lengths: np.ndarray
    increment: Callable[[str], np.ndarray | None]
    values: Callable[[str, Sequence[Symbol]], np.ndarray | None]
    quick: bool = False


@dataclass(frozen=True)
class Guess:
    """The least-squares answer.

    Attributes
    ----------
    estimate
        Parameter values; 0 for parameters that no usable equation holds.
    scale
        For each parameter the change that alters the equation's right-hand side by as much as the data
        change: the natural step of an optimiser.
    hidden
        The priors of hidden fields that explained the data best, by latent.
    others
        Other parameter values at which the sum of squares has a local minimum, where terms are not linear in them.
    rows
        The equations that were regressed; None where none was usable.
    """

    estimate: dict[str, float]
    scale: dict[str, float]
    hidden: Mapping[str, HiddenPrior] = field(default_factory=dict)
    others: tuple[dict[str, float], ...] = ()
    rows: Rows | None = field(default=None, repr=False)

    def scale_at(self, estimate: Mapping[str, float]) -> dict[str, float]:
        """Return `scale` at other parameter values: where terms are not linear in them it depends on these."""
        if self.rows is None:
            return self.scale
        steps = natural_steps(self.rows, np.array([estimate[p] for p in self.rows.unknown]))
        return self.scale | dict(zip(self.rows.unknown, steps.tolist(), strict=True))


def first_guess(equation: Equation, source: Source) -> Guess:
    """Solve h_t + N^λ(h) ≈ 0 for λ in the mean square.

    h_t is the increment of the smoothed snapshots over their gap, N is taken at their mean, which is second
    order in the gap; u_tt is the second difference of three snapshots. A hidden field that enters linearly, such
    as a pressure, is a Gaussian process: its covariance makes the mean square a generalised one, and the best of
    a few lengths and variances is taken. Equations with other hidden fields take no part. Unknown orders of
    differentiation are tried one after the other.
    """
    system, parameters = equation.system, equation.parameters
    seen = {f: source.increment(f) for f in system.state}
    increments = {f: rate for f, rate in seen.items() if rate is not None}

    def tried(orders: dict[str, float]) -> Iterator[_Tried]:
        """Solve with given orders of differentiation, once for every covariance of hidden fields."""
        chosen = {equation.parameter(p): value for p, value in orders.items()}
        rates = {f: system.regressed(f).subs(chosen) for f in increments}
        numbers = _numbers(source, rates, equation.coordinates)
        sought = [p for p in parameters if p not in orders]
        rows = Rows.of(rates, increments, numbers, sought, every=bool(orders))
        bounds = np.array([equation.bounds[p] for p in rows.unknown], float).reshape(-1, 2)
        if not rows.rows:
            return
        for whitening in whitenings(rows, system, source.points, source.times, source.lengths):
            yield _Tried(solve(rows, whitening, bounds), whitening.priors, orders, rows)

    attempts = [one for orders in _orders(system) for one in tried(orders)]
    best = min(attempts, key=_cost) if attempts else None
    if best is not None and best.orders and source.quick:
        best = _refined(best, lambda orders: min(tried(orders), key=_cost))
    if best is None:
        return Guess(dict.fromkeys(parameters, 0.0), dict.fromkeys(parameters, 1.0))
    solution, hidden, orders, rows = best
    known = dict.fromkeys(parameters, 0.0) | orders
    return Guess(
        known | solution.estimate,
        dict.fromkeys(parameters, 1.0) | solution.scale,
        hidden,
        tuple(known | other for other in solution.others),
        rows,
    )


class _Tried(NamedTuple):
    """A regression with some orders of differentiation held."""

    solution: Solution
    hidden: Mapping[str, HiddenPrior]
    orders: dict[str, float]
    rows: Rows


def _cost(one: _Tried) -> float:
    return one.solution.cost if np.isfinite(one.solution.cost) else np.inf


def _refined(best: _Tried, tried: Callable[[dict[str, float]], _Tried]) -> _Tried:
    """Move every unknown order between its neighbours in `ORDERS` to where the squares are least."""
    from scipy.optimize import minimize_scalar  # a quarter of a second to import, which few fits need

    def along(name: str, orders: dict[str, float]) -> Callable[[float], _Tried]:
        return lambda value: tried(orders | {name: float(value)})

    for name, value in tuple(best.orders.items()):
        below, above = [o for o in ORDERS if o < value], [o for o in ORDERS if o > value]
        ends = (below[-1] if below else 0.5 * value, above[0] if above else 1.5 * value)
        at = along(name, best.orders)
        nearest = minimize_scalar(
            lambda v, at=at: _cost(at(v)), bounds=ends, method="bounded", options={"xatol": NEAR}
        )
        best = min(best, at(nearest.x), key=_cost)
    return best


def _orders(system: System) -> Iterator[dict[str, float]]:
    """Yield values for all parameters that stand in an order of differentiation."""
    atoms = frozen_atoms(*system.rates.values())
    held = {s.name for a in atoms if isinstance(a, Fractional) for s in a.order.free_symbols}
    names = [p for p in system.equation.parameters if p in held]
    bounds = system.equation.bounds
    inside = {p: [v for v in ORDERS if bounds[p][0] <= v <= bounds[p][1]] for p in names}
    tried = {p: values or [float(np.mean(np.clip(bounds[p], 0.0, 4.0)))] for p, values in inside.items()}
    yield from (dict(zip(names, values, strict=True)) for values in product(*tried.values()))


def _numbers(
    source: Source, rates: Mapping[str, sympy.Expr], coordinates: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """Return coordinates, time and all fields and derivatives that the data tell."""
    numbers = {name: source.points[:, d] for d, name in enumerate(coordinates)} | {TIME: source.times}
    atoms = frozen_atoms(*rates.values())
    for name in sorted({field_name(a) for a in atoms}):
        own = sorted((a for a in atoms if field_name(a) == name), key=str)
        values = source.values(name, [derivative_symbol(a, coordinates) for a in own])
        if values is not None:
            numbers |= dict(zip(map(str, own), values, strict=True))
    return numbers


def smoothed_snapshots(snapshots: Snapshots, smoothed: Mapping[str, SmoothedField]) -> Source:
    """Return the source of a model of one gap: smoothed snapshots, seen at points of the first and the last one."""
    t, identity = snapshots.times, (Symbol.identity(len(snapshots.coordinates)),)
    everywhere = np.concatenate([snapshots[0].points, snapshots[-1].points])
    points = everywhere[:: -(-everywhere.shape[0] // MOST_POINTS)]
    of_velocity = {velocity(f): f for f in smoothed}
    logs = [np.log([shape["length"] for shape in s.hyper(-1)[1]]) for s in smoothed.values()]

    def rates(name: str, symbols: tuple[Symbol, ...]) -> np.ndarray:
        means = smoothed[name].means(symbols, points)
        return np.asarray((means[-1] - means[0]) / (t[-1] - t[0]))

    def increment(name: str) -> np.ndarray | None:
        """Take first differences of what is measured, second ones of what is the velocity of that."""
        if name in smoothed:
            return rates(name, identity)[0]
        if name not in of_velocity or len(t) < 3:
            return None
        middle, u = len(t) // 2, smoothed[of_velocity[name]].means(identity, points)[:, 0]
        later, earlier = (u[-1] - u[middle]) / (t[-1] - t[middle]), (u[middle] - u[0]) / (t[middle] - t[0])
        return np.asarray(2.0 * (later - earlier) / (t[-1] - t[0]))

    def values(name: str, symbols: Sequence[Symbol]) -> np.ndarray | None:
        """Return the mean of the smoothed first and last snapshot; of a velocity, their difference."""
        if name in smoothed:
            means = smoothed[name].means(tuple(symbols), points)
            return np.asarray(0.5 * (means[0] + means[-1]))
        return rates(of_velocity[name], tuple(symbols)) if name in of_velocity else None

    halfway = np.full(points.shape[0], 0.5 * (t[0] + t[-1]))
    return Source(points, halfway, np.exp(np.mean(logs, axis=0)), increment, values)
