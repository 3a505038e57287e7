"""Quantities that a user makes of a model's fields: any linear operator of them, such as a vorticity."""

from __future__ import annotations

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
from hiddenphysics.models.one_step.step import OneStep, Quantity
from hiddenphysics.operators import Operator, Symbol


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
