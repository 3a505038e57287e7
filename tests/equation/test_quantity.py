"""Quantities of an equation's fields, read by the equation's own grammar."""

from __future__ import annotations

import pytest
import sympy

from hiddenphysics.equation import coordinate, field, parameter, read_quantity
from hiddenphysics.errors import EquationError


def read(text: str) -> sympy.Expr:
    return read_quantity(
        text, fields=("u", "v", "u_t"), coordinates=("x", "y"), parameters=("a",), constants={"c": 2}
    )


def test_derivatives_numbers_constants_and_coordinates() -> None:
    x, y = coordinate("x"), coordinate("y")
    u, v = field("u", ("x", "y")), field("v", ("x", "y"))
    expected = v.diff(x) - 3 * u.diff(y) + 2 * x * u + parameter("a")
    assert sympy.expand(read("v_x - 3*u_y + c*x*u + a") - expected) == 0


def test_a_velocity_that_is_a_field_is_taken_whole() -> None:
    assert read("u_t") == field("u_t", ("x", "y"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("w_x", "'w' is no field or parameter"),
        ("v_t", "v_t is a time derivative"),
        ("u_z", "no coordinate z"),
        ("u = 1", "one expression is needed"),
        ("u; v", "one expression is needed"),
        ("i*u", "complex"),
        ("__import__('os')", "."),
    ],
)
def test_what_has_no_meaning_is_said(text: str, sentence: str) -> None:
    with pytest.raises(EquationError, match=sentence):
        read(text)
