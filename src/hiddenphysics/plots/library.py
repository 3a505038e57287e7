"""matplotlib, loaded when a picture is asked for."""

from __future__ import annotations

from types import ModuleType

from hiddenphysics.errors import MissingExtraError


def load_figure_class() -> ModuleType:
    """Return ``matplotlib.figure`` without touching any global backend, or say how to install it."""
    try:
        import matplotlib.figure
    except ImportError as missing:
        raise MissingExtraError(
            'Pictures need matplotlib. Type: pip install "hiddenphysics[plot]"'
        ) from missing
    return matplotlib.figure
