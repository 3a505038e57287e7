"""The studio: a page of this machine's own, where a file is dropped, an equation typed, and a fit watched."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hiddenphysics.studio.server import serve

__all__ = ["serve"]


def __getattr__(name: str) -> Any:
    # Loaded when used: the process of a fit imports this package, too, and needs nothing of the page.
    if name in __all__:
        return getattr(import_module("hiddenphysics.studio.server"), name)
    raise AttributeError(f"module 'hiddenphysics.studio' has no attribute {name!r}")
