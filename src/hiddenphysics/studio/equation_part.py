"""The part of the page where the equation is typed, and typeset while it is typed."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from html import escape

from nicegui import ui

from hiddenphysics.errors import HiddenPhysicsError
from hiddenphysics.studio.fit_request import constants_of
from hiddenphysics.studio.forms import FORMS
from hiddenphysics.studio.page_pieces import Part, formula, section, sentence
from hiddenphysics.studio.session import Session
from hiddenphysics.studio.typesetting import Typeset, matched, typeset

HIDDEN = "(no column: hidden)"


def equation_part(session: Session) -> Part:
    """Build the part."""
    with section("equation", "Equation"):
        typed = (
            ui.textarea(
                value=session.words.equation, on_change=lambda e: session.type(equation=e.value or "")
            )
            .props('outlined autogrow debounce=150 spellcheck=false aria-label="equation"')
            .classes("typed")
        )

        @ui.refreshable
        def shown() -> None:
            read = _read(session)
            if read.mistake:
                sentence(read.mistake, "equation-sentence")
            else:
                formula(read.formula, "equation-formula")
                sought = ", ".join(read.unknowns) or "nothing"
                ui.html(f'<p class=hint id="sought">Sought: {escape(sought)}</p>', sanitize=False)
                _columns(session, read)

        shown()
        forms = ui.expansion("Start from a form").props('id=forms dense expand-separator aria-label="forms"')
        with forms, ui.element("div").classes("forms"):
            for form in FORMS:
                with (
                    ui.element("button")
                    .classes("form")
                    .props('type="button"')
                    .on("click", partial(session.type, equation=form.text))
                ):
                    ui.html(
                        f"<b>{escape(form.name)}</b><code>{escape(form.text)}</code><i>{escape(form.seen)}</i>",
                        sanitize=False,
                    )

    def tick(changed: Collection[str]) -> None:
        if {"data", "words"} & set(changed):
            if typed.value != session.words.equation:  # from another tab, or from a form
                typed.value = session.words.equation
            shown.refresh()

    return Part(tick)


def _read(session: Session) -> Typeset:
    """Read what is typed, knowing the data and the known numbers; a mistake among those is told by the fit."""
    try:
        constants = constants_of(session.words.constants)
    except HiddenPhysicsError:
        constants = {}
    return typeset(
        session.words.equation, fields=session.data.names if session.data else (), constants=constants
    )


def _columns(session: Session, read: Typeset) -> None:
    """Offer a choice of columns where names do not tell which belongs to which field."""
    if session.data is None:
        return
    columns = session.data.names
    pairs = matched(read.fields, columns, session.words.fields)
    if set(read.fields) == set(columns) or (len(read.fields) == len(columns) == 1):
        if read.fields[0] != columns[0] and len(columns) == 1:
            ui.html(
                f"<p class=hint>{escape(read.fields[0])} is the column {escape(columns[0])}</p>",
                sanitize=False,
            )
        return

    def choose(name: str, column: str) -> None:
        session.type(fields={**session.words.fields, name: "" if column == HIDDEN else column})

    with ui.element("div").classes("choices"):
        for name in read.fields:
            ui.select(
                [HIDDEN, *columns],
                value=pairs.get(name, HIDDEN),
                label=f"column of {name}",
                on_change=lambda e, name=name: choose(name, e.value),
            ).props("outlined dense")
