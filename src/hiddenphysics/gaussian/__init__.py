"""y = A z + B d + ε with Gaussian z and ε: covariances, log density, restricted likelihood, posterior."""

import hiddenphysics.compiled_code  # noqa: F401  (double precision, before anything is traced)
from hiddenphysics.gaussian.belief import Belief, covariance_of
from hiddenphysics.gaussian.condensed import Condensed, condensed
from hiddenphysics.gaussian.covariance import Observed, covariance, joint_covariance, variance
from hiddenphysics.gaussian.density import (
    condition,
    curvature,
    density_slopes,
    density_with_factor,
    negative_log_density,
    stable_cholesky,
    whiten,
)
from hiddenphysics.gaussian.linear import (
    Border,
    Evaluated,
    Held,
    RestrictedLikelihood,
    effective,
    evaluate,
    evidence,
    posterior,
)
from hiddenphysics.gaussian.reduced import Reduced, fold, from_squares, reduce, unfold

__all__ = [
    "Belief",
    "Border",
    "Condensed",
    "Evaluated",
    "Held",
    "Observed",
    "Reduced",
    "RestrictedLikelihood",
    "condensed",
    "condition",
    "covariance",
    "covariance_of",
    "curvature",
    "density_slopes",
    "density_with_factor",
    "effective",
    "evaluate",
    "evidence",
    "fold",
    "from_squares",
    "joint_covariance",
    "negative_log_density",
    "posterior",
    "reduce",
    "stable_cholesky",
    "unfold",
    "variance",
    "whiten",
]
