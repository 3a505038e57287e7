"""The state that stands in a linearised equation's coefficients, and where its values come from."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import sympy

from hiddenphysics.forward import LinearModel, Quantity, derivative_symbol, field_name
from hiddenphysics.inference.data import State, place
from hiddenphysics.inference.posterior import means
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.smooth import Smoother
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.snapshots import Snapshots


def first_state(model: LinearModel, snapshots: Snapshots, smoother: Smoother) -> State:
    """Return the state that a model's coefficients hold before anything is learned."""
    if model.frozen_snapshot is None:
        return smoothed_mean(model, smoother, snapshots.fields)
    return measured(model, snapshots, smoother)


def measured(model: LinearModel, snapshots: Snapshots, smoother: Smoother) -> State:
    """Return the paper's state: a field raw where it was measured, its derivatives from the smoothed snapshot."""
    identity = Symbol.identity(len(model.coordinates))

    def state(atoms: Sequence[sympy.Expr], snapshot: int, points: np.ndarray) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for atom in atoms:
            name, symbol = field_name(atom), derivative_symbol(atom, model.coordinates)
            own = symbol == identity and points is snapshots[snapshot].points
            found[str(atom)] = (
                snapshots[snapshot][name] if own else smoother(name).means((symbol,), points)[snapshot, 0]
            )
        return found

    return state


def smoothed_mean(model: LinearModel, smoother: Smoother, measured_fields: Collection[str]) -> State:
    """Return where an expansion begins: the mean of the smoothed first and last snapshot; 0 for hidden fields."""

    def state(atoms: Sequence[sympy.Expr], _snapshot: int, points: np.ndarray) -> dict[str, np.ndarray]:
        found = {str(atom): np.zeros(points.shape[0]) for atom in atoms}
        for name in sorted({field_name(atom) for atom in atoms} & set(measured_fields)):
            own = [atom for atom in atoms if field_name(atom) == name]
            symbols = tuple(derivative_symbol(atom, model.coordinates) for atom in own)
            values = smoother(name).means(symbols, points)
            found |= {str(a): 0.5 * (values[0, j] + values[-1, j]) for j, a in enumerate(own)}
        return found

    return state


def posterior_mean(problem: Problem, values: dict[str, float], otherwise: State) -> State:
    """Return the state that a fit has found: the posterior mean of the latent processes at their own time.

    Fields that no latent stands for, known only as data, come from `otherwise`.
    """
    model = problem.layout.model
    known = dict(model.quantities)

    def state(atoms: Sequence[sympy.Expr], snapshot: int, points: np.ndarray) -> dict[str, np.ndarray]:
        own = [atom for atom in atoms if field_name(atom) in known]
        found = otherwise([atom for atom in atoms if atom not in own], snapshot, points)
        if own:
            here = place(points, {}, 0.0, float(problem.data.places[0].time))
            quantities = tuple(derivative_of(model, atom) for atom in own)
            found |= dict(zip(map(str, own), means(problem, values, quantities, here), strict=True))
        return found

    return state


def derivative_of(model: LinearModel, atom: sympy.Expr) -> Quantity:
    """Return a field, or a derivative of one, at the latent's own time, as an operator on the latents."""
    name, symbol = field_name(atom), derivative_symbol(atom, model.coordinates)
    one = Operator.of(name, symbol, sympy.Integer(1))
    return Quantity(one.after({name: model.quantity(name).without_lag().operator}), sympy.Integer(0))
