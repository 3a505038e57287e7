"""scikit-learn's own checks of our estimator, one by one."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sklearn.utils.estimator_checks import check_estimator

import hiddenphysics as hp
from hiddenphysics.estimator import EXPECTED_FAILED_CHECKS


def report(folder: Path) -> Iterator[str]:
    """Yield every check with how it ended, and for those that are excepted the reason; nothing is written."""
    with warnings.catch_warnings(action="ignore"):  # the checks give some on purpose
        told = check_estimator(hp.PDERegressor(), expected_failed_checks=EXPECTED_FAILED_CHECKS, on_skip=None)
    for one in told:
        reason = EXPECTED_FAILED_CHECKS.get(one["check_name"], "") if one["status"] == "xfail" else ""
        yield f"{one['status']:<8} {one['check_name']:<50} {reason}"
    yield ", ".join(f"{count} {status}" for status, count in Counter(one["status"] for one in told).items())
