"""Diffusion that depends on the fields, as D u/K in porous Fisher: where it is one, and what it is below zero.

∂ₜu = ∂ₓ(c ∂ₓu) + … has no solution where c < 0: waves there grow the faster the shorter they are. Around the data, and
where cells are few, a field may be anything, so there |c| takes the place of c: in porous Fisher what is below zero
spreads as its mirror image does. With 0 in its place steps have to be ten times shorter.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from hiddenphysics.equation.divergence_form import Flux
from hiddenphysics.equation.expressions import atoms_of, field_name, multiply_out, slopes
from hiddenphysics.equation.fractional_operators import Fractional

Axes = tuple[sympy.Symbol, ...]


@dataclass(frozen=True)
class Diffusivity:
    """c in ∂ₜu = ∂_a(c ∂_a u) + …, along one axis a.

    Attributes
    ----------
    axis
        Number of a.
    whole, varying
        c, and what it is without the part that depends on parameters alone: that one is moved exactly.
    """

    axis: int
    whole: sympy.Expr
    varying: sympy.Expr


def diffusivities(name: str, expr: sympy.Expr, axes: Axes) -> tuple[Diffusivity, ...]:
    """Return those of a field that ∂ₜ(field) = expr holds, where they depend on fields and nothing stands above them.

    A fourth derivative keeps short waves from growing, whatever the second one does: there nothing is asked. Nor where
    c names a place, which jumps where the box begins anew: in front of a derivative that is another term.
    """
    own = [atom for atom in atoms_of(expr) if field_name(atom) == name]
    if any(isinstance(atom, Fractional) or _order(atom) > 2 for atom in own):
        return ()
    by_atom, made = slopes(expr), []
    for number, axis in enumerate(axes):
        second = next((atom for atom in own if _counts(atom) == {axis: 2}), None)
        if second is None:
            continue
        whole = multiply_out(by_atom[second])
        constant = sympy.Add(*(one for one in sympy.Add.make_args(whole) if not one.has(*axes)))
        plain = whole.xreplace(dict.fromkeys(atoms_of(whole), sympy.Integer(1)))
        if atoms_of(whole) and not plain.has(*axes):
            made.append(Diffusivity(number, whole, whole - constant))
    return tuple(made)


def spread_evenly(
    expr: sympy.Expr, field: sympy.Expr, found: tuple[Diffusivity, ...], axes: Axes
) -> tuple[tuple[Flux, ...], sympy.Expr]:
    """Return Σ_a ∂_a((|c| − c₀) ∂_a u) as fluxes, c₀ the constant part of c, and what is left of an expression without.

    The expression has no terms that are linear with constant coefficients. Of a power of the field, c = α uᵖ, the flux
    is ∂_a²(|c| u / (p + 1)), which takes a Fourier transform less.
    """
    fluxes, left = [], expr
    for one in found:
        axis = axes[one.axis]
        slope = field.diff(axis)
        left -= (one.varying * slope).diff(axis)
        power = _power(one.whole, field, axes)
        if power is not None:
            twice = tuple(2 * int(axis == other) for other in axes)
            fluxes.append(Flux(sympy.Integer(1) / (power + 1), twice, sympy.Abs(one.whole) * field))
            continue
        moved = sympy.Abs(one.whole) - (one.whole - one.varying)
        orders = tuple(int(axis == other) for other in axes)
        fluxes.append(Flux(sympy.Integer(1), orders, moved * slope))
    return tuple(fluxes), multiply_out(left)


def _power(expr: sympy.Expr, field: sympy.Expr, axes: Axes) -> sympy.Integer | None:
    """Return p > 0 of α uᵖ; None of anything else."""
    _, moving = expr.as_independent(*axes, as_Add=False)
    base, power = moving.as_base_exp()
    return power if base == field and power.is_Integer and power > 0 else None


def _counts(atom: sympy.Expr) -> dict[sympy.Symbol, int]:
    return {axis: int(n) for axis, n in atom.variable_count} if isinstance(atom, sympy.Derivative) else {}


def _order(atom: sympy.Expr) -> int:
    return sum(_counts(atom).values())
