"""The optimiser and the Laplace approximation on functions whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

from hiddenphysics.learning.optimiser import Optimum, _learned, minimise, refine
from hiddenphysics.learning.uncertainty import laplace, positive_inverse
from hiddenphysics.models.one_step.optimum import _below
from hiddenphysics.models.one_step.start import Start

BAD_SCALE = np.array([1e-3, 1e4, 1.0])
FREE = np.array([[-np.inf, np.inf]] * 3)


def badly_scaled_rosenbrock(vector: np.ndarray) -> tuple[float, np.ndarray]:
    """Rosenbrock's valley of (x/10⁻³, y/10⁴, z): its minimum is at (10⁻³, 10⁴, 1)."""
    return float(rosen(vector / BAD_SCALE)), rosen_der(vector / BAD_SCALE) / BAD_SCALE


def test_rosenbrock_in_bad_scales() -> None:
    start = BAD_SCALE * np.array([-1.2, 1.0, 0.4])
    found = minimise(badly_scaled_rosenbrock, start, BAD_SCALE, FREE)
    assert found.converged
    np.testing.assert_allclose(found.vector, BAD_SCALE, rtol=1e-4)
    assert found.value < 1e-8
    assert found.evaluations > 10
    value, gradient = badly_scaled_rosenbrock(found.vector)
    assert found.value == value
    np.testing.assert_array_equal(found.gradient, gradient)


def test_a_bound_in_the_way_is_reached_exactly_and_the_rest_still_optimal() -> None:
    """With x ≤ ½ the minimum of (1−x)² + 100(y−x²)² is at y = ¼."""
    scale, bounds = np.array([1e-3, 1e4]), np.array([[-np.inf, 0.5e-3], [0.0, 1e9]])

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        return float(rosen(v / scale)), rosen_der(v / scale) / scale

    found = minimise(objective, np.array([-1e-3, 5e3]), scale, bounds)
    np.testing.assert_allclose(found.vector, [0.5e-3, 0.25e4], rtol=1e-5)
    assert found.vector[0] <= 0.5e-3


def test_a_start_outside_the_bounds_is_moved_inside() -> None:
    seen = []

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        seen.append(float(v[0]))
        return float((v[0] - 1.0) ** 2), 2.0 * (v - 1.0)

    found = minimise(objective, np.array([-5.0]), np.array([1.0]), np.array([[0.0, 3.0]]))
    np.testing.assert_allclose(found.vector, [1.0], atol=1e-6)
    assert min(seen) >= 0.0
    assert max(seen) <= 3.0


def test_where_the_objective_is_not_a_number_the_search_backs_off() -> None:
    """x − log x has its minimum at 1 and no value at x ≤ 0, where a first full step lands."""

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(v[0] - np.log(v[0])), 1.0 - 1.0 / v

    found = minimise(objective, np.array([3.0]), np.array([5.0]), FREE[:1])
    assert found.converged
    np.testing.assert_allclose(found.vector, [1.0], rtol=1e-4)


def test_no_number_anywhere_is_never_called_converged() -> None:
    found = minimise(lambda v: (np.nan, np.full_like(v, np.nan)), np.zeros(2), np.ones(2), FREE[:2])
    assert np.isnan(found.value)
    assert not found.converged


def test_giving_up_is_said() -> None:
    start = BAD_SCALE * np.array([-1.2, 1.0, 0.4])
    found = minimise(badly_scaled_rosenbrock, start, BAD_SCALE, FREE, max_iterations=3)
    assert not found.converged
    assert "ITERATIONS" in found.message


# ---- Laplace --------------------

SCALE = np.array([1.0, 1e-3, 50.0])
ALL = np.array([True, True, True])
FLAT = np.zeros(3)
"""The gradient at an optimum."""


def curved(seed: int) -> np.ndarray:
    """A well conditioned Hessian once the unknowns are scaled."""
    root = np.random.default_rng(seed).standard_normal((3, 3))
    scaled = root @ root.T + np.eye(3)
    return scaled / np.outer(SCALE, SCALE)


