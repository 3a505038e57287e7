"""How pictures look, and how they become part of a page: ink that follows the page's own, light or dark."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

from hiddenphysics.result import load_figure_class

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# After Okabe and Ito's palette: told apart by every kind of colour vision, and in print; the blue is a little
# lighter than theirs, so that it is seen on a dark page too.
BLUE, ORANGE = "#1b87c9", "#d55e00"
METHODS = {
    "published": ("#7f7f7f", "s"),
    "authors": ("#cc79a7", "v"),
    "paper": ("#e69f00", "D"),
    "midpoint": ("#56b4e9", "^"),
    "flow": ("#009e73", "o"),
}
"""Method -> colour and marker: the marker tells them apart where colours do not."""

INK = "#010203"
"""A colour that occurs nowhere else: in the page it becomes the colour of the text around the picture."""
WIDTH = 9.0
DPI = 130


@contextmanager
def style() -> Iterator[None]:
    """Draw with the report's lines and letters."""
    load_figure_class()
    from matplotlib import rc_context

    inked = (
        "text.color",
        "axes.edgecolor",
        "axes.labelcolor",
        "xtick.color",
        "ytick.color",
        "axes.titlecolor",
    )
    settings: dict[Any, Any] = dict.fromkeys(inked, INK)
    settings |= {
        "font.size": 9.5,
        "axes.titlesize": 10,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.7,
        "legend.frameon": False,
        "savefig.transparent": True,
    }
    with rc_context(settings):
        yield


def new_figure(height: float, width: float = WIDTH) -> Figure:
    """Return an empty figure."""
    figure: Figure = load_figure_class().Figure(figsize=(width, height), layout="constrained")
    return figure


def as_svg(figure: Figure, name: str, label: str) -> str:
    """Return the figure as an `<svg>` element for a page, with words for those who cannot see it.

    The names inside it begin with `name`: other figures of the page have other ones, and the same figure the same.
    """
    file = io.StringIO()
    figure.savefig(file, format="svg", dpi=DPI, metadata={"Date": None, "Creator": None})
    text = file.getvalue()
    element = _renamed(text[text.index("<svg") :].replace(INK, "currentColor"), name)
    # The page gives the element its size.
    opening, rest = element.split(">", 1)
    opening = re.sub(r' (?:width|height)="[^"]*"', "", opening)
    return f'{opening} role="img" aria-label="{escape(label)}">{rest}'


def _renamed(element: str, name: str) -> str:
    """Give numbers to names that something refers to, in the order in which they occur, and drop the others."""
    used = set(re.findall(r"#([\w.-]+)", element))
    numbers = {
        old: f"{name}-{k}" for k, old in enumerate(re.findall(r' id="([\w.-]+)"', element)) if old in used
    }
    element = re.sub(
        r' id="([\w.-]+)"', lambda m: f' id="{numbers[m[1]]}"' if m[1] in numbers else "", element
    )
    return re.sub(r"#([\w.-]+)(?=[\")])", lambda m: f"#{numbers.get(m[1], m[1])}", element)


def as_png(figure: Figure) -> bytes:
    """Return the figure as a PNG on white, for pages that cannot hold an SVG element."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, transparent=False, facecolor="white")
    return file.getvalue()
