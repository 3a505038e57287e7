"""Newton's linearisation against finite differences, and the cases in which nothing is left to expand."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from hiddenphysics.equation import Equation, atoms_of, derivative_symbol, evaluate_by_name, field_name
from hiddenphysics.models.midpoint import newton

NONLINEAR = [
    "u_t + a*u*u_x - b*u_xx = 0",
    "u_t + sin(a*u)*u_x + exp(-b*u) = 0",
    "u_t + a*u^3 - b*d(u^2*u_x, x) = 0",
    "u_t - a*abs(u)^b = 0",
]


@pytest.mark.parametrize("text", NONLINEAR)
def test_the_error_of_the_expansion_is_of_second_order(text: str) -> None:
    rate = Equation.parse(text).evolution["u"]
    operator, constant = newton(rate, ("x",), ("u",))
    atoms = sorted(atoms_of(rate), key=str)
    generator = np.random.default_rng(0)
    state = {str(a): generator.uniform(0.5, 1.5) for a in atoms} | {"a": 0.7, "b": 1.3}
    move = {str(a): generator.standard_normal() for a in atoms}

    def linear(at: dict[str, float]) -> float:
        total = evaluate_by_name(constant, state, np)
        for name, symbol, slope in operator:
            (atom,) = (a for a in atoms if field_name(a) == name and derivative_symbol(a, ("x",)) == symbol)
            total = total + evaluate_by_name(slope, state, np) * at[str(atom)]
        return float(total)

    def error(size: float) -> float:
        moved = {name: value + size * move.get(name, 0.0) for name, value in state.items()}
        return abs(float(evaluate_by_name(rate, moved, np)) - linear(moved))

    assert error(0.0) < 1e-13
    order = np.log2(error(1e-2) / error(5e-3))
    assert 1.9 < order < 2.1


def test_a_linear_equation_asks_for_no_state() -> None:
    rate = Equation.parse("u_t + a*x*u_x - b*u_xx + sin(x) = 0").evolution["u"]
    operator, constant = newton(rate, ("x",), ("u",))
    assert constant == sympy.sin(sympy.Symbol("x", real=True))
    assert not any(atoms_of(c) for _, _, c in operator)
