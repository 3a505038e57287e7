"""A step that follows the slope of ½ log|K| is judged with it; and what is left over of very many values counts."""

from types import SimpleNamespace

import numpy as np

from hiddenphysics.models.flow.findings import above_the_floor
from hiddenphysics.models.flow.gauss_newton import _lower
from hiddenphysics.models.flow.polish import _with_curvature


def ended(merit: float, merit_before: float, parameter: float) -> SimpleNamespace:
    solved = SimpleNamespace(merit=merit, merit_before=merit_before, promised=0.0)
    return SimpleNamespace(solved=solved, at=SimpleNamespace(parameters=np.array([parameter])))


def test_a_correction_by_more_than_a_deviation_is_kept():
    """−2 log p = λ² + 2 s λ with s = −1.2: from 0, its optimum without the slope, to 1.2, where λ² is larger."""
    before, now = ended(100.0, 100.0, 0.0), ended(101.44, 101.44, 1.2)
    assert not _lower(before, now, np.zeros(1))
    assert _lower(before, now, np.array([-1.2]))
    assert not _lower(before, now, np.array([0.5]))


def test_the_curvature_leaves_half_of_the_information_in_every_direction():
    """Two parameters that are known together; parameter by parameter nothing would be left of their sum's."""
    known = np.array([[1.0, 0.99], [0.99, 1.0]])
    less = _with_curvature(known, np.array([-0.45, -0.45]))
    assert np.linalg.eigvalsh(less - 0.5 * known)[0] > -1e-12
    more = _with_curvature(known, np.array([5.0, 5.0]))
    assert np.linalg.eigvalsh(2 * known - more)[0] > -1e-12
    np.testing.assert_allclose(_with_curvature(np.eye(2), np.array([-0.2, 0.3])), np.diag([0.8, 1.3]))
    np.testing.assert_allclose(_with_curvature(known, np.array([1e-4, 1e-4])), known + 1e-4 * np.eye(2))


def test_what_very_many_values_leave_over_counts_where_no_smaller_noise_can_be_told():
    """Noise of 1e-6 at its floor, twenty times that left: not of few values, nor where the noise is free."""

    floor = np.log(1e-12)

    def times(count, lowest=floor, misfit=2e-5, known=None):
        task = SimpleNamespace(
            prior_bounds=np.array([[floor, 0.0]]),
            count=count,
            seen=SimpleNamespace(known=known),
            noise=lambda point: 1e-12,
        )
        point = SimpleNamespace(z=np.zeros((1, 50)))
        return above_the_floor(
            task, SimpleNamespace(tuned=SimpleNamespace(theta=[lowest]), point=point, misfit=misfit)
        )

    np.testing.assert_allclose(times(100_000), 20.0)
    assert times(500) == times(100_000, lowest=-20.0) == times(100_000, misfit=1.4e-6) == 1.0
    assert times(100_000, known=np.ones(3)) == 1.0
