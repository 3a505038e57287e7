"""Results: parameters with uncertainty, the identified equation, posterior fields, files, pictures."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiddenphysics.result.chains import Chains
    from hiddenphysics.result.estimate import Estimate
    from hiddenphysics.result.files import Packed, load, pack, unpack
    from hiddenphysics.result.pictures import (
        check_picture,
        load_figure_class,
        plot_result,
        plot_snapshot,
        write_figure,
    )
    from hiddenphysics.result.result import Result
    from hiddenphysics.result.trajectory import plot_trajectory

# Loaded when first used: a picture needs no JAX, a result does.
_MODULES = {
    "chains": ("Chains",),
    "estimate": ("Estimate",),
    "files": ("Packed", "load", "pack", "unpack"),
    "pictures": (
        "check_picture",
        "load_figure_class",
        "plot_result",
        "plot_snapshot",
        "write_figure",
    ),
    "result": ("Result",),
    "trajectory": ("plot_trajectory",),
}

__all__ = [
    "Chains",
    "Estimate",
    "Packed",
    "Result",
    "check_picture",
    "load",
    "load_figure_class",
    "pack",
    "plot_result",
    "plot_snapshot",
    "plot_trajectory",
    "unpack",
    "write_figure",
]


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"hiddenphysics.result.{module}"), name)
    raise AttributeError(f"module 'hiddenphysics.result' has no attribute {name!r}")
