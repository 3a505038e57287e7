"""Priors that vary in space: closed forms, the general against the special, and what noisy solitons ask for."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.beginning import beginning_of
from hiddenphysics.models.flow.envelope import STRETCH, Envelope
from hiddenphysics.models.flow.smoothed import KERNELS, smooth
from hiddenphysics.models.flow.windows import gathered
from hiddenphysics.snapshots import Snapshot, Snapshots
from hiddenphysics.spectral import Features, Gauge, Grid, values_at

RNG = np.random.default_rng(0)
BOX = ((-2.0, 12.0),)


def hump(stretch=0.0):
    """Data between 0 and 10, most of the energy around 5."""
    centres = np.linspace(0, 10, 101)[None, :, None]
    energy = np.exp(-((centres[..., 0] - 5) ** 2))
    return replace(Envelope.of(centres, energy, np.array([0.5]), 0.0), stretch=stretch)


def test_an_envelope_is_large_where_the_energy_is_and_periodic():
    g = hump().at(np.array([[5.0], [0.5], [0.0], [14.0]]), np.array([14.0]))[0]
    assert g[0] > 10 * g[1]
    assert g[2] == pytest.approx(g[3], rel=1e-12)
    np.testing.assert_array_equal(Envelope.flat(2, 1).at(np.zeros((3, 1)), np.array([1.0])), np.ones((2, 3)))


def test_a_warp_stretches_where_the_field_is_large_and_maps_the_box_onto_itself():
    x, h = np.linspace(-2, 12, 400)[:, None], 1e-4
    envelope = hump(STRETCH)
    rate = (envelope.warped(x + h, BOX) - envelope.warped(x - h, BOX))[0, :, 0] / (2 * h)
    np.testing.assert_allclose(envelope.warped(np.array([[-2.0], [12.0]]), BOX)[0, :, 0], [-2, 12], atol=1e-9)
    # Among the data s' is the power of g, up to a factor; far from them it goes back to 1.
    inside = (x[:, 0] > 1) & (x[:, 0] < 9)
    law = envelope.at(x, np.array([14.0]))[0] ** STRETCH
    np.testing.assert_allclose(rate[inside] / law[inside], np.mean(rate[inside] / law[inside]), rtol=0.1)
    assert rate.max() == pytest.approx(envelope.steepest(BOX), rel=1e-2)
    assert rate[0] == pytest.approx(1.0, abs=0.15)
    assert rate.min() > 0


def test_without_stretch_the_coordinate_stays_as_it_is():
    x = np.linspace(-2, 12, 9)[:, None]
    np.testing.assert_array_equal(hump().warped(x, BOX)[0], x)
    assert hump().steepest(BOX) == 1.0


def test_the_motion_starts_from_the_field_that_the_smoothing_has_seen():
    features, envelope = Features(Grid(BOX, (256,)), (20,)), hump(STRETCH)
    points = np.stack([axis.ravel() for axis in features.grid.points()], axis=1)
    z = RNG.standard_normal((1, features.count)) * np.exp(-0.1 * np.abs(features.omega[:, 0]) ** 2)
    gauge = Gauge(
        jnp.asarray(envelope.at(points, np.array([14.0]))),
        jnp.asarray(envelope.warped(points, BOX)[..., 0]),
    )
    seen = RNG.uniform(0, 10, (30, 1))
    moved = values_at(features.grid, features.to_modes(jnp.asarray(z), gauge), jnp.asarray(seen))
    np.testing.assert_allclose(moved[0], envelope.basis(features, seen)[0] @ z[0], atol=1e-7)


def test_places_that_are_the_grid_are_no_warp():
    features = Features(Grid(BOX, (64,)), (20,))
    z = jnp.asarray(RNG.standard_normal((2, features.count)))
    ones, (x,) = jnp.ones((2, 64)), features.grid.points()
    warped = features.to_modes(z, Gauge(ones, jnp.stack([jnp.asarray(x)] * 2)))
    np.testing.assert_allclose(warped, features.to_modes(z, Gauge(ones, None)), atol=1e-12)


def solitons(noise):
    """Two solitons of Korteweg and de Vries, heights 8 and 1, apart from each other, at two times."""
    rng, snapshots = np.random.default_rng(5), []
    for t in (0.0, 0.05):
        x = np.sort(rng.uniform(-10, 10, 110))
        u = sum(
            0.5 * c / np.cosh(0.5 * np.sqrt(c) * (x - at - c * t)) ** 2
            for c, at in ((16.0, -5.0), (2.0, 4.0))
        )
        snapshots.append(Snapshot(t, x, u=u + noise * rng.standard_normal(x.size)))
    return gathered(
        Equation.parse("u_t + a*u*u_x + b*u_xxx = 0", fields=("u",), coordinates=("x",)),
        [Snapshots(snapshots)],
    )


def test_noisy_solitons_of_two_widths_ask_for_a_warp_and_clean_ones_do_without():
    noisy = smooth(solitons(0.05), 0, KERNELS[1])
    assert noisy.envelope.stretch == STRETCH
    assert smooth(solitons(0.0), 0, KERNELS[1]).envelope.stretch == 0.0
    start = beginning_of(solitons(0.05), {})
    assert start.domain.gauge.places is not None
    # The motion's grid is finer than the waves alone would ask for: they are shorter at the top.
    (points,), (waves,) = start.domain.features.grid.shape, start.domain.features.waves
    assert points > 2 * 1.5 * waves
