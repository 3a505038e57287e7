"""The midpoint model: the state halfway between the snapshots, expanded in time to both sides."""

from __future__ import annotations

from collections.abc import Collection

import sympy

from hiddenphysics.equation import Equation
from hiddenphysics.forward.model import LAG, LinearModel, Observation, Quantity
from hiddenphysics.forward.newton import newton
from hiddenphysics.forward.system import System, velocity


def midpoint(equation: Equation, observed: Collection[str]) -> LinearModel:
    """Turn h_t + N(h) = 0 and two snapshots into observations of the state z halfway between them.

    h(t) = z + (t½ − t) N(z): h(t₁) − h(t₀) = −Δt N((h(t₀) + h(t₁))/2), the implicit midpoint rule, of second order
    in Δt. N is made linear by `newton` around the posterior mean of z, so the fit is repeated until that settles.

    Of second order in time, u_tt + N(u, u_t) = 0, the state is (u, u_t), and u takes one term more of its Taylor
    series: u(t) = z_u − (t½ − t) z_{u_t} − ½ (t½ − t)² N(z), which is the central second difference. It needs three
    snapshots of u, or two of u and u_t.

    Parameters
    ----------
    equation
        The system; a field without data is latent with a prior of its own, a field defined by potentials is an
        operator on theirs.
    observed
        Names of the fields with data; ``u_t`` is the velocity of a field of second order.
    """
    system = System.of(equation, observed)
    quantities = {f: Quantity(operator, sympy.Integer(0)) for f, operator in system.representation.items()}
    for field, rate in system.rates.items():
        step = _linear(system, rate, LAG)
        quantities[field] = quantities[field] + step
    for field, rate in system.accelerations.items():
        quantities[field] = quantities[field] + _linear(system, rate, -(LAG**2) / 2)
    seen_velocities = all(velocity(f) in system.observed for f in system.accelerations)
    count = 2 if seen_velocities else 3
    return LinearModel(
        name="midpoint",
        parameters=equation.parameters,
        coordinates=equation.coordinates,
        observations=tuple(
            Observation(f, snapshot, quantities[f])
            for snapshot in reversed(range(count))
            for f in system.observed
        ),
        quantities=tuple(quantities.items()),
        latent_fraction=0.5,
        frozen_snapshot=None,
    )


def _linear(system: System, rate: sympy.Expr, factor: sympy.Expr) -> Quantity:
    operator, constant = newton(rate, system.equation.coordinates, system.unknown)
    return Quantity(factor * operator.after(system.representation), factor * constant)