@pytest.mark.parametrize("seed", range(3))
def test_laplace_is_exact_for_a_quadratic(seed: int) -> None:
    hessian = curved(seed)
    around = laplace(hessian, SCALE, ALL, FLAT)
    np.testing.assert_allclose(around.covariance, np.linalg.inv(hessian), rtol=1e-10)
    np.testing.assert_allclose(around.curvatures, np.linalg.eigvalsh(hessian * np.outer(SCALE, SCALE)))
    assert around.is_minimum


def test_laplace_does_not_depend_on_the_scale() -> None:
    one, other = (laplace(curved(1), s, ALL, FLAT).covariance for s in (SCALE, 3.0 * SCALE))
    np.testing.assert_allclose(one, other, rtol=1e-10)


def test_a_flat_direction_has_infinite_variance_and_spares_the_others() -> None:
    """f depends on a + b and c alone: a and b are undetermined, c is as sure as before."""
    hessian = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 4.0]])
    around = laplace(hessian, np.ones(3), ALL, FLAT)
    assert not around.is_minimum
    np.testing.assert_array_equal(np.diagonal(around.covariance)[:2], [np.inf, np.inf])
    np.testing.assert_allclose(around.covariance[2, 2], 0.25)
    np.testing.assert_allclose(around.covariance[2, :2], 0.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(around.weakest), [0.5**0.5, 0.5**0.5, 0.0], atol=1e-12)
    assert around.weakest[0] * around.weakest[1] < 0


def test_a_saddle_is_no_minimum() -> None:
    around = laplace(np.diag([1.0, -2.0, 3.0]), np.ones(3), ALL, FLAT)
    assert not around.is_minimum
    assert around.covariance[1, 1] == np.inf
    np.testing.assert_allclose(around.covariance[0, 0], 1.0)


def test_below_a_saddle_lies_the_better_of_its_two_valleys() -> None:
    """f = v₀² + w⁴ − 2w² − w/10, w = 1000 v₁: a saddle near w = 0, valleys near ±1, the deeper one at +1."""

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        w = 1e3 * v[1]
        value = v[0] ** 2 + w**4 - 2 * w**2 - 0.1 * w
        return float(value), np.array([2 * v[0], 1e3 * (4 * w**3 - 4 * w - 0.1)])

    at, scale = np.zeros(2), SCALE[:2]
    start = Start(at, scale, FREE[:2])
    saddle = Optimum(at, *objective(at), True, "", 1)
    around = laplace(np.diag([2.0, -4e6]), scale, ALL[:2], saddle.gradient)
    found = _below(objective, start, saddle, around)
    np.testing.assert_allclose(found.vector / scale, [0.0, 1.0], atol=0.02)


def test_an_unknown_held_at_a_bound_has_no_variance_and_conditions_the_others() -> None:
    hessian, free = curved(2), np.array([True, False, True])
    around = laplace(hessian, SCALE, free, FLAT)
    np.testing.assert_array_equal(around.covariance[1], np.zeros(3))
    np.testing.assert_array_equal(around.covariance[:, 1], np.zeros(3))
    inner = np.ix_([0, 2], [0, 2])
    np.testing.assert_allclose(around.covariance[inner], np.linalg.inv(hessian[inner]), rtol=1e-10)
    assert around.weakest[1] == 0.0


def test_everything_held_is_no_crash() -> None:
    around = laplace(curved(0), SCALE, np.array([False, False, False]), FLAT)
    np.testing.assert_array_equal(around.covariance, np.zeros((3, 3)))


@pytest.mark.parametrize("free", [ALL, np.array([True, False, True])], ids=["all free", "one held"])
def test_the_newton_step_of_a_quadratic_ends_at_its_minimum(free: np.ndarray) -> None:
    """f = ½ (v − m)ᵀH(v − m) at v = 0, its minimum over the free unknowns, and the height between them."""
    hessian, middle = curved(4), SCALE * np.array([0.3, -2.0, 1.1])
    around = laplace(hessian, SCALE, free, -hessian @ middle)
    inner = np.ix_(free, free)
    expected = np.zeros(3)
    expected[free] = np.linalg.solve(hessian[inner], (-hessian @ middle)[free])
    np.testing.assert_allclose(around.newton, expected, rtol=1e-9)
    gain = 0.5 * expected[free] @ hessian[inner] @ expected[free]
    np.testing.assert_allclose(around.decrement, gain, rtol=1e-9)


