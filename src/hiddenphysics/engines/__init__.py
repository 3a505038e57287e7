"""Engines: operators × kernels -> covariances, log density, posterior."""

import hiddenphysics.precision  # noqa: F401  (switches JAX to double precision)
from hiddenphysics.engines.dense import Observed, Prior, covariance, joint_covariance, variance
from hiddenphysics.engines.gaussian import condition, negative_log_density, stable_cholesky

__all__ = [
    "Observed",
    "Prior",
    "condition",
    "covariance",
    "joint_covariance",
    "negative_log_density",
    "stable_cholesky",
    "variance",
]
