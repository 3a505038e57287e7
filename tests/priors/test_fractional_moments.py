"""Fractional derivatives of the squared exponential against ₁F₁ in high precision, near and far, with their slopes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from hiddenphysics.errors import ModelError
from hiddenphysics.priors import Kernel, Matern, Periodic, RationalQuadratic, SquaredExponential

LENGTH = 0.7
DISTANCES = np.array([0.0, 1e-8, -0.31, 0.9, 3.3, -5.9, 6.99, 7.01, -9.0, 40.0, -900.0])
"""Signed; the series hands over to its asymptotic twin at r = 10 ℓ = 7."""
ORDERS = [0.0, 0.37, 1.0, 1.41, 2.0, 3.4, 8.0]


def closed_form(power: mp.mpf, phase: mp.mpf, r: mp.mpf, length: mp.mpf) -> mp.mpf:
    """∫ |ω|^p cos(ωr + qπ/2) S dω by Kummer's function, as in Gradshteyn & Ryzhik 3.952."""
    s = r / length
    half = mp.mpf(1) / 2
    even = mp.gamma((power + 1) * half) * mp.hyp1f1((power + 1) * half, half, -s * s / 2)
    odd = mp.sqrt(2) * mp.gamma(power * half + 1) * s * mp.hyp1f1(power * half + 1, 3 * half, -s * s / 2)
    turn = phase * mp.pi / 2
    return (mp.sqrt(2) / length) ** power / mp.sqrt(mp.pi) * (mp.cos(turn) * even - mp.sin(turn) * odd)


def fractional(power: jax.Array, phase: jax.Array, r: jax.Array, length: jax.Array) -> jax.Array:
    even, odd = SquaredExponential().fractional(r, power, {"length": length})
    turn = 0.5 * jnp.pi * phase
    return jnp.cos(turn) * even - jnp.sin(turn) * odd


def slopes(power: jax.Array, phase: jax.Array, r: jax.Array, length: jax.Array) -> tuple[jax.Array, ...]:
    """The value, and its derivative in every argument; r moves all at once, each by itself."""
    at = (power, phase, r, length)
    moves = [
        tuple(jnp.ones_like(a) if k == j else jnp.zeros_like(a) for k, a in enumerate(at)) for j in range(4)
    ]
    return (fractional(*at), *(jax.jvp(fractional, at, move)[1] for move in moves))


@pytest.mark.parametrize("power", ORDERS)
def test_value_and_slopes_equal_the_closed_form(power: float) -> None:
    phase = 0.6 * power - 0.3
    found = jax.jit(slopes)(*(jnp.asarray(a) for a in (power, phase, DISTANCES, LENGTH)))
    with mp.workdps(30):
        at = [[mp.mpf(a) for a in (power, phase, r, LENGTH)] for r in DISTANCES]
        expected = [[closed_form(*a) for a in at]]
        for j in range(4):
            step = [mp.mpf(10) ** -9 if k == j else mp.mpf(0) for k in range(4)]
            rise = [
                closed_form(*[x + h for x, h in zip(a, step, strict=True)])
                - closed_form(*[x - h for x, h in zip(a, step, strict=True)])
                for a in at
            ]
            expected.append([value * mp.mpf(10) ** 9 / 2 for value in rise])
        scale = float(closed_form(mp.mpf(power), mp.mpf(0), mp.mpf(0), mp.mpf(LENGTH)))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, np.array(other, float), rtol=1e-12, atol=3e-13 * scale)


def test_the_largest_powers_lose_few_digits() -> None:
    """Two known orders of 12 make a power of 24."""
    found = np.asarray(fractional(jnp.asarray(24.0), 0, jnp.asarray(DISTANCES), jnp.asarray(LENGTH)))
    with mp.workdps(30):
        expected = [float(closed_form(mp.mpf(24), mp.mpf(0), mp.mpf(r), mp.mpf(LENGTH))) for r in DISTANCES]
    np.testing.assert_allclose(found, expected, atol=1e-10 * abs(expected[0]))


@pytest.mark.parametrize("order", [0, 1, 2, 3, 4, 7])
def test_whole_orders_are_the_derivative_table(order: int) -> None:
    r, shape = jnp.asarray(DISTANCES), {"length": jnp.asarray(LENGTH)}
    kernel = SquaredExponential()
    expected = kernel.derivatives(r, order, shape)[order]
    scale = float(jnp.abs(kernel.derivatives(jnp.zeros(1), 2 * order, shape)[-1][0])) ** 0.5
    even, odd = kernel.fractional(r, float(order), shape)
    found = (even, -odd, -even, odd)[order % 4]
    np.testing.assert_allclose(found, expected, atol=1e-12 * scale)


def test_reverse_mode_and_second_derivatives_agree_with_forward_mode() -> None:
    def total(at: jax.Array) -> jax.Array:
        value = fractional(at[0], 0.7 * at[0], jnp.asarray(DISTANCES), at[1])
        return jnp.sum(jnp.cos(jnp.arange(len(DISTANCES))) * value)

    at, step = jnp.array([1.41, LENGTH]), 1e-5
    forward = jax.jit(jax.jacfwd(total))
    np.testing.assert_allclose(jax.jit(jax.grad(total))(at), forward(at), rtol=1e-12)
    hessian = jax.jit(jax.jacfwd(jax.jacfwd(total)))(at)
    rises = [(forward(at + move) - forward(at - move)) / (2 * step) for move in step * jnp.eye(2)]
    np.testing.assert_allclose(hessian, rises, rtol=1e-7, atol=1e-8)


def test_heat_widens_the_kernel() -> None:
    """e^{−tω²} S is the spectrum of ρ convolved with a heat kernel of variance 2t."""
    time, x = 0.4, np.linspace(-12.0, 12.0, 4001)
    amplitude, wider = SquaredExponential().heated(time, {"length": LENGTH})
    smear = np.exp(-(x**2) / (4 * time)) / np.sqrt(4 * np.pi * time)
    for r in (0.0, 0.8, 2.5):
        expected = np.sum(np.exp(-0.5 * ((r - x) / LENGTH) ** 2) * smear) * (x[1] - x[0])
        found = amplitude * SquaredExponential().derivatives(jnp.asarray(r), 0, wider)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("kernel", [Matern(4.5), RationalQuadratic(), Periodic(2.0)], ids=str)
def test_other_kernels_are_refused_in_a_sentence(kernel: Kernel) -> None:
    sentence = "fractional derivative of u, whose covariance is known for the squared exponential alone. Type kernel="
    with pytest.raises(ModelError, match=sentence):
        kernel.check_fractional("u")
    SquaredExponential().check_fractional("u")
