"""Motions whose diffusivity depends on the field: against Barenblatt's solution, below zero, and in long steps."""

import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.spectral import Motion

POROUS = "u_t = d(D*u*u_x, x)"


def barenblatt(x, t, D, mass_like=1.0):
    """The source solution of u_t = (D u u_x)_x: u = s^{−1/3} (C − x² s^{−2/3} / 12)₊ with s = D t / 2.

    Barenblatt (1952); Vázquez (2007), *The Porous Medium Equation*, section 4.4, for u_t = (u²)_xx.
    """
    s = D * t / 2
    return s ** (-1 / 3) * np.maximum(mass_like - x**2 * s ** (-2 / 3) / 12, 0.0)


@pytest.mark.parametrize("steps", [16, 64])
def test_a_source_spreads_as_barenblatt_says(steps):
    """Explicit steps are stable from about a thousand on; its foot is a corner, which 256 points round off."""
    motion, D = Motion.of(POROUS, (-8, 8), 256), 0.8
    (x,) = motion.grid.points()
    moved = motion.advance(barenblatt(x, 1.0, D)[None], {"D": D}, 2.0, steps)[0]
    truth = barenblatt(x, 3.0, D)
    assert np.max(np.abs(moved - truth)) < 0.02 * np.max(truth)
    assert np.sqrt(np.mean((moved - truth) ** 2)) < 0.003 * np.max(truth)


def test_what_is_below_zero_spreads_as_its_mirror_image():
    """The equation as typed says nothing there: its waves would grow the faster the shorter they are."""
    motion = Motion.of(POROUS, (-8, 8), 128)
    (x,) = motion.grid.points()
    bump = jnp.exp(-(x**2))[None]
    above, below = (motion.advance(sign * bump, {"D": sign * 0.5}, 2.0, 32) for sign in (1.0, -1.0))
    np.testing.assert_allclose(below, -above, atol=1e-12)
    both = jnp.exp(-((x + 2) ** 2)) - jnp.exp(-((x - 2) ** 2))
    moved = motion.advance(both[None], {"D": 0.5}, 2.0, 32)[0]
    assert float(jnp.max(jnp.abs(moved))) < 1.0
    np.testing.assert_allclose(moved, -jnp.roll(moved[::-1], 1), atol=1e-6)


def test_a_constant_diffusivity_beside_it_is_the_heat_equation_where_it_is_all():
    """c = D + E u with E = 0 against the closed form of a Gaussian."""
    motion = Motion.of("u_t = d((D + E*u)*u_x, x)", (-10, 10), 128)
    (x,) = motion.grid.points()
    moved = motion.advance(jnp.exp(-(x**2))[None], {"D": 0.3, "E": 0.0}, 1.0, 4)[0]
    wide = 1 + 4 * 0.3
    np.testing.assert_allclose(moved, np.exp(-(x**2) / wide) / np.sqrt(wide), atol=1e-10)


def test_a_diffusivity_that_is_negative_on_the_whole_has_no_motion():
    motion = Motion.of(POROUS, (-8, 8), 64)
    (x,) = motion.grid.points()
    assert not np.any(
        np.isfinite(motion.advance(1 + 0.1 * jnp.cos(np.pi * x / 8)[None], {"D": -0.5}, 1.0, 4))
    )
