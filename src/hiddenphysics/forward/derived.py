"""Quantities that a user makes of a model's fields: any linear operator of them, such as a vorticity."""

from __future__ import annotations

import sympy

from hiddenphysics.equation import TIME, Fractional, atoms_of, coordinate, field_name, read_quantity, slopes
from hiddenphysics.errors import ModelError
from hiddenphysics.forward.atoms import derivative_symbol, frozen_atoms
from hiddenphysics.forward.model import LinearModel, Quantity
from hiddenphysics.operators import Operator, Symbol


def derived(model: LinearModel, text: str, *, at_latent_time: bool) -> Quantity:
    """Read a linear expression in a model's fields, such as ``"p"``, ``"v_x - u_y"`` or ``"2*u + x"``.

    Away from the latent's own time a field is z + Δt N z with coefficients that vary in space; derivatives of it
    follow the product rule.

    Parameters
    ----------
    at_latent_time
        Whether it is asked at the time at which the latents live, where the step in time vanishes.
    """
    fields = {f: q.without_lag() if at_latent_time else q for f, q in model.quantities}
    if text in fields:
        return fields[text]
    by_atom, constant = linear_terms(text, tuple(fields), model.coordinates, model.parameters)
    total = Quantity(Operator.zero(), constant)
    for atom, factor in by_atom.items():
        total = total + _scaled(factor, _applied(atom, fields[field_name(atom)], model.coordinates))
    return _without_zeros(total)


def linear_terms(
    text: str, fields: tuple[str, ...], coordinates: tuple[str, ...], parameters: tuple[str, ...]
) -> tuple[dict[sympy.Expr, sympy.Expr], sympy.Expr]:
    """Read an expression of first degree in the fields: field or derivative -> factor, and the constant."""
    expression = read_quantity(text, fields=fields, coordinates=coordinates, parameters=parameters)
    by_atom = slopes(expression)
    if any(atoms_of(slope) for slope in by_atom.values()):
        raise ModelError(
            f"{text!r} is not linear in the fields {', '.join(fields)}; a posterior mean and deviation exist for "
            "linear ones, such as v_x - u_y. Draw samples of the fields, and combine those."
        )
    return by_atom, expression.xreplace(dict.fromkeys(by_atom, sympy.Integer(0)))


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
