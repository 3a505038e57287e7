"""The paper's forward model: observations, their order, hidden fields, potentials, refusals, order of accuracy."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from hiddenphysics.equation import Equation, evaluate_by_name
from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.models.one_step import LAG, Observation, OneStep
from hiddenphysics.models.paper import paper
from hiddenphysics.operators import Operator, Symbol

NAVIER_STOKES = """
u_t + a*(u*u_x + v*u_y) + p_x - b*(u_xx + u_yy) = 0
v_t + a*(u*v_x + v*v_y) + p_y - b*(v_xx + v_yy) = 0
u = psi_y
v = -psi_x
"""
ONE = sympy.Integer(1)


def model(text: str, *observed: str) -> tuple[Equation, OneStep]:
    equation = Equation.parse(text, fields=observed)
    return equation, paper(equation.system, observed)


def seen(linear: OneStep, field: str, snapshot: int) -> Observation:
    (found,) = [o for o in linear.observations if (o.field, o.snapshot) == (field, snapshot)]
    return found


def test_burgers_is_one_backward_euler_step() -> None:
    equation, linear = model("u_t + a*u*u_x - b*u_xx = 0", "u")
    a, b, u = equation.parameter("a"), equation.parameter("b"), equation.field("u")
    after, before = linear.observations
    assert (after.field, after.snapshot, before.field, before.snapshot) == ("u", 1, "u", 0)
    assert after.quantity.operator == Operator.of("u", Symbol((0,)), ONE)
    assert before.quantity.operator == Operator.collect([
        ("u", Symbol((0,)), ONE),
        ("u", Symbol((1,)), a * LAG * u),
        ("u", Symbol((2,)), -b * LAG),
    ])  # fmt: skip
    assert after.quantity.mean == before.quantity.mean == 0
    assert (linear.latents, linear.parameters, linear.latent_fraction) == (("u",), ("a", "b"), 1.0)
    assert linear.frozen_at(0) == (u,)
    assert linear.frozen_at(1) == ()
    assert linear.highest_order("u") == 2


def test_the_order_is_after_then_before_and_fields_as_the_equation_has_them() -> None:
    _, linear = model("v_t - b*v_xx + u = 0; u_t + a*u_x = 0", "u", "v")
    order = [(o.field, o.snapshot) for o in linear.observations]
    assert order == [("v", 1), ("u", 1), ("v", 0), ("u", 0)]
    _, complex_one = model("i*h_t + a*h_xx + b*abs(h)^2*h = 0", "h_re", "h_im")
    order = [(o.field, o.snapshot) for o in complex_one.observations]
    assert order == [("h_re", 1), ("h_im", 1), ("h_re", 0), ("h_im", 0)]


def test_a_function_of_the_field_moves_the_mean() -> None:
    equation, linear = model("u_t + sin(a*u) + c*u_xx = x*t", "u")
    before = seen(linear, "u", 0).quantity
    expected = sympy.sin(equation.parameter("a") * equation.field("u")) - equation.coordinate(
        "x"
    ) * equation.coordinate("t")
    assert sympy.expand(before.mean - LAG * expected) == 0
    assert seen(linear, "u", 1).quantity.mean == 0


def test_a_measured_coefficient_field_is_no_latent_and_no_observation() -> None:
    equation, linear = model("u_t + a*c*u_x + c_x*u = 0", "u", "c")
    assert linear.latents == ("u",)
    assert {o.field for o in linear.observations} == {"u"}
    assert {str(atom) for atom in linear.frozen_at(0)} == {"c(t, x)", "Derivative(c(t, x), x)"}
    assert [name for name, _ in linear.quantities] == ["u"]
    assert equation.fields == ("u", "c")


def test_a_hidden_field_that_evolves_carries_a_prior() -> None:
    equation, linear = model("u_t = a*v_x; v_t = b*u_x", "u")
    assert linear.latents == ("u", "v")
    assert [(o.field, o.snapshot) for o in linear.observations] == [("u", 1), ("u", 0)]
    assert seen(linear, "u", 0).quantity.operator == Operator.collect([
        ("u", Symbol((0,)), ONE),
        ("v", Symbol((1,)), -equation.parameter("a") * LAG),
    ])  # fmt: skip


def test_navier_stokes_with_stream_function_and_pressure() -> None:
    """Equations 12 and 13 of the paper, with λ1 (not the printed λ2) before the second row's advection."""
    equation, linear = model(NAVIER_STOKES, "u", "v")
    a, b = equation.parameter("a"), equation.parameter("b")
    u, v = equation.field("u"), equation.field("v")
    assert linear.latents == ("p", "psi")
    assert [(o.field, o.snapshot) for o in linear.observations] == [("u", 1), ("v", 1), ("u", 0), ("v", 0)]
    assert seen(linear, "u", 1).quantity.operator == Operator.of("psi", Symbol((0, 1)), ONE)
    assert seen(linear, "v", 1).quantity.operator == Operator.of("psi", Symbol((1, 0)), -ONE)
    assert seen(linear, "u", 0).quantity.operator == Operator.collect([
        ("psi", Symbol((0, 1)), ONE),
        ("psi", Symbol((1, 1)), a * LAG * u),
        ("psi", Symbol((0, 2)), a * LAG * v),
        ("psi", Symbol((2, 1)), -b * LAG),
        ("psi", Symbol((0, 3)), -b * LAG),
        ("p", Symbol((1, 0)), LAG),
    ])  # fmt: skip
    assert seen(linear, "v", 0).quantity.operator == Operator.collect([
        ("psi", Symbol((1, 0)), -ONE),
        ("psi", Symbol((2, 0)), -a * LAG * u),
        ("psi", Symbol((1, 1)), -a * LAG * v),
        ("psi", Symbol((3, 0)), b * LAG),
        ("psi", Symbol((1, 2)), b * LAG),
        ("p", Symbol((0, 1)), LAG),
    ])  # fmt: skip
    assert (linear.highest_order("psi"), linear.highest_order("p")) == (3, 1)
    assert linear.quantity("p").operator == Operator.of("p", Symbol((0, 0)), ONE)


