"""Kernels as plain data and as words: what a saved file and a command line hold."""

from __future__ import annotations

import dataclasses
from typing import Any

from hiddenphysics.errors import ModelError
from hiddenphysics.kernels.base import Kernel
from hiddenphysics.kernels.matern import Matern
from hiddenphysics.kernels.periodic import Periodic
from hiddenphysics.kernels.rational_quadratic import RationalQuadratic
from hiddenphysics.kernels.sech import Sech
from hiddenphysics.kernels.squared_exponential import SquaredExponential

KINDS: dict[str, type[Kernel]] = {
    "squared_exponential": SquaredExponential,
    "matern": Matern,
    "rational_quadratic": RationalQuadratic,
    "periodic": Periodic,
    "sech": Sech,
}


def kernel_to_dict(kernel: Kernel) -> dict[str, Any]:
    """Return a kernel as JSON-ready data, such as ``{"kind": "matern", "nu": 4.5}``."""
    kind = next(name for name, cls in KINDS.items() if type(kernel) is cls)
    return {"kind": kind} | {f.name: getattr(kernel, f.name) for f in dataclasses.fields(kernel)}  # type: ignore[arg-type]


def kernel_from_dict(data: dict[str, Any]) -> Kernel:
    """Return the kernel that `kernel_to_dict` described."""
    return KINDS[data["kind"]](**{k: v for k, v in data.items() if k != "kind"})


def kernel_from_text(text: str) -> Kernel:
    """Read a kernel as typed on a command line: ``squared_exponential``, ``matern:4.5``, ``periodic:20``."""
    kind, _, number = text.partition(":")
    cls = KINDS.get(kind.strip().lower().replace("-", "_"))
    try:
        if cls is not None:
            return cls(*([float(number)] if number else []))
    except (TypeError, ValueError):
        pass
    raise ModelError(
        f"The kernel {text!r} was given; needed is one of squared_exponential, matern:NU, rational_quadratic, "
        "sech, periodic:PERIOD. Type, for instance, --kernel matern:4.5."
    )
