"""Symbols: composition of derivatives is addition of orders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hiddenphysics.errors import ModelError
from hiddenphysics.operators import Factor, Order, Symbol

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


# ---- fractional factors --------------------

orders = st.sampled_from([Order("alpha", "α", 4.0), Order("2*s", "2s", 4.0), Order.known(1.5)])
factors = st.one_of(
    st.builds(Factor, orders, st.just((0, 1)), st.just(False)),
    st.builds(Factor, orders, st.sampled_from([(0,), (1,)]), st.booleans()),
)
fractional_symbols = st.builds(
    lambda whole, found: Symbol(whole, tuple(sorted(found))),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.lists(factors, max_size=3),
)


@given(fractional_symbols, fractional_symbols, fractional_symbols)
def test_composition_with_fractional_factors_is_a_commutative_monoid(a: Symbol, b: Symbol, c: Symbol) -> None:
    assert a @ b == b @ a
    assert (a @ b) @ c == a @ (b @ c)
    assert a @ Symbol.identity(2) == a
    assert hash(a @ b) == hash(b @ a)


@given(fractional_symbols, fractional_symbols)
def test_fractional_symbols_multiply_on_plane_waves(a: Symbol, b: Symbol) -> None:
    numbers = {"α": 0.7, "2s": 1.1}

    def on_wave(symbol: Symbol, omega: tuple[float, float]) -> complex:
        value = (1j * omega[0]) ** symbol.orders[0] * (1j * omega[1]) ** symbol.orders[1]
        for factor in symbol.evaluate(numbers.__getitem__).fractional:
            size = sum(omega[d] ** 2 for d in factor.along) ** 0.5
            base = 1j * omega[factor.along[0]] if factor.one_sided else size
            value *= base**factor.order.value
        return value

    for omega in ((1.3, -0.4), (-2.0, 0.9)):
        assert on_wave(a @ b, omega) == pytest.approx(on_wave(a, omega) * on_wave(b, omega), rel=1e-12)


def test_orders_are_known_by_name() -> None:
    order = Order("alpha", "expression", 4.0)
    assert order == order.evaluate(lambda _: 1.3)
    assert order.evaluate(lambda _: 1.3).value == 1.3
    assert Order.known(1.5).evaluate(lambda _: 0.0).value == 1.5
    assert order != Order.known(1.5)


def test_a_one_sided_derivative_acts_along_one_coordinate() -> None:
    with pytest.raises(
        ModelError, match=r"order 1.5 along 2 coordinates was given; it acts along exactly one"
    ):
        Factor(Order.known(1.5), (0, 1), one_sided=True)