def test_without_lag_is_the_quantity_at_the_latents_own_time() -> None:
    _, linear = model("u_t + a*u*u_x + sin(u) = 0", "u")
    assert linear.quantity("u").without_lag() == seen(linear, "u", 1).quantity


def test_models_are_static_arguments() -> None:
    one, other = (model("u_t + a*u*u_x - b*u_xx = 0", "u")[1] for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != model("u_t + a*u*u_x - 2*b*u_xx = 0", "u")[1]


# ---- refusals --------------------


def test_a_hidden_frozen_factor_is_refused() -> None:
    with pytest.raises(
        ModelError, match=r"equation for u holds a product in which w\(t, x\) is frozen .* w has no data"
    ):
        model("u_t + a*w*u_x = 0; w_t - b*w_xx = 0", "u")


def test_a_hidden_field_in_a_function_is_refused() -> None:
    with pytest.raises(ModelError, match=r"w\(t, x\) is frozen .* but w has no data"):
        model("u_t + a*sin(w) = 0; w_t - b*w_xx = 0", "u")


def test_second_order_in_time_is_refused() -> None:
    with pytest.raises(ModelError, match=r"second order in time in u; .*Use model='midpoint'"):
        model("u_tt - b*u_xx = 0", "u")


def test_orders_that_make_ordinary_derivatives_are_not_fractional() -> None:
    assert model("u_t + b*frac_lap(u, 2) = 0", "u")[1] == model("u_t - b*u_xx = 0", "u")[1]


@pytest.mark.parametrize(("observed", "hold"), [((), "no field"), (("c",), "c")])
def test_some_evolving_field_must_be_measured(observed: tuple[str, ...], hold: str) -> None:
    with pytest.raises(DataError, match=f"The data hold {hold}, but the equation evolves u; at least one"):
        model("u_t + c*u_x - b*u_xx = 0", *observed)


# ---- measured order of accuracy --------------------

WAVE, SPEED, DIFFUSION = 1.7, 0.8, 0.25


def exact(t: float, x: np.ndarray, order: int = 0) -> np.ndarray:
    """∂_x^order of e^{−bk²t} sin(k(x − at)), which solves u_t + a u_x − b u_xx = 0."""
    phase = WAVE * (x - SPEED * t) + 0.5 * np.pi * order
    return WAVE**order * np.exp(-DIFFUSION * WAVE**2 * t) * np.sin(phase)


def step_back(linear: OneStep, lag: float, t: float, x: np.ndarray) -> np.ndarray:
    """Apply the observation of the earlier snapshot, z + Δt N z, to the exact field at the later time."""
    before = seen(linear, "u", 0).quantity
    numbers = {"a": SPEED, "b": DIFFUSION, "x": x, "t": t, str(LAG): lag}
    terms = [evaluate_by_name(c, numbers, np) * exact(t, x, s.orders[0]) for _, s, c in before.operator]
    return sum(terms) + evaluate_by_name(before.mean, numbers, np)


def test_one_step_is_of_second_order_locally() -> None:
    """The error of one backward Euler step falls as Δt², and its constant is ½ u_tt."""
    _, linear = model("u_t + a*u_x - b*u_xx = 0", "u")
    x, t = np.linspace(0.0, 3.0, 40), 0.6
    lags = 0.1 * 0.5 ** np.arange(6)
    errors = [np.max(np.abs(step_back(linear, lag, t, x) - exact(t - lag, x))) for lag in lags]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    np.testing.assert_allclose(orders[-1], 2.0, atol=0.02)
    # u_tt = (b ∂_xx − a ∂_x)² u = b² u_xxxx − 2ab u_xxx + a² u_xx
    second = (
        DIFFUSION**2 * exact(t, x, 4) - 2 * SPEED * DIFFUSION * exact(t, x, 3) + SPEED**2 * exact(t, x, 2)
    )
    np.testing.assert_allclose(errors[-1] / lags[-1] ** 2, 0.5 * np.max(np.abs(second)), rtol=0.02)


def test_no_step_is_no_change() -> None:
    _, linear = model("u_t + a*u_x - b*u_xx = 0", "u")
    x = np.linspace(0.0, 3.0, 7)
    np.testing.assert_array_equal(step_back(linear, 0.0, 0.6, x), exact(0.6, x))
