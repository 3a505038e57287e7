"""One step in time: observed quantities as linear operators on latent Gaussian processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import sympy

from hiddenphysics.equation import frozen_atoms
from hiddenphysics.operators import Operator

LAG = sympy.Symbol("Δt", real=True)
"""How far a snapshot lies before the latent's time. No name a user types can collide: `Δ` is not in the grammar."""


@dataclass(frozen=True)
class Quantity:
    """A field at some time, as the latent processes determine it: o(x) = mean(x) + Σ c_j(x) (T_j z_f)(x).

    Coefficients and mean are SymPy expressions in the unknown parameters, `LAG`, the coordinates, and
    *frozen* fields: the state around which the equation was linearised.
    """

    operator: Operator[sympy.Expr]
    mean: sympy.Expr

    @property
    def expressions(self) -> tuple[sympy.Expr, ...]:
        """All coefficients and the mean."""
        return (*(c for _, _, c in self.operator), self.mean)

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.operator + other.operator, self.mean + other.mean)

    def without_lag(self) -> Quantity:
        """Return the same quantity at the latent's own time, with the terms that vanish there dropped."""
        terms = ((latent, symbol, c.subs(LAG, 0)) for latent, symbol, c in self.operator)
        return Quantity(Operator.collect(t for t in terms if t[2] != 0), self.mean.subs(LAG, 0))


@dataclass(frozen=True)
class Observation:
    """One field in one snapshot."""

    field: str
    snapshot: int
    quantity: Quantity


@dataclass(frozen=True)
class OneStep:
    """An equation turned into observations of latent processes; static, hashable, free of data.

    Attributes
    ----------
    parameters, coordinates
        The unknown numbers and the spatial coordinates of the equation.
    observations
        The fields with data, in the order in which their values are stacked.
    quantities
        Every field of the equation as a function of `LAG`: what `predict` draws.
    latent_fraction
        Where in the interval between first and last snapshot the latent lives: 1 is the last, ½ the middle.
    frozen_snapshot
        The snapshot whose data stand in the coefficients; None where it is the posterior mean of the latent
        itself, and the fit is repeated until that settles.
    """

    parameters: tuple[str, ...]
    coordinates: tuple[str, ...]
    observations: tuple[Observation, ...]
    quantities: tuple[tuple[str, Quantity], ...]
    latent_fraction: float
    frozen_snapshot: int | None

    @property
    def latents(self) -> tuple[str, ...]:
        """The processes that carry a Gaussian process prior, sorted."""
        names = {latent for _, quantity in self.quantities for latent in quantity.operator.latents}
        return tuple(sorted(names))

    @property
    def snapshots(self) -> int:
        """How many snapshots it takes."""
        return 1 + max(o.snapshot for o in self.observations)

    def frozen_at(self, snapshot: int) -> tuple[sympy.Expr, ...]:
        """Return the fields and derivatives that one snapshot's observations need as numbers, sorted by name."""
        here = [o.quantity for o in self.observations if o.snapshot == snapshot]
        atoms = frozen_atoms(*(e for quantity in here for e in quantity.expressions))
        return tuple(sorted(atoms, key=str))

    def quantity(self, field: str) -> Quantity:
        """Return a field of the equation as the latents determine it."""
        return dict(self.quantities)[field]

    def highest_order(self, latent: str) -> int:
        """Return the largest derivative order, along one coordinate, that any observation takes of a latent."""
        return max(o.quantity.operator.highest_order(latent) for o in self.observations)


# ---- a latent as a sum of processes on several scales --------------------


def component(latent: str, number: int) -> str:
    """Return the name of a latent's n-th component: ``psi``, ``psi.2``, …; the dot keeps it apart from typed names."""
    return latent if number == 1 else f"{latent}.{number}"


def origin(name: str) -> tuple[str, int]:
    """Return the latent and the number of a component."""
    latent, _, number = name.partition(".")
    return latent, int(number or 1)


def with_scales(step: OneStep, counts: Mapping[str, int]) -> OneStep:
    """Replace latents z by sums z + z.2 + …, as many as `counts` says; each gets a variance and lengths of its own.

    A flow past a body has a mean that fills the domain and eddies on it. One length for both is too short for the
    first and too long for the second, and the misfit passes for viscosity.
    """

    def spread(quantity: Quantity) -> Quantity:
        terms = (
            (component(latent, number), symbol, c)
            for latent, symbol, c in quantity.operator
            for number in range(1, counts.get(latent, 1) + 1)
        )
        return Quantity(Operator.collect(terms), quantity.mean)

    return replace(
        step,
        observations=tuple(replace(o, quantity=spread(o.quantity)) for o in step.observations),
        quantities=tuple((f, spread(quantity)) for f, quantity in step.quantities),
    )


def counts_of(components: Iterable[str]) -> dict[str, int]:
    """Return how many components each latent has, given all their names."""
    counts: dict[str, int] = {}
    for name in components:
        latent, number = origin(name)
        counts[latent] = max(number, counts.get(latent, 1))
    return counts
