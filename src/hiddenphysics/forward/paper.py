"""The forward model of Raissi & Karniadakis (2018): one backward Euler step, linearised at the earlier data."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import sympy

from hiddenphysics.equation import Equation, field_name
from hiddenphysics.errors import ModelError
from hiddenphysics.forward.atoms import frozen_atoms
from hiddenphysics.forward.lagged import lagged
from hiddenphysics.forward.model import LAG, LinearModel, Observation, Quantity
from hiddenphysics.forward.system import System

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
    _check_first_order(equation)
    system = System.of(equation, observed)
    quantities = {f: Quantity(operator, sympy.Integer(0)) for f, operator in system.representation.items()}
    for field, rate in system.rates.items():
        operator, remainder = lagged(rate, equation.coordinates, system.unknown, field)
        step = Quantity(LAG * operator.after(system.representation), LAG * remainder)
        quantities[field] = quantities[field] + step
    _check_frozen(quantities, observed)
    return LinearModel(
        name="paper",
        parameters=equation.parameters,
        coordinates=equation.coordinates,
        observations=(
            *(Observation(f, AFTER, quantities[f].without_lag()) for f in system.observed),
            *(Observation(f, BEFORE, quantities[f]) for f in system.observed),
        ),
        quantities=tuple(quantities.items()),
        latent_fraction=1.0,
        frozen_snapshot=BEFORE,
    )


def _check_first_order(equation: Equation) -> None:
    second = [f for f, order in dict(equation.time_orders).items() if order > 1]
    if second:
        raise ModelError(
            f"The equation is of second order in time in {second[0]}; the model 'paper' takes one step of a "
            "first-order system. Use model='midpoint' (--model midpoint)."
        )


def _check_frozen(quantities: Mapping[str, Quantity], observed: Collection[str]) -> None:
    """Refuse a product with an unmeasured factor: the lagged linearisation has no value for it."""
    for field, quantity in quantities.items():
        for atom in frozen_atoms(*quantity.expressions):
            if field_name(atom) not in observed:
                raise ModelError(
                    f"The equation for {field} holds a product in which {atom} is frozen at the earlier snapshot, but "
                    f"{field_name(atom)} has no data. The model 'paper' needs data for it; the model 'midpoint' "
                    "does not."
                )