def test_a_flat_direction_takes_no_newton_step() -> None:
    around = laplace(np.diag([2.0, 0.0, 4.0]), np.ones(3), ALL, np.array([1.0, 5.0, 2.0]))
    np.testing.assert_allclose(around.newton, [0.5, 0.0, 0.5])
    np.testing.assert_allclose(around.decrement, 0.25 + 0.5)


# ---- refinement --------------------


def quadratic(hessian: np.ndarray, middle: np.ndarray):
    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        return float(0.5 * (v - middle) @ hessian @ (v - middle)), hessian @ (v - middle)

    return objective


MIDDLE = SCALE * np.array([0.3, -2.0, 1.1])


def test_a_refinement_that_knows_the_curvature_is_quick_and_returns_it() -> None:
    hessian = curved(4)
    refined = refine(quadratic(hessian, MIDDLE), np.zeros(3), np.linalg.inv(hessian), SCALE, FREE)
    assert refined is not None
    found, spread = refined
    np.testing.assert_allclose(found.vector, MIDDLE, atol=1e-6 * SCALE.max(), rtol=1e-2)
    assert found.evaluations < 12
    np.testing.assert_allclose(spread, np.linalg.inv(hessian), rtol=1e-6, atol=1e-9)


def test_a_refinement_learns_the_curvature() -> None:
    hessian = curved(4)
    refined = refine(quadratic(hessian, MIDDLE), np.zeros(3), np.diag(SCALE**2), SCALE, FREE)
    assert refined is not None
    scaled = refined[1] / np.outer(SCALE, SCALE)
    np.testing.assert_allclose(scaled, np.linalg.inv(hessian * np.outer(SCALE, SCALE)), atol=0.1)


@pytest.mark.parametrize(
    ("bounds", "ends"),
    [([0.5, 3.0], False), ([-3.0, 0.0], False), ([0.0, 3.0], True)],
    ids=["beyond the other bound", "held at the top, wants lower", "held at the bottom"],
)
def test_a_refinement_keeps_to_the_bounds_or_says_that_it_cannot(bounds: list[float], ends: bool) -> None:
    """½(x+2)² + ½(y−1)², x bounded: held at its bottom it stays, else the search is not for this optimiser."""
    limits = np.array([bounds, [-np.inf, np.inf]])
    start = np.array([1.0, 0.0]) if bounds == [0.5, 3.0] else np.zeros(2)
    refined = refine(quadratic(np.eye(2), np.array([-2.0, 1.0])), start, np.eye(2), np.ones(2), limits)
    if ends:
        assert refined is not None
        np.testing.assert_allclose(refined[0].vector, [0.0, 1.0], atol=1e-2)
    else:
        assert refined is None


def test_a_positive_inverse_is_the_inverse_where_that_is_positive_and_a_metric_elsewhere() -> None:
    hessian = curved(1)
    np.testing.assert_allclose(positive_inverse(hessian, SCALE, ALL), np.linalg.inv(hessian), rtol=1e-9)
    saddle = np.diag([1.0, -4.0, 0.0]) / np.outer(SCALE, SCALE)
    np.testing.assert_allclose(
        np.diagonal(positive_inverse(saddle, SCALE, ALL)) / SCALE**2, [1.0, 0.25, 10.0]
    )
    held = positive_inverse(hessian, SCALE, np.array([True, False, True]))
    assert held[1, 1] == SCALE[1] ** 2
    assert held[0, 1] == 0.0


def test_a_broken_curvature_is_not_learned() -> None:
    spread = np.linalg.inv(curved(5))
    free = np.array([True, False, True])
    root = np.zeros((3, 2))
    root[free] = np.linalg.cholesky(spread[np.ix_(free, free)])
    np.testing.assert_array_equal(_learned(spread, root, np.diag([1.0, -1e-9])), spread)
    twice = _learned(spread, root, 2.0 * np.eye(2))
    np.testing.assert_allclose(twice[np.ix_(free, free)], 2.0 * spread[np.ix_(free, free)])
    np.testing.assert_array_equal(twice[1], [0.0, spread[1, 1], 0.0])
    narrow = _learned(spread, root, 1e-3 * np.eye(2))
    np.linalg.cholesky(narrow)  # an unknown that comes free again finds a possible covariance
