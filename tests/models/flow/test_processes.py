"""Processes that carry a tied state: amplitudes there and back, two scales, constants, what comes from outside."""

import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.equation import Equation
from hiddenphysics.models.flow.domain import carry_over, domain_of
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
    modes = np.asarray(domain.program.state_of(motion, features, gauge)(z[0], PARAMETERS))
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


def test_a_state_is_carried_into_another_box(vortices, domain):
    windows, prior, theta = vortices
    lengths = prior.lengths(theta)
    wide = domain_of(windows, prior, [Envelope.flat(1, 2)], lengths, 1e-2, room=1.3, outside=2)
    rng = np.random.default_rng(2)
    spectrum = np.asarray(
        prior.spectrum(theta, domain.features.omega, domain.features.measure, np.array([0.1, 0.0, 0.1]))
    )
    z = np.zeros((1, domain.program.features + 2 * domain.program.kicks))
    z[:, : domain.program.features] = rng.standard_normal(domain.program.features) * np.sqrt(
        np.append(spectrum[: domain.features.count], 0.1)
    )
    # Each field by itself, and then what has no sources: near enough for a round to begin with.
    moved = carry_over(windows, prior, theta, z, PARAMETERS, domain, wide)
    points = np.array([[0.5, 0.5], [1.5, 2.0], [2.5, 1.0]])

    def seen(box, z):
        fields = box.field_amplitudes(z, PARAMETERS)[0]
        return np.asarray(values_at(box.features.grid, box.features.modes_of(fields), points))

    np.testing.assert_allclose(seen(wide, moved), seen(domain, z), atol=0.05 * np.abs(seen(domain, z)).max())
