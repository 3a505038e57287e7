"""What the parts of the page share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape

from nicegui import ui


@dataclass(frozen=True)
class Part:
    """A part of a page.

    Attributes
    ----------
    tick
        Called several times a second with the parts of the session that have changed since the last call.
    """

    tick: Callable[[Collection[str]], None]


@contextmanager
def section(name: str, title: str) -> Iterator[None]:
    """Open a part of the page under a heading."""
    with ui.element("section").props(f'aria-labelledby="{name}-title"').classes(name):
        ui.html(f'<h2 id="{name}-title">{escape(title)}</h2>', sanitize=False)
        yield


def sentence(text: str, name: str) -> None:
    """Show what is wrong; screen readers say it at once. A sentence about a place stands under the place."""
    if not text:
        return
    words, *place = text.split("\n    ")
    shown = f"<pre>{escape(chr(10).join(place))}</pre>" if place else ""
    ui.html(
        f'<div class="sentence" role="alert" id="{name}">{shown}<p>{escape(words)}</p></div>', sanitize=False
    )


def formula(mathml: str, name: str) -> None:
    """Show a typeset equation, made by `typesetting.mathml`."""
    ui.html(f'<div class="formula" id="{name}">{mathml}</div>', sanitize=False)


def picture(address: str, words: str) -> None:
    """Show a picture with words for those who do not see it; in a narrow window it is moved sideways."""
    ui.html(
        f'<div class="frame"><img class="picture" alt="{escape(words, quote=True)}" src="{address}"></div>',
        sanitize=False,
    )
