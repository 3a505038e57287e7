"""The paper's model: one backward Euler step, every product linearised at the earlier data."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import sympy
from sympy.core.function import AppliedUndef

from hiddenphysics.equation import Equation, Fractional, System, derivative_symbol, field_name, frozen_atoms
from hiddenphysics.errors import ModelError
from hiddenphysics.models.model import MODELS
from hiddenphysics.models.one_step import LAG, Observation, OneStep, OneStepModel, Quantity
from hiddenphysics.operators import Operator, Symbol

BEFORE, AFTER = 0, 1


def paper(system: System, measured: Collection[str]) -> OneStep:
    """Turn h_t + N(h) = 0 and two snapshots, Δt apart, into observations of the later state z = hⁿ.

    hⁿ = z and hⁿ⁻¹ = z + Δt N z, where N is made linear by `lagged`. Equations 2 to 4 of the paper. First
    order in Δt.

    Parameters
    ----------
    system
        A field without data is latent with a prior of its own, a field defined by potentials is an operator on
        theirs.
    measured
        Names of the fields with data.
    """
    equation = system.equation
    _check_first_order(equation)
    latents = system.latents(measured)
    quantities = {f: Quantity(operator, sympy.Integer(0)) for f, operator in latents.items()}
    for field, rate in system.rates.items():
        operator, remainder = lagged(rate, equation.coordinates, latents, field)
        quantities[field] = quantities[field] + Quantity(LAG * operator.after(latents), LAG * remainder)
    _check_frozen(quantities, measured)
    observed = [f for f in latents if f in measured]
    return OneStep(
        parameters=equation.parameters,
        coordinates=equation.coordinates,
        observations=(
            *(Observation(f, AFTER, quantities[f].without_lag()) for f in observed),
            *(Observation(f, BEFORE, quantities[f]) for f in observed),
        ),
        quantities=tuple(quantities.items()),
        latent_fraction=1.0,
        frozen_snapshot=BEFORE,
    )


def _check_first_order(equation: Equation) -> None:
    second = [f for f, order in equation.time_orders.items() if order > 1]
    if second:
        raise ModelError(
            f"The equation is of second order in time in {second[0]}; the model 'paper' takes one step of a "
            "first-order system. Use model='midpoint' (--model midpoint)."
        )


def _check_frozen(quantities: Mapping[str, Quantity], measured: Collection[str]) -> None:
    """Refuse a product with an unmeasured factor: the lagged linearisation has no value for it."""
    for field, quantity in quantities.items():
        for atom in frozen_atoms(*quantity.expressions):
            if field_name(atom) not in measured:
                raise ModelError(
                    f"The equation for {field} holds a product in which {atom} is frozen at the earlier snapshot, but "
                    f"{field_name(atom)} has no data. The model 'paper' needs data for it; the model 'midpoint' "
                    "does not."
                )


def lagged(
    expression: sympy.Expr, coordinates: tuple[str, ...], unknown: Collection[str], own: str
) -> tuple[Operator[sympy.Expr], sympy.Expr]:
    """Split N(h) into a linear operator on the fields and a remainder in which every field is frozen.

    Each monomial keeps, of its factors that are unknown fields or derivatives of them, the fractional one, or
    else the one with the highest derivative; among equals the one in the lowest power, then the equation's own
    field, then the first by name. u u_x keeps u_x and freezes u; (u² + v²) v keeps v and freezes u² + v². A
    monomial without such a factor, like sin(u) or a source f(x), joins the remainder.

    Parameters
    ----------
    expression
        N, with fields as SymPy functions of t and the coordinates.
    coordinates
        Names of the D spatial coordinates, which order the symbols.
    unknown
        Fields that may be kept: those that carry a prior. Others are coefficients.
    own
        The field that this equation evolves.
    """
    kept: list[tuple[str, Symbol, sympy.Expr]] = []
    remainder = sympy.Integer(0)
    for term in sympy.Add.make_args(_expand_products(expression)):
        factor = _factor_to_keep(term, unknown, own)
        if factor is None:
            remainder += term
        else:
            kept.append((field_name(factor), derivative_symbol(factor, coordinates), term / factor))
    _check_fractional(*(coefficient for _, _, coefficient in kept), remainder)
    return Operator.collect(kept), remainder


def _check_fractional(*expressions: sympy.Expr) -> None:
    """Refuse to freeze a fractional operator: it sees the whole line, of which the data know a part."""
    frozen = sorted((a for a in frozen_atoms(*expressions) if isinstance(a, Fractional)), key=str)
    if frozen:
        raise ModelError(
            f"The equation needs {frozen[0]} as a number: it stands in a product with another fractional operator, in "
            "a power, in a function, or acts on a field without an equation. The model 'paper' keeps one fractional "
            "factor of a product and freezes the others at the data, which do not tell a non-local operator. Write "
            "each as a term, or a factor before ordinary derivatives, as in u_t + a*u*frac_lap(u, alpha) = 0."
        )


def _expand_products(expression: sympy.Expr) -> sympy.Expr:
    """Multiply out sums, and nothing else: functions of sums and powers of products stay as typed."""
    return expression.expand(power_base=False, power_exp=False, log=False, basic=False)


def _factor_to_keep(term: sympy.Expr, unknown: Collection[str], own: str) -> sympy.Expr | None:
    candidates = []
    for factor in sympy.Mul.make_args(term):
        base, power = factor.as_base_exp()
        is_field = (
            isinstance(base, sympy.Derivative | AppliedUndef | Fractional) and field_name(base) in unknown
        )
        if is_field and power.is_Integer and power > 0:
            order = sum(c for _, c in base.variable_count) if isinstance(base, sympy.Derivative) else 0
            local = not isinstance(base, Fractional)
            candidates.append((local, -order, int(power), field_name(base) != own, str(base), base))
    return min(candidates, key=lambda c: c[:5])[5] if candidates else None


MODELS.add("paper", OneStepModel("paper", paper))
