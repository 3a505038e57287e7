"""Linear operators of the fields, as operators on the latents."""

from __future__ import annotations

import pytest
import sympy

from hiddenphysics.equation import Equation
from hiddenphysics.errors import EquationError, ModelError
from hiddenphysics.models.midpoint import midpoint
from hiddenphysics.models.one_step import LAG, OneStep, derived
from hiddenphysics.models.one_step.step import counts_of, with_scales
from hiddenphysics.models.paper import paper

from .test_midpoint import FLOW


def flow() -> OneStep:
    return midpoint(Equation.parse(FLOW, fields=("u", "v")).system, ("u", "v"))


def terms(
    model: OneStep, text: str, at_latent_time: bool = True
) -> dict[tuple[str, tuple[int, ...]], sympy.Expr]:
    quantity = derived(model, text, at_latent_time=at_latent_time)
    return {(latent, symbol.orders): c for latent, symbol, c in quantity.operator}


def test_the_vorticity_is_minus_the_laplacian_of_the_stream_function() -> None:
    assert terms(flow(), "v_x - u_y") == {("psi", (2, 0)): -1, ("psi", (0, 2)): -1}


def test_the_divergence_vanishes_by_construction() -> None:
    assert terms(flow(), "u_x + v_y") == {}
    assert terms(with_scales(flow(), {"psi": 2}), "u_x + v_y") == {}


def test_away_from_the_latent_time_the_product_rule_holds() -> None:
    model = paper(Equation.parse("u_t + a*u*u_x = 0", fields=("u",)).system, ("u",))
    a, u = (
        sympy.Symbol("a", real=True),
        model.quantity("u").operator.terms[1][2] / (LAG * sympy.Symbol("a", real=True)),
    )
    x = sympy.Symbol("x", real=True)
    found = terms(model, "u_x", at_latent_time=False)
    assert sympy.expand(found["u", (1,)] - (1 + LAG * a * u.diff(x))) == 0
    assert sympy.expand(found["u", (2,)] - LAG * a * u) == 0


def test_factors_and_offsets_may_hold_coordinates_and_parameters() -> None:
    quantity = derived(flow(), "2*x*p + a", at_latent_time=True)
    assert terms(flow(), "2*x*p + a") == {("p", (0, 0)): 2 * sympy.Symbol("x", real=True)}
    assert quantity.mean == sympy.Symbol("a", real=True)


def test_products_of_fields_and_unknown_names_are_refused() -> None:
    with pytest.raises(ModelError, match="is not linear in the fields"):
        derived(flow(), "u*v", at_latent_time=True)
    with pytest.raises(EquationError, match="'w' is no field"):
        derived(flow(), "w_x", at_latent_time=True)


def test_scales_add_up_and_are_counted_from_their_names() -> None:
    model = with_scales(flow(), {"psi": 3})
    assert model.latents == ("p", "psi", "psi.2", "psi.3")
    assert counts_of(model.latents) == {"p": 1, "psi": 3}
    assert terms(model, "u") == {(name, (0, 1)): 1 for name in ("psi", "psi.2", "psi.3")}
