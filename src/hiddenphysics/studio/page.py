"""The page: its parts from top to bottom, drawn anew where the session has changed."""

from __future__ import annotations

from pathlib import Path

from nicegui import ui

from hiddenphysics.studio.comparison_part import comparison_part
from hiddenphysics.studio.data_part import data_part
from hiddenphysics.studio.equation_part import equation_part
from hiddenphysics.studio.fit_part import fit_part
from hiddenphysics.studio.result_part import result_part
from hiddenphysics.studio.session import PARTS, Session

STYLE = Path(__file__).with_name("page.css")
TICK = 0.25
"""Seconds between two looks at the session; nothing is sent to a browser where nothing has changed."""


def add_page(session: Session) -> None:
    """Let the server show a session."""

    @ui.page("/", title="hiddenphysics studio")
    def page() -> None:
        show(session)


def show(session: Session) -> None:
    """Build the page for one tab."""
    ui.add_css(STYLE)
    with ui.element("header"):
        ui.html("<h1>hiddenphysics <span>studio</span></h1>", sanitize=False)
    with ui.element("div").classes("desk"):
        with ui.element("div").classes("asked"):
            parts = [data_part(session), equation_part(session), fit_part(session)]
        with ui.element("div").classes("answered"):
            parts.append(result_part(session))
        with ui.element("div").classes("compared"):
            parts.append(comparison_part(session))
    drawn = {part: session.marks[part] for part in PARTS}

    def tick() -> None:
        session.work_ahead()
        changed = {part for part in drawn if session.marks[part] != drawn[part]}
        drawn.update({part: session.marks[part] for part in changed})
        for part in parts:
            part.tick(changed)

    ui.timer(TICK, tick)
