"""Data generators: exact solutions, random motion, and fields that the library computes itself.

simulate("u_t + a*u*u_x - b*u_xx = 0", {"u": lambda x: np.exp(-(x + 2) ** 2)}, box=(-8, 8),
         shape=256, times=np.linspace(0, 10, 101), parameters={"a": 1.0, "b": 0.1})
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiddenphysics.simulate.solution import simulate

__all__ = ["simulate"]

_MOVED = {"Flow": "hiddenphysics.spectral.Motion", "Grid": "hiddenphysics.spectral.Grid"}


def __getattr__(name: str) -> Any:
    # Loaded when first used: exact solutions and the cylinder need no JAX.
    if name == "simulate":
        return import_module("hiddenphysics.simulate.solution").simulate
    instead = f"; type {_MOVED[name]}" if name in _MOVED else ""
    raise AttributeError(f"module 'hiddenphysics.simulate' has no attribute {name!r}{instead}")
