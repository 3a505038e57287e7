"""The midpoint model as operators: its order in the gap measured on exact solutions, its needs, its refusals."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.models.midpoint import midpoint
from hiddenphysics.models.one_step import LAG, OneStep, Quantity
from hiddenphysics.models.paper import paper

FLOW = (
    "u_t + a*(u*u_x + v*u_y) + p_x - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) + p_y - b*lap(v) = 0; "
    "u = psi_y; v = -psi_x"
)
X = sympy.Symbol("x", real=True)


def model_of(text: str, observed: tuple[str, ...]) -> OneStep:
    return midpoint(
        Equation.parse(text, fields=[f for f in observed if not f.endswith("_t")]).system, observed
    )


def seen(
    quantity: Quantity, latents: dict[str, sympy.Expr], numbers: dict[str, float], lag: float
) -> sympy.Expr:
    """The quantity for latents given as functions of x, its frozen fields included."""
    total = quantity.mean
    for name, symbol, c in quantity.operator:
        total += c * sympy.diff(latents[name], X, symbol.orders[0])
    fields = {f: latents[f.func.__name__] for f in total.atoms(sympy.core.function.AppliedUndef)}
    values = {s: numbers[s.name] for s in total.free_symbols if s.name in numbers}
    return total.subs(fields).doit().subs(values).subs(LAG, lag)


def step_error(gap: float, name: str) -> float:
    """Error of h(t₁) − h(t₀) for a travelling wave of u_t + u u_x = (u − c) u_x, at one point."""
    build = {"midpoint": midpoint, "paper": paper}[name]
    model = build(Equation.parse("u_t + a*u*u_x - f*u_x = 0", fields=("u", "f")).system, ("u", "f"))
    speed = 0.7
    wave = sympy.sin(X) + sympy.cos(2 * X) / 3
    latent_time = {"midpoint": 0.5, "paper": 1.0}[name] * gap
    at = {"u": wave.subs(X, X - speed * latent_time), "f": wave.subs(X, X - speed * latent_time) - speed}
    ends = [seen(model.quantity("u"), at, {"a": 1.0}, latent_time - t).subs(X, 0.4) for t in (0.0, gap)]
    exact = [wave.subs(X, 0.4 - speed * t) for t in (0.0, gap)]
    return abs(float((ends[1] - ends[0]) - (exact[1] - exact[0])))


@pytest.mark.parametrize(("name", "order"), [("midpoint", 3.0), ("paper", 2.0)])
def test_the_local_error_has_the_order_of_the_scheme(name: str, order: float) -> None:
    measured = np.log2(step_error(0.1, name) / step_error(0.05, name))
    assert abs(measured - order) < 0.15


def test_of_second_order_in_time_the_second_difference_is_of_fourth_order() -> None:
    model = model_of("u_tt - c*u_xx = 0", ("u",))
    wave = sympy.sin(X)  # u = sin(x − t)

    def error(gap: float) -> float:
        at = {"u": wave, "u_t": -sympy.cos(X)}
        u = [seen(model.quantity("u"), at, {"c": 1.0}, -t).subs(X, 0.4) for t in (-gap, 0.0, gap)]
        exact = [np.sin(0.4 - t) for t in (-gap, 0.0, gap)]
        return abs(float(u[0] - 2 * u[1] + u[2]) - (exact[0] - 2 * exact[1] + exact[2]))

    assert abs(np.log2(error(0.2) / error(0.1)) - 4.0) < 0.1


def test_how_many_snapshots_it_takes() -> None:
    assert model_of("u_t - b*u_xx = 0", ("u",)).snapshots == 2
    assert model_of("u_tt - c*u_xx = 0", ("u",)).snapshots == 3
    assert model_of("u_tt - c*u_xx = 0", ("u", "u_t")).snapshots == 2


def test_damping_reaches_the_hidden_velocity() -> None:
    model = model_of("u_tt + k*u_t - c*u_xx = 0", ("u",))
    assert model.latents == ("u", "u_t")
    found = {(latent, symbol.orders): c for latent, symbol, c in model.quantity("u_t").operator}
    assert sympy.expand(found["u_t", (0,)] - (1 + sympy.Symbol("k", real=True) * LAG)) == 0


def test_hidden_pressure_and_stream_function_are_the_latents() -> None:
    flow = midpoint(Equation.parse(FLOW, fields=("u", "v")).system, ("u", "v"))
    assert flow.latents == ("p", "psi")
    assert {o.field for o in flow.observations} == {"u", "v"}


def test_a_potential_that_leaves_a_velocity_undefined_is_refused() -> None:
    text = FLOW.replace("; v = -psi_x", "")
    with pytest.raises(ModelError, match="u is defined by the potential psi, but v, which carries it along"):
        midpoint(Equation.parse(text, fields=("u", "v")).system, ("u", "v"))


def test_a_scalar_that_is_carried_needs_no_potential() -> None:
    text = f"{FLOW}; c_t + u*c_x + v*c_y - k*lap(c) = 0"
    model = midpoint(Equation.parse(text, fields=("u", "v", "c")).system, ("u", "v", "c"))
    assert model.latents == ("c", "p", "psi")


def test_data_without_an_evolving_field_are_refused() -> None:
    with pytest.raises(DataError, match="at least one of those must be measured"):
        midpoint(Equation.parse("u_t - f*u_xx - b*u = 0", fields=("f",)).system, ("f",))
