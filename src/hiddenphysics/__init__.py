"""Identify the unknown parameters of a PDE, with honest uncertainty, from a few noisy snapshots.

>>> import hiddenphysics as hp
>>> fit = hp.identify("u_t + a*u*u_x - b*u_xx = 0", "field.csv")  # doctest: +SKIP
>>> print(fit)  # doctest: +SKIP
u_t + 1.038(14) u u_x - 0.0976(31) u_xx = 0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiddenphysics.batch import Failure, identify_many
    from hiddenphysics.equation import Equation
    from hiddenphysics.errors import (
        DataError,
        EquationError,
        HiddenPhysicsError,
        MissingExtraError,
        ModelError,
        WriteError,
    )
    from hiddenphysics.estimator import PDERegressor
    from hiddenphysics.identification import identify, problem
    from hiddenphysics.models import Problem, Sensors
    from hiddenphysics.priors import Matern, Periodic, RationalQuadratic, Sech, SquaredExponential
    from hiddenphysics.result import Estimate, Result, load
    from hiddenphysics.rival_equations import Comparison, compare
    from hiddenphysics.snapshots import Experiments, Snapshot, Snapshots, read, read_experiments

# Names are loaded when they are first used: importing the package is quick and does not start JAX.
_ROOMS = {
    "batch": ("Failure", "identify_many"),
    "equation": ("Equation",),
    "errors": (
        "DataError",
        "EquationError",
        "HiddenPhysicsError",
        "MissingExtraError",
        "ModelError",
        "WriteError",
    ),
    "estimator": ("PDERegressor",),
    "identification": ("identify", "problem"),
    "models": ("Problem", "Sensors"),
    "priors": ("Matern", "Periodic", "RationalQuadratic", "Sech", "SquaredExponential"),
    "result": ("Estimate", "Result", "load"),
    "rival_equations": ("Comparison", "compare"),
    "snapshots": ("Experiments", "Snapshot", "Snapshots", "read", "read_experiments"),
}

_MODULES = ("datasets", "simulate")

__all__ = [
    "Comparison",
    "DataError",
    "Equation",
    "EquationError",
    "Estimate",
    "Experiments",
    "Failure",
    "HiddenPhysicsError",
    "Matern",
    "MissingExtraError",
    "ModelError",
    "PDERegressor",
    "Periodic",
    "Problem",
    "RationalQuadratic",
    "Result",
    "Sech",
    "Sensors",
    "Snapshot",
    "Snapshots",
    "SquaredExponential",
    "WriteError",
    "compare",
    "datasets",
    "identify",
    "identify_many",
    "load",
    "problem",
    "read",
    "read_experiments",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"hiddenphysics.{name}")
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(f"hiddenphysics.{room}"), name)
    raise AttributeError(f"module 'hiddenphysics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
