"""A step that follows the slope of ½ log|K| is judged with it."""

from types import SimpleNamespace

import numpy as np

from hiddenphysics.models.flow.gauss_newton import _lower


def ended(merit: float, merit_before: float, parameter: float) -> SimpleNamespace:
    solved = SimpleNamespace(merit=merit, merit_before=merit_before, promised=0.0)
    return SimpleNamespace(solved=solved, at=SimpleNamespace(parameters=np.array([parameter])))


def test_a_correction_by_more_than_a_deviation_is_kept():
    """−2 log p = λ² + 2 s λ with s = −1.2: from 0, its optimum without the slope, to 1.2, where λ² is larger."""
    before, now = ended(100.0, 100.0, 0.0), ended(101.44, 101.44, 1.2)
    assert not _lower(before, now, np.zeros(1))
    assert _lower(before, now, np.array([-1.2]))
    assert not _lower(before, now, np.array([0.5]))
