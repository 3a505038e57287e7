"""Processes that carry a tied state: amplitudes there and back, two scales, constants, what comes from outside."""

import jax
import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.carried_state import carry_over
from hiddenphysics.models.flow.domain import domain_of
from hiddenphysics.models.flow.envelope import Envelope
from hiddenphysics.models.flow.processes import (
    group_names,
    has_outside,
    joint_prior,
    levels_of,
    relative_sizes,
    sizes_of,
    with_outside,
)
from hiddenphysics.models.flow.windows import gathered
from hiddenphysics.priors import SquaredExponential
from hiddenphysics.spectral import values_at

STREAM = "u_t + a*(u*u_x + v*u_y) + p_x - b*lap(u) = 0; v_t + a*(u*v_x + v*v_y) + p_y - b*lap(v) = 0; u_x + v_y = 0"
PARAMETERS = np.array([1.0, 0.1])


@pytest.fixture(scope="module")
def vortices():
    """Windows, prior and its vector of a pair of snapshots of Taylor's vortices in a stream."""
    rng = np.random.default_rng(0)
    data = []
    for t in (0.0, 0.1):
        x, y = rng.uniform(0, 3, (2, 30))
        data.append(hp.Snapshot(t=t, x=x, y=y, u=0.7 - np.cos(x) * np.sin(y), v=np.sin(x) * np.cos(y)))
    windows = gathered(Equation.parse(STREAM), [hp.Snapshots(data)])
    each = {
        row: (SquaredExponential(), np.array([2 * np.log(windows.sizes[row]), 0.0, 0.1])) for row in (0, 1)
    }
    prior, theta = joint_prior(windows, each, np.log(1e-4))
    return windows, *with_outside(prior, theta)


@pytest.fixture(scope="module")
def domain(vortices):
    windows, prior, theta = vortices
    lengths, relative = prior.lengths(theta), relative_sizes(prior, theta, windows)
    return domain_of(windows, prior, [Envelope.flat(1, 2)], lengths, 1e-2, outside=2, relative=relative)


def test_two_velocities_are_one_process_on_two_scales(vortices):
    windows, prior, theta = vortices
    assert group_names(windows.equation) == ("u,v",)
    assert [name for name, _ in prior.latents] == ["u,v", "u,v.fine", "u,v.outside"]
    assert prior.blocks == ("u,v", "u,v.outside")
    assert has_outside(prior)
    assert prior.means == 1
    assert len(theta) == len(prior.names) == 3 * 3 + 1
    size = float(np.linalg.norm(windows.sizes))
    np.testing.assert_allclose(sizes_of(prior, windows), size)
    assert relative_sizes(prior, theta, windows)[:2].sum() == pytest.approx(1.0)
    # Means are as free as the fields are large, those of the second field too.
    assert np.all(levels_of(prior, windows)[[0, 2]] >= windows.sizes.max() ** 2)


def test_the_density_of_a_potential_has_the_variance_that_it_says(vortices, domain):
    _, prior, theta = vortices
    features = domain.features
    spectrum = np.asarray(
        prior.spectrum(theta, features.omega, features.measure, np.zeros(len(prior.blocks) + prior.means))
    )
    assert spectrum.size == len(prior.blocks) * features.count + prior.means
    both = np.exp(theta[[0, 3]]).sum()
    # Waves count twice in the variance of a point, as cos² and sin², each half on average.
    assert spectrum[1 : features.count].sum() / 2 == pytest.approx(both, rel=0.02)
    assert spectrum[0] == 0


def test_amplitudes_of_fields_and_of_processes_go_there_and_back(domain):
    rng = np.random.default_rng(1)
    z = rng.standard_normal((1, domain.program.features))
    fields = domain.field_amplitudes(z, PARAMETERS)
    assert fields.shape == (1, 2, domain.features.count)
    again = domain.begun(fields, PARAMETERS, 2)
    assert again.shape == (1, domain.program.features + 2 * domain.program.kicks)
    np.testing.assert_allclose(again[:, : z.shape[1]], z, atol=1e-12)
    motion, features = domain.program.on(np.array(domain.features.grid.box))
    gauge = domain.gauge._replace(envelope=domain.gauge.envelope[0])
    modes = np.asarray(jax.jit(domain.program.state_of(motion, features, gauge))(z[0], PARAMETERS))
    np.testing.assert_allclose(features.amplitudes(modes), fields[0], atol=1e-12)


