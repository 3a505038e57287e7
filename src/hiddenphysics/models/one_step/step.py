"""One step in time: observed quantities as linear operators on latent Gaussian processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import sympy

from hiddenphysics.equation import (
    TIME,
    Fractional,
    coordinate,
    derivative_symbol,
    field_name,
    frozen_atoms,
    linear_terms,
)
from hiddenphysics.errors import ModelError
from hiddenphysics.operators import Operator, Symbol

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


# ---- what a user makes of the fields: any linear operator of them, such as a vorticity --------------------


def derived(step: OneStep, text: str, *, at_latent_time: bool) -> Quantity:
    """Read a linear expression in a model's fields, such as ``"p"``, ``"v_x - u_y"`` or ``"2*u + x"``.

    Away from the latent's own time a field is z + Δt N z with coefficients that vary in space; derivatives of it
    follow the product rule.

    Parameters
    ----------
    at_latent_time
        Whether it is asked at the time at which the latents live, where the step in time vanishes.
    """
    fields = {f: q.without_lag() if at_latent_time else q for f, q in step.quantities}
    if text in fields:
        return fields[text]
    by_atom, constant = linear_terms(text, tuple(fields), step.coordinates, step.parameters)
    total = Quantity(Operator.zero(), constant)
    for atom, factor in by_atom.items():
        total = total + _scaled(factor, _applied(atom, fields[field_name(atom)], step.coordinates))
    return _without_zeros(total)


def _scaled(factor: sympy.Expr, quantity: Quantity) -> Quantity:
    return Quantity(factor * quantity.operator, factor * quantity.mean)


def _applied(atom: sympy.Expr, quantity: Quantity, coordinates: tuple[str, ...]) -> Quantity:
    """Apply the operator that an atom such as u_xy stands for to a quantity."""
    if isinstance(atom, Fractional):
        return _fractional(atom, quantity, coordinates)
    for d, order in enumerate(derivative_symbol(atom, coordinates).orders):
        for _ in range(order):
            quantity = _differentiated(quantity, coordinates, d)
    return quantity


def _differentiated(quantity: Quantity, coordinates: tuple[str, ...], along: int) -> Quantity:
    """∂(Σ c T z + m) = Σ c ∂T z + Σ ∂c T z + ∂m."""
    step = Symbol(tuple(int(d == along) for d in range(len(coordinates))))
    axis = coordinate(coordinates[along])
    terms = [(latent, symbol @ step, c) for latent, symbol, c in quantity.operator]
    terms += [(latent, symbol, sympy.diff(c, axis)) for latent, symbol, c in quantity.operator]
    return Quantity(Operator.collect(terms), sympy.diff(quantity.mean, axis))


def _fractional(atom: sympy.Expr, quantity: Quantity, coordinates: tuple[str, ...]) -> Quantity:
    axes = {coordinate(name) for name in (TIME, *coordinates)}
    varying = any(frozen_atoms(e) or e.free_symbols & axes for e in quantity.expressions)
    if varying:
        raise ModelError(
            f"{atom} was asked for at a time at which the field is known by varying coefficients, which an operator of "
            "fractional order has no product rule for. Ask at the latent's time, halfway between the snapshots."
        )
    symbol = derivative_symbol(atom, coordinates)
    return Quantity(
        Operator.collect((latent, inner @ symbol, c) for latent, inner, c in quantity.operator),
        sympy.Integer(0),
    )


def _without_zeros(quantity: Quantity) -> Quantity:
    """Drop the terms that cancel, as all do in the divergence of a field that has a potential."""
    kept = ((latent, symbol, sympy.expand(c)) for latent, symbol, c in quantity.operator)
    return Quantity(Operator.collect(term for term in kept if term[2] != 0), quantity.mean)
