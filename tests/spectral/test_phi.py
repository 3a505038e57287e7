"""φ functions against many digits and against SciPy's matrix exponential."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import scipy.linalg

from hiddenphysics.spectral.phi import elementwise, half_and_full, matrices


def many_digits(z, order):
    with mpmath.workdps(60):
        w = mpmath.mpmathify(z)
        if w == 0:
            return complex(1 / mpmath.factorial(order))
        head = sum(w**n / mpmath.factorial(n) for n in range(order))
        return complex((mpmath.exp(w) - head) / w**order)


@pytest.mark.parametrize("z", [0, 1e-8, -1e-8j, 0.3 + 0.4j, -1.0, 2j, -7 + 3j, 5.0, -40.0, -1e6, 30j, -1e15])
def test_numbers(z):
    half, full = half_and_full(jnp.array([complex(z)]), elementwise)
    for order in range(4):
        np.testing.assert_allclose(full[order][0], many_digits(z, order), rtol=1e-13, atol=1e-200)
        np.testing.assert_allclose(half[order][0], many_digits(z / 2, order), rtol=1e-13, atol=1e-200)


def test_fast_oscillation_loses_only_what_rounding_of_the_angle_loses():
    z = 1e5j
    _, full = half_and_full(jnp.array([z]), elementwise)
    for order in range(4):
        assert abs(complex(full[order][0]) - many_digits(z, order)) < 1e-10 * abs(many_digits(z, order))


def augmented(z):
    """φ₁, φ₂, φ₃ of a matrix from one exponential (Saad 1992)."""
    n = len(z)
    big = np.zeros((4 * n, 4 * n), complex)
    big[:n, :n] = z
    for j in range(3):
        big[j * n : (j + 1) * n, (j + 1) * n : (j + 2) * n] = np.eye(n)
    top = scipy.linalg.expm(big)[:n]
    return [top[:, j * n : (j + 1) * n] for j in range(4)]


def test_matrices():
    rng = np.random.default_rng(1)
    stack = [
        rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3)),
        np.zeros((3, 3)),
        np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]),  # cannot be diagonalised
        -50 * np.eye(3) + np.diag([20.0, 20.0], 1),
        np.array([[0, 1, 0], [-400.0, 0, 0], [0, 0, -3]]),
    ]
    _, full = half_and_full(jnp.asarray(np.stack(stack, axis=-1).astype(complex)), matrices)
    for index, z in enumerate(stack):
        for order, expected in enumerate(augmented(z)):
            np.testing.assert_allclose(full[order][..., index], expected, rtol=1e-11, atol=1e-13)


def test_derivative():
    def real(x):
        _, full = half_and_full(jnp.array([x + 0j]), elementwise)
        return full.three[0].real

    for x in (0.0, -0.5, -30.0):
        h = 1e-6 * max(1.0, abs(x))
        slope = (many_digits(x + h, 3) - many_digits(x - h, 3)).real / (2 * h)
        np.testing.assert_allclose(jax.grad(real)(x), slope, rtol=1e-7)
        np.testing.assert_allclose(jax.jvp(real, (x,), (1.0,))[1], slope, rtol=1e-7)
