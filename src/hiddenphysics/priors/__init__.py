"""Priors of the latent fields: kernels, one small file each; processes with their numbers by name."""

import hiddenphysics.compiled_code  # noqa: F401  (double precision, before anything is traced)
from hiddenphysics.priors.kernel import (
    KERNELS,
    Kernel,
    kernel_from_dict,
    kernel_from_text,
    kernel_to_dict,
)
from hiddenphysics.priors.matern import Matern
from hiddenphysics.priors.periodic import Periodic
from hiddenphysics.priors.prior import (
    FINE,
    NOISE,
    Group,
    Prior,
    Process,
    Unknowns,
    shape_name,
    variance_name,
)
from hiddenphysics.priors.rational_quadratic import RationalQuadratic
from hiddenphysics.priors.sech import Sech
from hiddenphysics.priors.squared_exponential import SquaredExponential

__all__ = [
    "FINE",
    "KERNELS",
    "NOISE",
    "Group",
    "Kernel",
    "Matern",
    "Periodic",
    "Prior",
    "Process",
    "RationalQuadratic",
    "Sech",
    "SquaredExponential",
    "Unknowns",
    "kernel_from_dict",
    "kernel_from_text",
    "kernel_to_dict",
    "shape_name",
    "variance_name",
]
