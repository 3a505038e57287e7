"""Beyond one field on a line with one noise: a plane, fractional orders, known errors, fields of unlike sizes."""

import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.equation import Equation
from hiddenphysics.gaussian import evidence, posterior, reduce
from hiddenphysics.learning import Status
from hiddenphysics.models import MODELS, Question
from hiddenphysics.models.flow.smoothed import KERNELS, smooth, with_common_noise
from hiddenphysics.models.flow.windows import gathered
from hiddenphysics.simulate.exact import fractional_heat_kernel
from hiddenphysics.snapshots import Experiments, Snapshot, Snapshots


def fitted(snapshots, text):
    equation = Equation.parse(text, fields=snapshots.fields, coordinates=snapshots.coordinates)
    return MODELS["flow"].learn(Question(equation, Experiments.single(snapshots)), lambda stage: None)


def deviations(fit):
    return np.sqrt(np.diagonal(fit.learned.belief.covariance))


def test_a_fractional_order_is_found_from_levys_density():
    x = np.linspace(-4, 4, 41)
    snapshots = Snapshots([Snapshot(t, x, u=fractional_heat_kernel(t, x, 1.5)) for t in (1.0, 1.5)])
    fit = fitted(snapshots, "u_t + d*frac_lap(u, alpha) = 0")
    assert fit.verdict.status is Status.CONVERGED
    np.testing.assert_allclose(fit.learned.parameters, [1.0, 1.5], rtol=1e-4)
    # The density falls like a power: what lies beyond the data must not show in the interval.
    assert np.all(np.abs(fit.learned.parameters - [1.0, 1.5]) < 3 * deviations(fit))


def test_diffusion_and_decay_in_a_plane():
    rng = np.random.default_rng(0)

    def snapshot(t):
        x, y = rng.uniform(-2, 2, (2, 60))
        width = 2.0 + 4 * 0.3 * t
        u = 2.0 / width * np.exp(-(x**2 + y**2) / width - 0.5 * t)
        return Snapshot(t, x=x, y=y, u=u + 1e-3 * rng.standard_normal(60))

    fit = fitted(Snapshots([snapshot(0.0), snapshot(0.5)]), "u_t - b*(u_xx + u_yy) + c*u = 0")
    assert fit.verdict.status is Status.CONVERGED
    np.testing.assert_allclose(fit.learned.parameters, [0.3, 0.5], rtol=0.05)
    score = (fit.learned.parameters - [0.3, 0.5]) / deviations(fit)
    assert np.all(np.abs(score) < 3)


def test_known_errors_make_the_covariance_of_the_data():
    rng = np.random.default_rng(1)
    A, y = rng.standard_normal((1, 20, 12)), rng.standard_normal((1, 20))
    known, spectrum, noise = rng.uniform(0.1, 2.0, (1, 20)), np.exp(rng.standard_normal(12)), 0.3
    data = reduce(*map(jnp.asarray, (A, np.zeros((1, 20, 0)), y)), jnp.asarray(20.0), jnp.asarray(known))
    K = (A[0] * spectrum) @ A[0].T + np.diag(noise + known[0])
    expected = 0.5 * (y[0] @ np.linalg.solve(K, y[0]) + np.linalg.slogdet(K)[1] + 20 * np.log(2 * np.pi))
    assert float(evidence(data, jnp.asarray(spectrum), jnp.asarray(noise))) == pytest.approx(
        expected, rel=1e-9
    )
    mean, _ = posterior(data, jnp.asarray(spectrum), jnp.asarray(noise))
    np.testing.assert_allclose(mean[0], spectrum * (A[0].T @ np.linalg.solve(K, y[0])), rtol=1e-8)


def test_values_with_large_known_errors_hardly_count():
    rng = np.random.default_rng(2)
    x, std = np.linspace(-3, 3, 50), np.where(np.arange(50) % 2, 0.1, 0.001)

    def snapshot(t):
        u = np.exp(-(x**2) / (1 + 1.2 * t)) / np.sqrt(1 + 1.2 * t)
        return Snapshot(t, x, u=u + std * rng.standard_normal(50), u_std=std)

    fit = fitted(Snapshots([snapshot(0.0), snapshot(0.7)]), "u_t - b*u_xx = 0")
    deviation = deviations(fit)[0]
    assert abs(fit.learned.parameters[0] - 0.3) < 3 * deviation
    # With errors of 0.07 everywhere, their root mean square, it would be 0.04.
    assert deviation < 0.004


@pytest.mark.parametrize("proportional", [True, False])
def test_evidence_tells_whether_small_fields_have_small_noise(proportional):
    rng = np.random.default_rng(3)
    x = np.linspace(-3, 3, 40)
    sizes = {"u": 1.0, "v": 0.02}
    text = "u_t - a*u_xx = 0; v_t - a*v_xx = 0"

    def fields(t):
        shape = np.exp(-(x**2) / (1 + t))
        noise = {f: 0.01 * (size if proportional else 1.0) for f, size in sizes.items()}
        return {f: size * shape + noise[f] * rng.standard_normal(40) for f, size in sizes.items()}

    snapshots = Snapshots([Snapshot(t, x, **fields(t)) for t in (0.0, 0.5)])
    equation = Equation.parse(text, fields=("u", "v"), coordinates=("x",))
    windows = gathered(equation, [snapshots])
    smoothed = [smooth(windows, row, KERNELS[1][:1]) for row in range(2)]
    common, moved = with_common_noise(windows, smoothed)
    assert bool(common.sizes[0] > 5 * common.sizes[1]) is proportional
    np.testing.assert_allclose(
        [one.theta[0] + 2 * np.log(size) for one, size in zip(moved, common.sizes, strict=True)],
        [one.theta[0] + 2 * np.log(size) for one, size in zip(smoothed, windows.sizes, strict=True)],
    )


@pytest.mark.parametrize("text", ["u_t + a*u*u_x = 0", "u_t + d(a*u^2/2, x) = 0"])
def test_an_equation_whose_only_derivatives_are_nonlinear(text):
    """Before it breaks, u = f(x − a u t) solves it; the motion has no linear part at all."""
    x = np.linspace(0.5, 5.5, 40)

    def wave(t, speed=0.3):
        u = np.sin(x)
        for _ in range(200):
            u = 1.0 + 0.5 * np.sin(x - speed * u * t)
        return u

    fit = fitted(Snapshots([Snapshot(t, x, u=wave(t)) for t in (0.0, 0.5)]), text)
    assert fit.verdict.status is Status.CONVERGED
    assert fit.learned.parameters[0] == pytest.approx(0.3, rel=1e-3)
