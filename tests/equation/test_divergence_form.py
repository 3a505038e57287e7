"""Derivatives in front of products: which terms can stand so, and when that saves Fourier transforms."""

from __future__ import annotations

from time import process_time

import pytest
import sympy

from hiddenphysics.equation import TIME, Equation, coordinate, divergence_form

X = (coordinate("x"),)


def typed(text: str) -> sympy.Expr:
    return Equation.parse(f"u_t = {text}").system.rest[0]


@pytest.mark.parametrize(
    "text",
    [
        "a*u*u_x",
        "d(a*u*u_x, x)",
        "u^2*u_x",
        "d(u^2*u_x, x) + a*u*u_x - u^4",
        "d(sin(x)*u*u_x, x)",
        "x^2*u*u_x",
        "cos(t)*u*u_x",
        "0.1*u*u_xxx + 0.3*u_x*u_xx",
    ],
)
def test_differentiated_again_nothing_has_changed(text: str) -> None:
    fluxes, left = divergence_form(typed(text), X)
    again = sum(flux.coefficient * sympy.diff(flux.inside, (X[0], *flux.orders)) for flux in fluxes)
    assert left == 0
    assert sympy.expand(again - typed(text)) == 0
    assert not any(flux.inside.atoms(sympy.Derivative) for flux in fluxes)


@pytest.mark.parametrize(
    "text", ["u_x^2", "u*u_xx", "sin(u)*u_x", "sin(a*x)*u*u_x", "frac_lap(u, 1.5)*u", "abs(u)*u_x"]
)
def test_what_cannot_stand_so_is_left_beside_what_can(text: str) -> None:
    fluxes, left = divergence_form(typed(f"{text} + b*u^2*u_x"), X)
    assert left == typed(text)
    assert [(str(flux.coefficient), flux.orders) for flux in fluxes] == [("b", (1,))]


def test_time_may_be_among_the_axes_or_a_coefficient() -> None:
    expr = typed("t*u*u_x")
    ((outside,), _), ((inside,), _) = (
        divergence_form(expr, X),
        divergence_form(expr, (coordinate(TIME), *X)),
    )
    assert (outside.coefficient, outside.orders) == (coordinate(TIME), (1,))
    assert (inside.coefficient, inside.orders) == (1, (0, 1))


def shape(text: str, coordinates: tuple[str, ...] = ("x",)) -> list[list[tuple[str, tuple[int, ...], str]]]:
    """Coefficient, orders, inside of all fluxes, fields by their names alone."""
    fluxes = Equation.parse(text, coordinates=coordinates).system.fluxes
    called = f"({', '.join((TIME, *coordinates))})"
    return [
        [(str(f.coefficient), f.orders, str(f.inside).replace(called, "")) for f in row] for row in fluxes
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u_t + a*u*u_x - b*u_xx = 0", [[("-a/2", (1,), "u**2")]]),
        ("u_t = d(a*u*u_x, x)", [[("1/2", (2,), "u*Abs(a*u)")]]),  # spreads below zero, too
        ("u_t + sin(t)*u*u_x = 0", [[("-sin(t)/2", (1,), "u**2")]]),
        ("u_tt = d(u*u_x, x) - g*u_t", [[], [("1/2", (2,), "u**2")]]),
        ("u_t = d(u^2*u_x, x) - b*sin(u)", [[("1/3", (2,), "u**3"), ("-b", (0,), "sin(u)")]]),
        ("u_t = -a*u*v; v_t = b*u*v", [[("-a", (0,), "u*v")], [("b", (0,), "u*v")]]),
    ],
)
def test_transforms_are_saved(text: str, expected: list[list[tuple[str, tuple[int, ...], str]]]) -> None:
    assert shape(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("u_t + u*u_x + a*u_x^2 = 0", "u_x is needed anyway"),
        ("u_t + u*u_x + a*u^3 = 0", "one transform less of u_x, one more of a product"),
        ("u_t + cos(x)*u*u_x = 0", "a factor of place"),
        ("u_t = d(x*u*u_x, x)", "a factor of place that jumps where the box begins anew"),
        ("u_t + u^8*u_x = 0", "padding is not exact for this degree"),
        ("i*h_t + a*h_xx + b*abs(h)^2*h = 0", "no derivative"),
    ],
)
def test_terms_stay_as_typed_where_nothing_is_saved(text: str, why: str) -> None:
    system = Equation.parse(text).system
    for row, rest in zip(system.fluxes, system.rest, strict=True):
        assert [flux.orders for flux in row] == [(0,)], why
        assert row[0].coefficient * row[0].inside == rest


def test_advection_stays_as_typed_and_its_divergence_form_does_not() -> None:
    plain = "u_t + u*u_x + v*u_y = 0; v_t + u*v_x + v*v_y = 0"
    divergence = "u_t + d(u*u, x) + d(v*u, y) = 0; v_t + d(u*v, x) + d(v*v, y) = 0"
    assert {orders for row in shape(plain, ("x", "y")) for _, orders, _ in row} == {(0, 0)}
    products = {inside for row in shape(divergence, ("x", "y")) for _, _, inside in row}
    assert products == {"u**2", "u*v", "v**2"}  # five transforms, of u and v and these, instead of eight


def test_derivatives_go_back_where_they_save_nothing() -> None:
    first, second = shape("u_t = d(u*u_x, x); v_t = v*v_x + a*v_x^2")
    assert [orders for _, orders, _ in first] == [(2,)]
    assert [orders for _, orders, _ in second] == [(0,)]


def test_products_with_many_derivatives_are_given_up_early() -> None:
    """The whole product rule of ∂_x⁸ ∂_y⁸ u⁴ takes 16 s; that u_xxyy⁴ is not all of it shows after one derivative."""
    system = Equation.parse("u_t = u_xxyy^4", coordinates=("x", "y")).system
    start = process_time()
    assert [flux.orders for flux in system.fluxes[0]] == [(0, 0)]
    assert process_time() - start < 2
