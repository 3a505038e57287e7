"""`Figure`: matplotlib's, which also shows itself as the last line of a notebook's cell.

Without pyplot no list of open figures grows and no backend is chosen; the price is that a notebook does not know how to
show such a figure, unless somebody typed ``%matplotlib inline``. So it says so itself.
"""

from __future__ import annotations

import io
from typing import Any

from matplotlib import figure

DOTS = 150.0
"""Pixels per inch of what is written and shown: a screen of two pixels to the point still shows sharp letters."""
SHOWN = 84.0
"""Pixels per inch of the page that a picture takes: ten inches fill the usual cell."""


class Figure(figure.Figure):
    """A figure that shows itself in a notebook, and is an ordinary one everywhere else."""

    def png(self) -> bytes:
        """Return the picture as the bytes of a PNG file."""
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=DOTS)
        return picture.getvalue()

    def size_shown(self) -> tuple[int, int]:
        """Return width and height on a page, in pixels."""
        width, height = self.get_size_inches()
        return round(SHOWN * width), round(SHOWN * height)

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        width, height = self.size_shown()
        return self.png(), {"width": width, "height": height}
