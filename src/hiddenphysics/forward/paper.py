"""The forward model of Raissi & Karniadakis (2018): one backward Euler step, linearised at the earlier data."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation import Equation
from hiddenphysics.equation.linearity import field_name
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.forward.atoms import derivative_symbol, frozen_atoms
from hiddenphysics.forward.lagged import lagged
from hiddenphysics.forward.model import LAG, LinearModel, Observation, Quantity
from hiddenphysics.operators import Operator, Symbol

BEFORE, AFTER = 0, 1


def paper(equation: Equation, observed: Collection[str]) -> LinearModel:
    """Turn h_t + N(h) = 0 and two snapshots, Δt apart, into observations of the later state z = hⁿ.

    hⁿ = z and hⁿ⁻¹ = z + Δt N z, where N is made linear by `lagged`. Equations 2 to 4 of the paper. First
    order in Δt.

    Parameters
    ----------
    equation
        The system; a field without data is latent with a prior of its own, a field defined by potentials is
        an operator on theirs.
    observed
        Names of the fields with data.
    """
    _check(equation, observed)
    evolution, definitions = dict(equation.evolution), dict(equation.definitions)
    given = {f for f in observed if f not in evolution and f not in definitions}
    unknown = [f for f in equation.fields if f not in given]
    representation = {f: _in_terms_of_latents(f, equation) for f in unknown}
    quantities = {f: Quantity(representation[f], sympy.Integer(0)) for f in unknown}
    for field, rate in evolution.items():
        operator, remainder = lagged(rate, equation.coordinates, unknown, field)
        step = LAG * operator.after(representation)
        quantities[field] = Quantity(representation[field] + step, LAG * remainder)
    seen = [f for f in equation.fields if f in observed and f not in given]
    _check_frozen(quantities, observed)
    return LinearModel(
        name="paper",
        parameters=equation.parameters,
        coordinates=equation.coordinates,
        latents=_latents(quantities),
        observations=(
            *(Observation(f, AFTER, quantities[f].without_lag()) for f in seen),
            *(Observation(f, BEFORE, quantities[f]) for f in seen),
        ),
        quantities=tuple(quantities.items()),
        latent_fraction=1.0,
        frozen_snapshot=BEFORE,
    )


def _in_terms_of_latents(field: str, equation: Equation) -> Operator[sympy.Expr]:
    """Express a field by latents: itself, or the constant-coefficient operator on potentials that defines it."""
    one = sympy.Integer(1)
    definition = dict(equation.definitions).get(field)
    if definition is None:
        return Operator.of(field, Symbol.identity(len(equation.coordinates)), one)
    terms = []
    for term in sympy.Add.make_args(sympy.expand(definition)):
        coefficient, atom = term.as_independent(AppliedUndef, sympy.Derivative)
        terms.append((field_name(atom), derivative_symbol(atom, equation.coordinates), coefficient))
    return Operator.collect(terms)


def _latents(quantities: Mapping[str, Quantity]) -> tuple[str, ...]:
    return tuple(sorted({latent for quantity in quantities.values() for latent in quantity.operator.latents}))


def _check(equation: Equation, observed: Collection[str]) -> None:
    if not set(observed) & set(dict(equation.evolution)):
        raise DataError(
            f"The data hold {', '.join(sorted(observed)) or 'no field'}, but the equation evolves "
            f"{', '.join(dict(equation.evolution))}; at least one of those must be measured to see it move."
        )
    if equation.fractional:
        raise ModelError(
            f"The equation holds {equation.fractional[0]}; the model 'paper' does not know fractional operators "
            "yet. `simulate` does."
        )
    second = [f for f, order in dict(equation.time_orders).items() if order > 1]
    if second:
        raise ModelError(
            f"The equation is of second order in time in {second[0]}; the model 'paper' takes one step of a "
            f"first-order system. Write it with a velocity: {second[0]}_t = w; w_t = …"
        )


def _check_frozen(quantities: Mapping[str, Quantity], observed: Collection[str]) -> None:
    """Refuse a product with an unmeasured factor: the lagged linearisation has no value for it."""
    for field, quantity in quantities.items():
        for atom in frozen_atoms(*quantity.expressions):
            if field_name(atom) not in observed:
                raise ModelError(
                    f"The equation for {field} holds a product in which {atom} is frozen at the earlier snapshot, but "
                    f"{field_name(atom)} has no data. The model 'paper' needs data for it."
                )
