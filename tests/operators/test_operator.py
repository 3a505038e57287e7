"""Operators: the algebra is closed, and means what it says when applied to polynomials in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from hiddenphysics.operators import Factor, Operator, Order, Symbol

from .polynomials import Polynomial, add, apply, scale

LATENTS = ("p", "u", "v")
D = 2

fractions = st.fractions(-5, 5, max_denominator=6)
symbols = st.builds(Symbol, st.tuples(st.integers(0, 3), st.integers(0, 3)))
terms = st.tuples(st.sampled_from(LATENTS), symbols, fractions)
operators = st.lists(terms, max_size=5).map(Operator.collect)
polynomials = st.dictionaries(
    st.tuples(st.integers(0, 6), st.integers(0, 6)), fractions.filter(bool), max_size=4
)
fields = st.fixed_dictionaries(dict.fromkeys(LATENTS, polynomials))
inner_operators = st.fixed_dictionaries(dict.fromkeys(LATENTS, operators))

Fields = dict[str, Polynomial]
Op = Operator[Fraction]


@given(operators, operators, operators)
def test_addition_is_associative_and_commutative_with_zero(a: Op, b: Op, c: Op) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + Operator.zero() == a == Operator.zero() + a


@given(operators, operators, fields)
def test_addition_adds_what_is_observed(a: Op, b: Op, z: Fields) -> None:
    assert apply(a + b, z) == add(apply(a, z), apply(b, z))


@given(fractions, fractions, operators, operators)
def test_scalar_multiplication_distributes_and_associates(r: Fraction, s: Fraction, a: Op, b: Op) -> None:
    assert r * (a + b) == r * a + r * b
    assert r * a + s * a == (r + s) * a
    assert r * (s * a) == (r * s) * a
    assert Fraction(1) * a == a


@given(fractions, operators, fields)
def test_scalar_multiplication_scales_what_is_observed(r: Fraction, a: Op, z: Fields) -> None:
    assert apply(r * a, z) == scale(r, apply(a, z))


@given(operators, inner_operators, fields)
def test_after_is_applying_one_and_then_the_other(outer: Op, inner: dict[str, Op], z: Fields) -> None:
    by_hand = apply(outer, {latent: apply(operator, z) for latent, operator in inner.items()})
    assert apply(outer.after(inner), z) == by_hand


@given(operators, operators, inner_operators)
def test_after_is_linear_and_keeps_the_identity(a: Op, b: Op, inner: dict[str, Op]) -> None:
    identity = {f: Operator.of(f, Symbol.identity(D), Fraction(1)) for f in LATENTS}
    assert a.after(identity) == a
    assert (a + b).after(inner) == a.after(inner) + b.after(inner)


@given(operators, inner_operators, inner_operators)
def test_after_is_associative(a: Op, b: dict[str, Op], c: dict[str, Op]) -> None:
    assert a.after(b).after(c) == a.after({f: operator.after(c) for f, operator in b.items()})


@given(st.lists(terms, max_size=6), st.randoms(use_true_random=False))
def test_equality_and_hash_forget_the_order_of_terms(given_terms: list, random: object) -> None:
    shuffled = list(given_terms)
    random.shuffle(shuffled)
    one, other = Operator.collect(given_terms), Operator.collect(shuffled)
    assert one == other
    assert hash(one) == hash(other)
    keys = [(latent, symbol) for latent, symbol, _ in one]
    assert keys == sorted(set(keys))


@given(operators)
def test_only_splits_an_operator_into_its_latents(a: Op) -> None:
    parts = [a.only(latent) for latent in LATENTS]
    assert sum(parts, start=Operator.zero()) == a
    assert all(set(part.latents) <= {latent} for latent, part in zip(LATENTS, parts, strict=True))
    assert a.latents == tuple(latent for latent, part in zip(LATENTS, parts, strict=True) if part.terms)


@given(operators)
def test_map_touches_coefficients_alone(a: Op) -> None:
    doubled = a.map(lambda c: 2 * c)
    assert doubled == Fraction(2) * a
    assert [t[:2] for t in doubled] == [t[:2] for t in a]


@given(operators)
def test_highest_order_looks_at_every_term_of_one_latent(a: Op) -> None:
    for latent in LATENTS:
        orders = [m for name, symbol, _ in a for m in symbol.orders if name == latent]
        assert a.highest_order(latent) == max(orders, default=0)


def test_stream_function_by_hand() -> None:
    """u = ψ_y, v = −ψ_x: the vorticity v_x − u_y is −(ψ_xx + ψ_yy), and the divergence vanishes."""
    one = Fraction(1)
    potentials = {"u": Operator.of("psi", Symbol((0, 1)), one), "v": Operator.of("psi", Symbol((1, 0)), -one)}
    vorticity = Operator.of("v", Symbol((1, 0)), one) + Operator.of("u", Symbol((0, 1)), -one)
    divergence = Operator.of("u", Symbol((1, 0)), one) + Operator.of("v", Symbol((0, 1)), one)
    laplacian = Operator.of("psi", Symbol((2, 0)), one) + Operator.of("psi", Symbol((0, 2)), one)
    assert vorticity.after(potentials) == -one * laplacian
    assert [c for _, _, c in divergence.after(potentials)] == [0]


def test_fields_multiply_point_by_point() -> None:
    field, coefficient = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    product = field * Operator.of("u", Symbol((1,)), coefficient)
    assert isinstance(product, Operator)
    ((latent, symbol, product),) = product
    assert (latent, symbol) == ("u", Symbol((1,)))
    np.testing.assert_array_equal(product, [4.0, 10.0, 18.0])


def test_coefficients_may_be_symbolic() -> None:
    a, b = sympy.symbols("a b")
    u_x = Operator.of("u", Symbol((1,)), a)
    assert u_x + Operator.of("u", Symbol((1,)), b) == Operator.of("u", Symbol((1,)), a + b)
    assert b * u_x == Operator.of("u", Symbol((1,)), a * b)
    assert u_x.map(lambda c: c.subs(a, 3)) == Operator.of("u", Symbol((1,)), sympy.Integer(3))


def test_composition_needs_every_latent() -> None:
    with pytest.raises(KeyError, match="u"):
        Operator.of("u", Symbol((1,)), 1).after({})


def test_evaluate_gives_coefficients_and_orders_their_numbers() -> None:
    a, alpha = sympy.symbols("a alpha")
    factor = Factor(Order("alpha", alpha, 4.0), (0,), one_sided=False)
    operator = Operator.collect([("u", Symbol((0,), (factor,)), a), ("u", Symbol((1,)), 2 * a)])
    assert operator.fractional("u") == (factor,)
    assert operator.fractional("v") == ()
    (_, plain, two), (_, symbol, one) = sorted(
        operator.evaluate(lambda e: float(e.subs({a: 3.0, alpha: 1.3}))), key=lambda t: -t[2]
    )
    assert (plain, two, one) == (Symbol((1,)), 6.0, 3.0)
    assert symbol.fractional[0].order.value == 1.3
    assert operator.map(lambda c: 2 * c).terms[0][1].fractional in ((), (factor,))  # map leaves symbols alone
