"""Symbols: composition of derivatives is addition of orders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenphysics.errors import ModelError
from hiddenphysics.operators import Symbol

symbols = st.builds(Symbol, st.tuples(st.integers(0, 5), st.integers(0, 5)))


@given(symbols, symbols, symbols)
def test_composition_is_a_commutative_monoid(a: Symbol, b: Symbol, c: Symbol) -> None:
    assert a @ b == b @ a
    assert (a @ b) @ c == a @ (b @ c)
    assert a @ Symbol.identity(2) == a


@given(symbols, symbols)
def test_symbols_multiply_on_plane_waves(a: Symbol, b: Symbol) -> None:
    def on_wave(symbol: Symbol, omega: tuple[int, int]) -> complex:
        return (1j * omega[0]) ** symbol.orders[0] * (1j * omega[1]) ** symbol.orders[1]

    omega = (2, -1)
    assert on_wave(a @ b, omega) == on_wave(a, omega) * on_wave(b, omega)


def test_highest_is_the_largest_order_along_one_coordinate() -> None:
    assert Symbol((2, 3)).highest == 3
    assert Symbol.identity(3) == Symbol((0, 0, 0))
    assert Symbol.identity(3).highest == 0


def test_symbols_sort_and_hash_by_their_orders() -> None:
    assert sorted([Symbol((1, 0)), Symbol((0, 2)), Symbol((0, 1))]) == [
        Symbol((0, 1)),
        Symbol((0, 2)),
        Symbol((1, 0)),
    ]
    assert len({Symbol((1, 0)), Symbol((1, 0)), Symbol((0, 1))}) == 2


def test_negative_orders_are_refused() -> None:
    with pytest.raises(ModelError, match=r"Derivative orders \(1, -1\) were given; each must be 0 or larger"):
        Symbol((1, -1))


def test_symbols_of_different_dimensions_do_not_compose() -> None:
    with pytest.raises(ValueError, match="zip"):
        Symbol((1,)) @ Symbol((1, 0))
