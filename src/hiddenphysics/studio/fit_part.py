"""The part of the page where a fit is begun, watched and stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from html import escape
from typing import Any

from nicegui import ui

from hiddenphysics.studio.fit_request import LIMIT
from hiddenphysics.studio.fit_run import Run
from hiddenphysics.studio.page_pieces import Part, section, sentence
from hiddenphysics.studio.session import Session

MODELS = {
    "auto": "auto: flow, else midpoint",
    "flow": "flow: exact in the gap",
    "midpoint": "midpoint: short gaps",
    "paper": "paper: backward Euler",
}
SENSORS = {"exact": "right but for noise", "offsets": "each off by a constant"}
EDGES = {
    "told": "as the data tell",
    "driven": "driven: something enters",
    "still": "still: nothing enters",
}
STATES = {
    "fitting": "Fitting",
    "stopping": "Stopping after this step, keeping the best so far",
    "drawing": "The numbers are there; drawing",
    "finished": "Finished",
    "failed": "No answer",
}


def fit_part(session: Session) -> Part:
    """Build the part."""

    def typed(name: str) -> Callable[[Any], None]:
        return lambda change: session.type(**{name: change.value or ""})

    def box(name: str, label: str, hint: str) -> ui.input:
        value = getattr(session.words, name)
        return ui.input(label, value=value, placeholder=hint, on_change=typed(name)).props(
            "outlined dense stack-label debounce=150"
        )

    with section("fit", "Fit"):
        with ui.element("div").classes("choices"):
            boxes: dict[str, ui.input | ui.select] = {
                "limit": box("limit", "time limit, seconds", f"{LIMIT:g}"),
                "times": box("times", "times to use", "all, or 1.0 1.1"),
                "points": box("points", "points per snapshot", "all"),
                "constants": box("constants", "known numbers", "c=3"),
            }
            for name, choices in (("model", MODELS), ("sensors", SENSORS), ("edges", EDGES)):
                value = getattr(session.words, name)
                boxes[name] = ui.select(choices, value=value, label=name, on_change=typed(name)).props(
                    "outlined dense"
                )
        with ui.element("div").classes("buttons"):
            begin = ui.button("Fit", on_click=session.begin).props("unelevated no-caps id=begin")
            stop = ui.button("Stop, keep the best so far", on_click=session.stop).props(
                "outline no-caps id=stop"
            )

        @ui.refreshable
        def shown() -> None:
            sentence(session.run_sentence, "run-sentence")
            run = session.current
            if run is None:
                return
            ui.html(
                f'<p role=status id="state" data-state="{run.state}"><b>Fit {run.number}</b>: {STATES[run.state]}.</p>',
                sanitize=False,
            )
            sentence(run.sentence, "fit-sentence")
            if run.is_going:
                ui.html(_so_far(run), sanitize=False)
                ui.linear_progress(show_value=False).props('indeterminate aria-label="working"')
            if run.is_going or run.state == "failed":
                lines = "".join(f"<li>{escape(stage)}</li>" for stage in run.stages[-6:])
                ui.html(f"<ol class=stages>{lines}</ol>", sanitize=False)

        shown()
        clock = ui.label("").classes("clock hint")

    def tick(changed: Collection[str]) -> None:
        run = session.current
        if "words" in changed:
            for name, element in boxes.items():
                if element.value != getattr(session.words, name):
                    element.value = getattr(session.words, name)
        if "run" in changed:
            shown.refresh()
        begin.set_enabled(run is None or not run.is_going)
        stop.set_visibility(run is not None and run.state in ("fitting", "stopping"))
        stop.set_enabled(run is not None and run.state == "fitting")
        clock.set_text(_clock(run) or _ahead(session.early))

    tick(())
    return Part(tick)


def _so_far(run: Run) -> str:
    """Return what a search has before it has an answer, called what it is."""
    if not run.so_far or run.answer is not None:
        return ""
    what = "First guess" if len(run.so_far) == 1 else "So far"
    values = ", ".join(f"{name}\xa0=\xa0{value}" for name, value in run.so_far[-1].items())
    return (
        f'<p class=hint id="so-far">{what}, not the answer yet: {escape(values)}. '
        "Intervals and verdict are still to come.</p>"
    )


def _ahead(early: Run | None) -> str:
    """Say what the machine is busy with, where nobody has asked for it."""
    return "Working ahead on what stands above; Fit shows it." if early is not None and early.is_going else ""


def _clock(run: Run | None) -> str:
    if run is None or not run.is_going or run.state == "drawing":
        return ""
    return f"{time.monotonic() - run.began:.0f} s of at most {run.request.time_limit:g} s"
