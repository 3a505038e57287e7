"""Results: parameters with uncertainty, the identified equation, posterior fields, files, pictures."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiddenphysics.result.files import load
    from hiddenphysics.result.pictures import (
        load_figure_class,
        plot_equation,
        plot_recording,
        plot_result,
        plot_snapshot,
        write_figure,
    )
    from hiddenphysics.result.result import Estimate, Result
    from hiddenphysics.result.trajectory import plot_trajectory

# Loaded when first used: a picture needs no JAX, a result does.
_MODULES = {
    "Estimate": "result",
    "Result": "result",
    "load": "files",
    "load_figure_class": "pictures",
    "plot_equation": "pictures",
    "plot_recording": "pictures",
    "plot_result": "pictures",
    "plot_snapshot": "pictures",
    "plot_trajectory": "trajectory",
    "write_figure": "pictures",
}

__all__ = [
    "Estimate",
    "Result",
    "load",
    "load_figure_class",
    "plot_equation",
    "plot_recording",
    "plot_result",
    "plot_snapshot",
    "plot_trajectory",
    "write_figure",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'hiddenphysics.result' has no attribute {name!r}")
    return getattr(import_module(f"hiddenphysics.result.{_MODULES[name]}"), name)
