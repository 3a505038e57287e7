"""The posterior of every field, however it was learned: what a result asks of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import sympy

from hiddenphysics.equation import field_name
from hiddenphysics.errors import ModelError
from hiddenphysics.flow import FlowFit
from hiddenphysics.forward import (
    Quantity,
    derivative_symbol,
    derived,
    evaluate_by_name,
    frozen_atoms,
    linear_terms,
)
from hiddenphysics.inference import posterior
from hiddenphysics.inference.data import Place, latent_time, place
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.smooth import SmoothedField
from hiddenphysics.inference.state import first_state, posterior_mean
from hiddenphysics.operators import Operator
from hiddenphysics.snapshots import Snapshots

Arrays = dict[str, np.ndarray]


class Fields(Protocol):
    """Posterior means, deviations and draws of linear operators of the fields, given as text."""

    @property
    def model(self) -> str:
        """The forward model."""

    def mean_and_std(self, text: str, points: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation (N,) at points (N, D) and a time."""

    def draws(self, text: str, points: np.ndarray, t: float, count: int, seed: int) -> np.ndarray:
        """Return draws (count, N) from the joint posterior at points (N, D) and a time."""


@dataclass(frozen=True)
class LinearFields:
    """Fields that a linear model determines between its snapshots.

    Attributes
    ----------
    problem, values
        The likelihood and the learned numbers.
    snapshots, smoothed
        The data, and each measured field smoothed by itself.
    """

    problem: Problem
    values: Mapping[str, float]
    snapshots: Snapshots
    smoothed: Mapping[str, SmoothedField]

    @property
    def model(self) -> str:
        """The forward model."""
        return self.problem.layout.model.name

    def mean_and_std(self, text: str, points: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation; see `Fields`."""
        return posterior.mean_and_std(self.problem, dict(self.values), *self._quantity(text, points, t))

    def draws(self, text: str, points: np.ndarray, t: float, count: int, seed: int) -> np.ndarray:
        """Return draws; see `Fields`."""
        quantity, here = self._quantity(text, points, t)
        return posterior.draws(self.problem, dict(self.values), quantity, here, count, seed)

    def _quantity(self, text: str, points: np.ndarray, t: float) -> tuple[Quantity, Place]:
        model = self.problem.layout.model
        first, last = self.snapshots.times[0], self.snapshots.times[-1]
        if not first <= t <= last:
            raise ModelError(
                f"The time t = {t:g} was asked for; the model {self.model!r} knows the field between its snapshots, "
                f"from t = {first:g} to {last:g}. The model 'flow' knows it later, too."
            )
        time = latent_time(model, self.snapshots)
        quantity = derived(model, text, at_latent_time=time == t)
        return quantity, place(points, self._frozen(quantity, points), time - t, time)

    def _frozen(self, quantity: Quantity, points: np.ndarray) -> Arrays:
        """Return the state in a quantity's coefficients at any points."""
        model = self.problem.layout.model
        atoms = sorted(frozen_atoms(*quantity.expressions), key=str)
        state = first_state(model, self.snapshots, self.smoothed.__getitem__)
        if model.frozen_snapshot is None:
            return posterior_mean(self.problem, dict(self.values), state)(atoms, 0, points)
        return state(atoms, model.frozen_snapshot, points)


@dataclass(frozen=True)
class FlowFields:
    """Fields that the equation's own flow carries from the first snapshot onwards."""

    fit: FlowFit

    @property
    def model(self) -> str:
        """The forward model."""
        return "flow"

    def mean_and_std(self, text: str, points: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and standard deviation; see `Fields`."""
        operator, offset = self._operator(text, points, t)
        mean, std = self.fit.mean_and_std(operator, points, t)
        return mean + offset, std

    def draws(self, text: str, points: np.ndarray, t: float, count: int, seed: int) -> np.ndarray:
        """Return draws, each moved by its own parameters; of the fields themselves."""
        if text not in self.fit.motion.state:
            raise ModelError(
                f"Draws of {text!r} were asked for; the flow draws {', '.join(self.fit.motion.state)}. Draw those on a "
                "grid, and combine them."
            )
        return self.fit.draws(text, points, t, count, seed)

    def _operator(self, text: str, points: np.ndarray, t: float) -> tuple[Operator[Any], np.ndarray]:
        """Read a linear expression in the state's fields."""
        equation, state = self.fit.equation, self.fit.motion.state
        by_atom, constant = linear_terms(text, state, equation.coordinates, equation.parameters)
        numbers: dict[str, Any] = dict(self.fit.values) | {"t": t}
        numbers |= {name: points[:, d] for d, name in enumerate(equation.coordinates)}

        def number(factor: sympy.Expr) -> np.ndarray:
            return np.broadcast_to(evaluate_by_name(factor, numbers, np), (len(points),))

        terms = (
            (field_name(atom), derivative_symbol(atom, equation.coordinates), number(factor))
            for atom, factor in by_atom.items()
        )
        return Operator.collect(terms), number(constant)
