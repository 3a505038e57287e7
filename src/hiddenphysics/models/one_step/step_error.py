"""The error of a step itself: what it leaves of the motion, and by how much that moves the answer.

Both models of one gap replace the motion by one step. With data that are cleaner than the step is exact, the learned
noise takes the difference, and the curvature of the likelihood knows nothing of it: the answer is sure and wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np
import sympy

from hiddenphysics.equation import Fractional, System, coordinate, derivative_symbol, field_name, frozen_atoms
from hiddenphysics.equation import evaluate_by_name as evaluated
from hiddenphysics.learning import SmoothedField
from hiddenphysics.models.one_step.likelihood import at_place
from hiddenphysics.models.one_step.problem import Problem
from hiddenphysics.models.one_step.step import origin
from hiddenphysics.operators import Symbol
from hiddenphysics.snapshots import Snapshots

Numbers = Mapping[str, np.ndarray]
"""Fields and derivatives by printed name, (N,) each."""


@dataclass(frozen=True)
class Jets:
    """Every measured field and its derivatives, smoothed, at the points of all snapshots one after the other.

    Attributes
    ----------
    values
        Field -> derivative -> (S, N): in each of the S snapshots at all N points.
    points
        (N, D).
    ends
        (S + 1,) where the points of a snapshot begin and end.
    times
        (S,).
    """

    values: Mapping[str, Mapping[Symbol, np.ndarray]]
    points: np.ndarray
    ends: np.ndarray
    times: np.ndarray

    @classmethod
    def of(
        cls, snapshots: Snapshots, smoothed: Mapping[str, SmoothedField], symbols: Mapping[str, set[Symbol]]
    ) -> Jets:
        """Take derivatives of the smoothed fields; of rough kernels those that they have."""
        points = np.concatenate([snapshot.points for snapshot in snapshots])
        values = {}
        for field, wanted in symbols.items():
            kernel = smoothed[field].kernel
            usable = sorted((s for s in wanted if max(s.orders) <= kernel.smoothness), key=str)
            made = smoothed[field].means(tuple(usable), points)
            values[field] = {symbol: made[:, j] for j, symbol in enumerate(usable)}
        ends = np.cumsum([0, *(len(snapshot) for snapshot in snapshots)])
        return cls(values, points, ends, np.asarray(snapshots.times))

    def part(self, snapshot: int) -> slice:
        """Where the points of a snapshot stand."""
        return slice(int(self.ends[snapshot]), int(self.ends[snapshot + 1]))

    def has(self, atoms: Sequence[sympy.Expr], coordinates: tuple[str, ...]) -> bool:
        """Whether all of these are known."""
        return all(derivative_symbol(a, coordinates) in self.values.get(field_name(a), {}) for a in atoms)


def atoms_in(system: System) -> list[sympy.Expr]:
    """Return the fields and derivatives in the rates of a system, sorted."""
    return sorted(frozen_atoms(*system.rates.values()), key=str)


def needed(system: System) -> dict[str, set[Symbol]]:
    """Return field -> the derivatives that `step_errors` takes; empty where it tells nothing.

    That is where fields have no data of their own, for equations of second order in time, for fractional ones.
    """
    atoms = atoms_in(system)
    simple = all(order == 1 for order in system.equation.time_orders.values()) and not system.equation.mass
    if not simple or any(isinstance(atom, Fractional) for atom in atoms):
        return {}
    symbols: dict[str, set[Symbol]] = {}
    for expression in (*system.rates.values(), *_moving(system, atoms).values()):
        for atom in frozen_atoms(expression):
            symbol = derivative_symbol(atom, system.equation.coordinates)
            symbols.setdefault(field_name(atom), set()).add(symbol)
    return symbols


def _moving(system: System, atoms: Sequence[sympy.Expr]) -> dict[sympy.Expr, sympy.Expr]:
    """Return every atom of an evolving field with −∂ₜ of it, by the equation: ∂^α N."""
    axes = [coordinate(name) for name in system.equation.coordinates]
    moving = {}
    for atom in atoms:
        if field_name(atom) in system.rates:
            orders = derivative_symbol(atom, system.equation.coordinates).orders
            moving[atom] = sympy.diff(system.rates[field_name(atom)], *zip(axes, orders, strict=True))
    return moving


def step_errors(
    problem: Problem, values: Mapping[str, float], system: System, jets: Jets
) -> list[np.ndarray] | None:
    """Return what the data are, at the true parameters, beyond what the step makes of them: (N,) per observation.

    Simpson's rule knows the motion over the gap to fourth order: h(t₁) − h(t₀) = −Δt (N₀ + 4 N½ + N₁)/6 with the state
    halfway h½ = (h₀ + h₁)/2 + Δt (N₁ − N₀)/8, from the smoothed snapshots and λ. Of the midpoint model, whose step is
    h(t) = z + (t½ − t) N(z) with z = (h₀ + h₁)/2, it leaves −(t½ − t)(N(z) − (N₀ + 4 N½ + N₁)/6); of the paper's,
    h₀ = h₁ + Δt Ñ(h₁; h₀) with products frozen at h₀, Δt ((N₀ + N₁)/2 − Ñ).

    None where fields or derivatives are not known.
    """
    step, names = problem.step, system.equation.coordinates
    atoms = atoms_in(system)
    moving = _moving(system, atoms)
    everything = sorted(frozen_atoms(*system.rates.values(), *moving.values()), key=str)
    if len(jets.times) != 2 or not needed(system) or not jets.has(everything, names):
        return None
    latents = {origin(name)[0] for name in step.latents}
    if latents != set(system.rates) or {o.field for o in step.observations} != latents:
        return None
    gap = float(jets.times[1] - jets.times[0])
    fixed = dict(values) | {name: jets.points[:, d] for d, name in enumerate(names)}
    symbols = {str(a): (field_name(a), derivative_symbol(a, names)) for a in everything}
    ends = [{name: jets.values[f][s][k] for name, (f, s) in symbols.items()} for k in (0, 1)]

    def rate(expression: sympy.Expr, at: Numbers, time: float) -> np.ndarray:
        made = evaluated(expression, fixed | {"t": time} | dict(at), np)
        return np.broadcast_to(np.asarray(made, float), (len(jets.points),))

    before, after = (
        {f: rate(N, at, float(t)) for f, N in system.rates.items()}
        for at, t in zip(ends, jets.times, strict=True)
    )
    if step.frozen_snapshot is not None:
        mean_rates = {f: 0.5 * (before[f] + after[f]) for f in system.rates}
        return [
            _of_the_papers_step(problem, values, jets, o.snapshot, o.field, mean_rates[o.field], gap)
            for o in step.observations
        ]
    middle = {name: 0.5 * (ends[0][name] + ends[1][name]) for name in ends[0]}
    halfway = dict(middle)
    for atom, N in moving.items():
        halfway[str(atom)] = middle[str(atom)] + gap / 8 * (
            rate(N, ends[1], float(jets.times[1])) - rate(N, ends[0], float(jets.times[0]))
        )
    mid = float(np.mean(jets.times))
    errors = {}
    for f, N in system.rates.items():
        simpson = (before[f] + 4 * rate(N, halfway, mid) + after[f]) / 6
        errors[f] = rate(N, middle, mid) - simpson
    return [
        -(mid - float(jets.times[o.snapshot])) * errors[o.field][jets.part(o.snapshot)]
        for o in step.observations
    ]


def _of_the_papers_step(
    problem: Problem,
    values: Mapping[str, float],
    jets: Jets,
    snapshot: int,
    field: str,
    rate: np.ndarray,
    gap: float,
) -> np.ndarray:
    """Δt ((N₀ + N₁)/2 − Ñ(h₁; h₀)) at the earlier snapshot; the later one is the state itself."""
    here = jets.part(snapshot)
    if snapshot != problem.step.frozen_snapshot:
        return np.zeros(here.stop - here.start)
    quantity = dict(problem.step.quantities)[field]
    numbers = {name: jnp.asarray(value) for name, value in values.items()}
    observed, mean = at_place(problem.step, quantity, numbers, problem.data.places[snapshot])
    model = np.asarray(mean)
    for latent, symbol, coefficient in observed.operator:
        if origin(latent)[1] == 1:  # further scales of a field have the same coefficients
            model = model + np.asarray(coefficient) * jets.values[latent][symbol][1, here]
    identity = Symbol.identity(jets.points.shape[1])
    return gap * rate[here] - (model - jets.values[field][identity][1, here])


def moved_by(
    problem: Problem, vector: np.ndarray, covariance: np.ndarray, errors: Sequence[np.ndarray]
) -> np.ndarray:
    """Return by how much errors of the data move all unknowns, to first order: H⁻¹ ∂²(−log p)/∂θ∂y · τ.

    Parameters
    ----------
    vector, covariance
        The optimum and H⁻¹ there.
    errors
        τ, (N,) per observation.
    """
    if not np.all(np.isfinite(covariance)):
        return np.zeros(vector.size)
    less, more = (changed(problem, errors, sign).objective(vector)[1] for sign in (-1.0, 1.0))
    return np.nan_to_num(covariance @ (0.5 * (less - more)))


def changed(problem: Problem, errors: Sequence[np.ndarray], sign: float) -> Problem:
    """Return the problem with errors added to its data, or taken from them."""
    values = tuple(v + sign * e for v, e in zip(problem.data.values, errors, strict=True))
    return replace(problem, data=problem.data._replace(values=values))
