"""A first guess of the parameters: regress the smoothed increment between snapshots on the equation's terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import sympy

from hiddenphysics.equation import Equation, Fractional
from hiddenphysics.forward import System, derivative_symbol, field_name, frozen_atoms, velocity
from hiddenphysics.inference.hidden import HiddenPrior, whitenings
from hiddenphysics.inference.least_squares import Solution, solve
from hiddenphysics.inference.rows import Rows
from hiddenphysics.inference.smooth import SmoothedField
from hiddenphysics.operators import Symbol
from hiddenphysics.snapshots import Snapshots

MOST_POINTS = 600
"""Points that take part; more would not change a first guess."""
ORDERS = (0.5, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
"""Values to try for an unknown order of differentiation, in which the terms are far from linear."""


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
    hidden
        The priors of hidden fields that explained the data best, by latent.
    """

    estimate: dict[str, float]
    scale: dict[str, float]
    hidden: Mapping[str, HiddenPrior] = field(default_factory=dict)


def regress(equation: Equation, snapshots: Snapshots, smoothed: Mapping[str, SmoothedField]) -> Regression:
    """Solve h_t + N^λ(h) ≈ 0 for λ in the mean square, at points of the first and last snapshot.

    h_t is the increment of the smoothed snapshots over their gap, N is taken at their mean, which is second
    order in the gap; u_tt is the second difference of three snapshots. A hidden field that enters linearly, such
    as a pressure, is a Gaussian process: its covariance makes the mean square a generalised one, and the best of
    a few lengths and variances is taken. Equations with other hidden fields take no part. Unknown orders of
    differentiation are tried one after the other.
    """
    system = System.of(equation, smoothed)
    source = _Source(system.equation.coordinates, snapshots, smoothed, _points(snapshots))
    increments = {f: source.increment(f) for f in system.rates if source.has_increment(f)}
    parameters = equation.parameters
    best: tuple[Solution, Mapping[str, HiddenPrior], dict[str, float]] | None = None
    for orders in _orders(system):
        chosen = {equation.parameter(p): value for p, value in orders.items()}
        rates = {f: system.rates[f].subs(chosen) for f in increments}
        rows = Rows.of(rates, increments, source.numbers(rates), [p for p in parameters if p not in orders])
        for whitening in whitenings(rows, system, source.points, smoothed) if rows.rows else ():
            solution = solve(rows, whitening)
            if best is None or solution.cost < best[0].cost:
                best = solution, whitening.priors, orders
    if best is None:
        return Regression(dict.fromkeys(parameters, 0.0), dict.fromkeys(parameters, 1.0))
    solution, hidden, orders = best
    return Regression(
        dict.fromkeys(parameters, 0.0) | solution.estimate | orders,
        dict.fromkeys(parameters, 1.0) | solution.scale,
        hidden,
    )


def _points(snapshots: Snapshots) -> np.ndarray:
    points = np.concatenate([snapshots[0].points, snapshots[-1].points])
    return points[:: -(-points.shape[0] // MOST_POINTS)]


def _orders(system: System) -> Iterator[dict[str, float]]:
    """Yield values for all parameters that stand in an order of differentiation."""
    atoms = frozen_atoms(*system.rates.values())
    found = {s.name for a in atoms if isinstance(a, Fractional) for s in a.order.free_symbols}
    names = [p for p in system.equation.parameters if p in found]
    bounds = dict(system.equation.bounds)
    inside = {p: [v for v in ORDERS if bounds[p][0] <= v <= bounds[p][1]] for p in names}
    tried = {p: values or [float(np.mean(np.clip(bounds[p], 0.0, 4.0)))] for p, values in inside.items()}
    yield from (dict(zip(names, values, strict=True)) for values in product(*tried.values()))


@dataclass(frozen=True)
class _Source:
    """Where increments and mean fields come from: smoothed snapshots at common points (n, D)."""

    coordinates: tuple[str, ...]
    snapshots: Snapshots
    smoothed: Mapping[str, SmoothedField]
    points: np.ndarray

    def has_increment(self, name: str) -> bool:
        return name in self.smoothed or (self._moving(name) is not None and len(self.snapshots) > 2)

    def increment(self, name: str) -> np.ndarray:
        """Return the rate of change of a field between the snapshots."""
        identity = (Symbol.identity(len(self.coordinates)),)
        if name in self.smoothed:
            return self._rate(name, identity)[0]
        t = self.snapshots.times
        middle = len(t) // 2
        u = self.smoothed[self._moving(name) or name].means(identity, self.points)[:, 0]
        later, earlier = (u[-1] - u[middle]) / (t[-1] - t[middle]), (u[middle] - u[0]) / (t[middle] - t[0])
        return np.asarray(2.0 * (later - earlier) / (t[-1] - t[0]))

    def numbers(self, rates: Mapping[str, sympy.Expr]) -> dict[str, np.ndarray]:
        """Return coordinates, time and all fields and derivatives that are measured, halfway between the snapshots."""
        numbers = {name: self.points[:, d] for d, name in enumerate(self.coordinates)}
        t = self.snapshots.times
        numbers["t"] = np.full(self.points.shape[0], 0.5 * (t[0] + t[-1]))
        atoms = frozen_atoms(*rates.values())
        for name in sorted({field_name(a) for a in atoms}):
            own = sorted((a for a in atoms if field_name(a) == name), key=str)
            symbols = tuple(derivative_symbol(a, self.coordinates) for a in own)
            if name in self.smoothed:
                values = self.smoothed[name].means(symbols, self.points)
                numbers |= {str(a): 0.5 * (values[0, j] + values[-1, j]) for j, a in enumerate(own)}
            elif (base := self._moving(name)) is not None:
                numbers |= dict(zip(map(str, own), self._rate(base, symbols), strict=True))
        return numbers

    def _moving(self, name: str) -> str | None:
        """Return the measured field whose velocity a name is."""
        return next((f for f in self.smoothed if velocity(f) == name), None)

    def _rate(self, name: str, symbols: tuple[Symbol, ...]) -> np.ndarray:
        values = self.smoothed[name].means(symbols, self.points)
        return np.asarray((values[-1] - values[0]) / (self.snapshots.times[-1] - self.snapshots.times[0]))