def test_every_column_has_a_variance(vortices, domain):
    _, prior, theta = vortices
    columns = domain.columns(2)
    total = domain.program.features + 2 * domain.program.kicks
    level = np.zeros(len(prior.blocks) + prior.means)
    spectrum = prior.spectrum(theta, domain.features.omega, domain.features.measure, level)
    assert columns.shape == (total,)
    assert columns.max() == spectrum.size - 1
    # Both components of a push have the same prior.
    kicks = columns[domain.program.features :].reshape(2, 2, -1)
    np.testing.assert_array_equal(kicks[0], kicks[1])
    np.testing.assert_array_equal(kicks[:, 0], kicks[:, 1])


def eddies_around(place):
    """Return an envelope of eddies that are large around a place."""
    centres = np.random.default_rng(4).uniform(0, 3, (1, 60, 2))
    energy = np.exp(-np.sum((centres - np.array(place)) ** 2, axis=-1))
    return Envelope.of(centres, energy, np.array([1.0, 1.1]), 1e-2)


@pytest.mark.parametrize("envelope", [Envelope.flat(1, 2), eddies_around((1.0, 1.5))])
def test_a_state_is_carried_into_another_box(vortices, envelope):
    windows, prior, theta = vortices
    lengths = prior.lengths(theta)
    box = domain_of(windows, prior, [envelope], lengths, 1e-4, outside=2)
    wide = domain_of(windows, prior, [envelope], lengths, 1e-5, room=1.3, outside=2)
    rng = np.random.default_rng(2)
    spectrum = np.asarray(
        prior.spectrum(theta, box.features.omega, box.features.measure, np.array([0.1, 0.0, 0.1]))
    )
    z = np.zeros((1, box.program.features + 2 * box.program.kicks))
    z[:, : box.program.features] = rng.standard_normal(box.program.features) * np.sqrt(
        np.append(spectrum[: box.features.count], 0.1)
    )
    # All fields at once: what has no sources in one box has none in the other.
    moved = carry_over(windows, prior, theta, z, PARAMETERS, box, wide)
    points = rng.uniform(0, 3, (200, 2))
    before, after = (d.values_at(one, PARAMETERS, points) for d, one in ((box, z), (wide, moved)))
    np.testing.assert_allclose(after, before, atol=1e-3 * np.abs(before).max())


def test_eddies_are_large_where_the_envelope_is_and_the_stream_is_everywhere(vortices):
    """Draws of the prior: their deviation follows the envelope; their velocities have no sources, whatever it is."""
    windows, prior, theta = vortices
    lengths = prior.lengths(theta)
    domain = domain_of(windows, prior, [eddies_around((0.5, 0.5))], lengths / 3, 1e-3, outside=2)
    rng = np.random.default_rng(5)
    features = domain.features
    theta = theta.copy()
    theta[[1, 2, 4, 5]] -= np.log(3.0)
    spectrum = np.asarray(prior.spectrum(theta, features.omega, features.measure, np.zeros(3)))
    draws = rng.standard_normal((400, domain.program.features)) * np.sqrt(spectrum[domain.state_columns])
    motion, own = domain.program.on(np.array(features.grid.box))
    gauge = domain.gauge._replace(envelope=domain.gauge.envelope[0])
    # All at once: one after another, uncompiled, they took half of this file's time.
    made = jax.jit(jax.vmap(domain.program.state_of(motion, own, gauge), (0, None)))
    modes = np.asarray(made(draws, PARAMETERS))
    kx, ky = features.grid.wavenumbers
    assert np.abs(kx * modes[:, 0] + ky * modes[:, 1]).max() < 1e-12
    points = np.array([[0.5, 0.5], [2.5, 2.5]])
    seen = np.asarray(jax.jit(jax.vmap(lambda one: values_at(features.grid, one, points)))(modes))
    size = np.sqrt(np.mean(np.sum(seen**2, axis=1), axis=0))
    expected = domain.envelopes[0].at(points, np.array(features.grid.lengths))[0]
    assert size[0] / size[1] == pytest.approx(expected[0] / expected[1], rel=0.15)
    assert expected[0] / expected[1] > 1.5
    stream = np.zeros(domain.program.features)
    stream[0] = 0.7
    (still,) = np.asarray(made(stream[None], PARAMETERS))
    np.testing.assert_allclose(values_at(features.grid, still, points), [[0.7, 0.7], [0.0, 0.0]], atol=1e-12)
