"""A linear model in fewer rows against the whole one."""

import jax.numpy as jnp
import numpy as np
import pytest

from hiddenphysics.gaussian import condensed, evaluate, posterior, reduce

K, P, ROWS, NOISE = 60, 2, 50, 1e-2


@pytest.fixture(scope="module")
def model():
    """Waves at scattered points in two windows, with a smooth prior."""
    rng = np.random.default_rng(0)
    k = np.arange(K // 2)
    x = rng.uniform(0, 2, (2, ROWS))
    phase = x[..., None] * k
    A = np.concatenate([np.cos(phase), np.sin(phase)], axis=-1)
    B, y = rng.standard_normal((2, ROWS, P)), rng.standard_normal((2, ROWS))
    spectrum = np.tile(np.exp(-0.5 * (k / 4) ** 2), 2)
    return reduce(*map(jnp.asarray, (A, B, y)), jnp.asarray(2.0 * ROWS)), jnp.asarray(spectrum)


def test_fewer_rows_say_the_same(model):
    data, spectrum = model
    made = condensed(data, spectrum, 30)
    assert made.data.A.shape == (2, 30, K)
    assert float(made.left @ spectrum) < 1e-8 * NOISE
    directions = jnp.asarray(np.random.default_rng(1).standard_normal((K, 2))) * spectrum[:, None]
    whole, small = (evaluate(one, spectrum, jnp.asarray(NOISE), directions) for one in (data, made.data))
    for name in ("value", "estimate", "information", "in_noise", "fisher"):
        np.testing.assert_allclose(
            getattr(small, name), getattr(whole, name), rtol=2e-6, atol=1e-8, err_msg=name
        )
    # Of a feature that was given up there is no variance to learn.
    np.testing.assert_allclose(small.in_spectrum * spectrum, whole.in_spectrum * spectrum, atol=1e-6)
    # A mean falls with the root of what was given up: 1e-4 of the noise's deviation.
    for one, other in zip(
        *(posterior(d, spectrum, jnp.asarray(NOISE)) for d in (data, made.data)), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-4 * float(jnp.max(jnp.abs(other))))


def test_what_is_given_up_is_told(model):
    data, spectrum = model
    made = condensed(data, spectrum, 8)
    A = np.asarray(data.A)
    whole = np.sum((A**2) @ np.asarray(spectrum))
    kept = np.sum((np.asarray(made.data.A) ** 2) @ np.asarray(spectrum))
    assert float(made.left @ spectrum) == pytest.approx(whole - kept)
    assert float(made.left @ spectrum) > NOISE
