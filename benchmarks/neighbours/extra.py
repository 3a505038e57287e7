"""The neighbours, loaded when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hiddenphysics.errors import MissingExtraError


def load_neighbour(module: str) -> Any:
    """Import a neighbour's module, or say how to install it."""
    try:
        return import_module(module)
    except ImportError as missing:
        raise MissingExtraError(
            f"The comparison needs {module}, which could not be imported ({missing}). "
            'Type: pip install "hiddenphysics[neighbours]"'
        ) from missing
