"""Priors on the latent fields: one small file each, one abstract method."""

import hiddenphysics.precision  # noqa: F401  (switches JAX to double precision)
from hiddenphysics.kernels.base import Kernel
from hiddenphysics.kernels.describe import kernel_from_dict, kernel_from_text, kernel_to_dict
from hiddenphysics.kernels.matern import Matern
from hiddenphysics.kernels.periodic import Periodic
from hiddenphysics.kernels.rational_quadratic import RationalQuadratic
from hiddenphysics.kernels.sech import Sech
from hiddenphysics.kernels.squared_exponential import SquaredExponential

__all__ = [
    "Kernel",
    "Matern",
    "Periodic",
    "RationalQuadratic",
    "Sech",
    "SquaredExponential",
    "kernel_from_dict",
    "kernel_from_text",
    "kernel_to_dict",
]
