"""What surrounds a kernel's table: positive definiteness, limits, starts, smoothness, words, refusals."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest

import hiddenphysics as hp
from hiddenphysics.gaussian import Observed, joint_covariance
from hiddenphysics.operators import Operator, Symbol
from hiddenphysics.priors import Kernel, Process, kernel_from_dict, kernel_from_text, kernel_to_dict

KERNELS = (
    hp.SquaredExponential(),
    hp.RationalQuadratic(),
    hp.Periodic(7.0),
    hp.Matern(2.5),
    hp.Matern(4.5),
    hp.Matern(20.5),
)
each_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


@each_kernel
def test_field_and_derivatives_have_a_positive_semidefinite_joint_covariance(kernel: Kernel) -> None:
    points = jnp.asarray(np.random.default_rng(5).uniform(-2.0, 2.0, (12, 1)))
    shape = {name: jnp.asarray(value) for name, value in kernel.start(0.6).items()}
    observed = [Observed(Operator.of("u", Symbol((n,)), 1.0), points) for n in (0, 1, 2)]
    K = np.asarray(joint_covariance(observed, {"u": Process(kernel, jnp.asarray(1.7), (shape,))}))
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(np.diagonal(K)[:12], 1.7, rtol=1e-15)
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] > -1e-13 * eigenvalues[-1]
    assert np.all(np.diagonal(K) > 0)


@each_kernel
def test_start_lies_within_the_limits_and_names_every_number(kernel: Kernel) -> None:
    limits, start = kernel.limits(0.1, 10.0), kernel.start(1.0)
    assert set(limits) == set(start) == set(kernel.parameters)
    for name, (low, high) in limits.items():
        assert 0 < low < start[name] < high < math.inf


@each_kernel
def test_limits_and_start_follow_the_unit_of_length(kernel: Kernel) -> None:
    """A coordinate in millimetres instead of metres must not change what a fit may find."""
    if isinstance(kernel, hp.Periodic):
        scaled: Kernel = hp.Periodic(1000 * kernel.period)
        factor = 1.0  # its length is dimensionless
    else:
        scaled, factor = kernel, 1000.0
    for name in kernel.parameters:
        stretch = factor if name == "length" else 1.0
        np.testing.assert_allclose(
            scaled.limits(100.0, 1e4)[name], stretch * np.array(kernel.limits(0.1, 10.0)[name])
        )
        np.testing.assert_allclose(scaled.start(1000.0)[name], stretch * kernel.start(1.0)[name])


def test_smoothness_counts_mean_square_derivatives() -> None:
    smoothness = {str(kernel): kernel.smoothness for kernel in KERNELS}
    assert smoothness == {
        "SquaredExponential()": math.inf,
        "RationalQuadratic()": math.inf,
        "Periodic(period=7.0)": math.inf,
        "Matern(nu=2.5)": 2,
        "Matern(nu=4.5)": 4,
        "Matern(nu=20.5)": 20,
    }


# ---- refusals --------------------


def two_snapshots() -> list[hp.Snapshot]:
    x = np.linspace(0.0, 6.0, 12)
    return [hp.Snapshot(t=0.0, x=x, u=np.sin(x)), hp.Snapshot(t=0.1, x=x, u=np.cos(x))]


KURAMOTO = "u_t + a*u*u_x + b*u_xx + c*u_xxxx = 0"
TOO_ROUGH = (
    r"The kernel Matern\(nu=2\.5\) has samples with 2 derivatives, but the equation takes 4 of u along one coordinate; "
    r".*Use a smoother kernel: SquaredExponential\(\) or Matern\(4\.5\)\."
)


@pytest.mark.parametrize("verb", [hp.problem, hp.identify])
def test_a_kernel_too_rough_for_the_equation_is_refused(verb) -> None:
    with pytest.raises(hp.ModelError, match=TOO_ROUGH):
        verb(KURAMOTO, two_snapshots(), kernel=hp.Matern(2.5))


def test_the_suggested_kernel_is_accepted() -> None:
    task = hp.problem(KURAMOTO, two_snapshots(), kernel=hp.Matern(4.5))
    assert task.names == ("a", "b", "c", "u.variance", "u.length_x", "noise.variance")


def test_a_kernel_for_an_unknown_field_is_refused() -> None:
    with pytest.raises(hp.ModelError, match="A kernel was given for 'w'; the latent fields are u"):
        hp.problem(KURAMOTO, two_snapshots(), kernel={"w": hp.Matern(4.5)})


@pytest.mark.parametrize("nu", [2.0, -0.5, 0.0, 21.5, math.inf, math.nan])
def test_matern_takes_half_integers_only(nu: float) -> None:
    with pytest.raises(hp.ModelError, match=r"nu must be one of 0\.5, 1\.5, .*Type Matern\(4\.5\)"):
        hp.Matern(nu)


@pytest.mark.parametrize("period", [0.0, -1.0, math.inf, math.nan])
def test_periods_are_positive_numbers(period: float) -> None:
    with pytest.raises(hp.ModelError, match="the period must be a positive number"):
        hp.Periodic(period)


# ---- words and files --------------------


@each_kernel
def test_dictionaries_round_trip(kernel: Kernel) -> None:
    assert kernel_from_dict(kernel_to_dict(kernel)) == kernel


def test_dictionaries_are_plain_data() -> None:
    assert kernel_to_dict(hp.Matern(4.5)) == {"kind": "matern", "nu": 4.5}
    assert kernel_to_dict(hp.RationalQuadratic()) == {"kind": "rational_quadratic"}


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("squared_exponential", hp.SquaredExponential()),
        ("Squared-Exponential", hp.SquaredExponential()),
        ("matern:4.5", hp.Matern(4.5)),
        (" matern : 2.5 ", hp.Matern(2.5)),
        ("rational_quadratic", hp.RationalQuadratic()),
        ("periodic:20", hp.Periodic(20.0)),
    ],
)
def test_text_is_read(text: str, kernel: Kernel) -> None:
    assert kernel_from_text(text) == kernel


@pytest.mark.parametrize(
    "text",
    ["", "gauss", "matern", "matern:", "matern:four", "periodic", "rational_quadratic:3", "matern:4.5:1"],
)
def test_bad_text_is_answered_with_what_to_type(text: str) -> None:
    with pytest.raises(
        hp.ModelError, match=r"was given; needed is one of .*Type, for instance, --kernel matern:4\.5"
    ):
        kernel_from_text(text)


def test_a_bad_number_in_the_text_keeps_its_own_sentence() -> None:
    with pytest.raises(hp.ModelError, match=r"Matern\(nu=2\.0\) was given"):
        kernel_from_text("matern:2")
    with pytest.raises(hp.ModelError, match=r"Periodic\(period=-1\.0\) was given"):
        kernel_from_text("periodic:-1")
