"""Engines: operators × kernels -> covariances, log density, posterior."""

import hiddenphysics.precision  # noqa: F401  (switches JAX to double precision)
from hiddenphysics.engines.dense import covariance, joint_covariance, variance
from hiddenphysics.engines.gaussian import (
    condition,
    curvature,
    density_slopes,
    density_with_factor,
    negative_log_density,
    stable_cholesky,
    whiten,
)
from hiddenphysics.engines.observed import Observed
from hiddenphysics.engines.prior import Prior

__all__ = [
    "Observed",
    "Prior",
    "condition",
    "covariance",
    "curvature",
    "density_slopes",
    "density_with_factor",
    "joint_covariance",
    "negative_log_density",
    "stable_cholesky",
    "variance",
    "whiten",
]
