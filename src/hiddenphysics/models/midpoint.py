"""The midpoint model: the state halfway between the snapshots, expanded in time to both sides."""

from __future__ import annotations

from collections.abc import Collection

import sympy

from hiddenphysics.equation import System, derivative_symbol, field_name, slopes
from hiddenphysics.models.model import MODELS
from hiddenphysics.models.one_step import LAG, Observation, OneStep, OneStepModel, Quantity
from hiddenphysics.operators import Operator


def midpoint(system: System, measured: Collection[str]) -> OneStep:
    """Turn h_t + N(h) = 0 and two snapshots into observations of the state z halfway between them.

    h(t) = z + (t½ − t) N(z): h(t₁) − h(t₀) = −Δt N((h(t₀) + h(t₁))/2), the implicit midpoint rule, of second order
    in Δt. N is made linear by `newton` around the posterior mean of z, so the fit is repeated until that settles.

    Of second order in time, u_tt + N(u, u_t) = 0, the state is (u, u_t), and u takes one term more of its Taylor
    series: u(t) = z_u − (t½ − t) z_{u_t} − ½ (t½ − t)² N(z), which is the central second difference. It needs three
    snapshots of u, or two of u and u_t.

    Parameters
    ----------
    system
        A field without data is latent with a prior of its own, a field defined by potentials is an operator on
        theirs.
    measured
        Names of the fields with data; ``u_t`` is the velocity of a field of second order.
    """
    equation, latents = system.equation, system.latents(measured)
    quantities = {f: Quantity(operator, sympy.Integer(0)) for f, operator in latents.items()}

    def linear(rate: sympy.Expr, factor: sympy.Expr) -> Quantity:
        operator, constant = newton(rate, equation.coordinates, latents)
        return Quantity(factor * operator.after(latents), factor * constant)

    for field, rate in system.rates.items():
        quantities[field] = quantities[field] + linear(rate, LAG)
    for field, rate in system.accelerations.items():
        quantities[field] = quantities[field] + linear(rate, -(LAG**2) / 2)
    count = 2 if all(name in measured for name in system.velocities) else 3
    return OneStep(
        parameters=equation.parameters,
        coordinates=equation.coordinates,
        observations=tuple(
            Observation(f, snapshot, quantities[f])
            for snapshot in reversed(range(count))
            for f in latents
            if f in measured
        ),
        quantities=tuple(quantities.items()),
        latent_fraction=0.5,
        frozen_snapshot=None,
    )


def newton(
    expression: sympy.Expr, coordinates: tuple[str, ...], unknown: Collection[str]
) -> tuple[Operator[sympy.Expr], sympy.Expr]:
    """Split N(h) ≈ N'(h̄) h + [N(h̄) − N'(h̄) h̄] into a linear operator on the fields and a constant.

    The slopes ∂N/∂(atom) are taken symbolically, so that parameters may stand anywhere, as in sin(a u). What is
    linear in the fields cancels from the constant: then no value of h̄ is asked for.

    Parameters
    ----------
    expression
        N, with fields as SymPy functions of t and the coordinates.
    unknown
        Fields that latents stand for. Others are coefficients, known where they are needed.

    Returns
    -------
    operator, constant
        Coefficients and constant are expressions in the parameters and in the state h̄.
    """
    by_atom = {atom: slope for atom, slope in slopes(expression).items() if field_name(atom) in unknown}
    operator = Operator.collect(
        (field_name(atom), derivative_symbol(atom, coordinates), slope)
        for atom, slope in by_atom.items()
        if slope != 0
    )
    constant = expression - sympy.Add(*(slope * atom for atom, slope in by_atom.items()))
    return operator, constant.expand(power_base=False, power_exp=False, log=False)


MODELS.add("midpoint", OneStepModel("midpoint", midpoint))
