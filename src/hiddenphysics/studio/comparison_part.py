"""The part of the page where two fits stand side by side."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from nicegui import ui

from hiddenphysics.equation import format_factor
from hiddenphysics.studio.data_file import address_of
from hiddenphysics.studio.fit_run import Run
from hiddenphysics.studio.page_pieces import Part, picture, section
from hiddenphysics.studio.result_part import CAPTIONS, show_answer
from hiddenphysics.studio.session import Session

DECIDED = 3.0
"""Log evidence from which on one of two equations is preferred: 20 to 1."""
CLOSE = 1.1
"""Noises that differ by less than this factor tell two equations not apart."""


def comparison_part(session: Session) -> Part:
    """Build the part; it is empty until there are two fits."""
    sides: dict[str, int] = {}

    def choose(side: str, number: int) -> None:
        sides[side] = number
        shown.refresh()

    @ui.refreshable
    def shown() -> None:
        runs = session.answered
        if len(runs) < 2:
            return
        with section("comparison", "Compare two"):
            numbers = {r.number: r for r in runs}
            pair = [
                numbers.get(sides.get("left", 0), runs[-2]),
                numbers.get(sides.get("right", 0), runs[-1]),
            ]
            ui.html(f'<p id="comparison-words">{escape(compared(*pair))}</p>', sanitize=False)
            with ui.element("div").classes("pair"):
                for side, run in zip(("left", "right"), pair, strict=True):
                    with ui.element("div"):
                        ui.select(
                            {r.number: r.label for r in runs},
                            value=run.number,
                            label=side,
                            on_change=lambda e, side=side: choose(side, e.value),
                        ).props("outlined dense")
                        show_answer(run)
                        if "residuals" in run.pictures:
                            address = address_of((run.folder / "residuals.png").read_bytes())
                            picture(address, CAPTIONS["residuals"])

    shown()

    def tick(changed: Collection[str]) -> None:
        if "run" in changed and len(session.answered) > 1:
            shown.refresh()

    return Part(tick)


def compared(left: Run, right: Run) -> str:
    """Say which of two equations leaves less of the data, where they were asked about the same data."""
    one, two = left.answer, right.answer
    if one is None or two is None:
        raise ValueError("a fit without an answer cannot be compared")
    same = (left.request.path, left.request.times, left.request.points, left.request.missing) == (
        right.request.path,
        right.request.times,
        right.request.points,
        right.request.missing,
    )
    if not same:
        return "These are fits of different data, so their noises tell nothing about the equations."
    ended = "not_converged" not in (one["status"], two["status"])
    if ended and one["model"] == two["model"] and None not in (one["evidence"], two["evidence"]):
        ahead = one["evidence"] - two["evidence"]
        better = left.number if ahead > 0 else right.number
        word = "The evidence is for" if abs(ahead) > DECIDED else "The evidence hardly decides for"
        return f"{word} fit {better}: it makes these data {format_factor(abs(ahead))} times as likely."
    first, second = one["noise_std"], two["noise_std"]
    told = f"Fit {left.number} leaves a noise of {first:.3g}, fit {right.number} of {second:.3g}"
    ratio = max(first, second) / max(min(first, second), 1e-300)
    if ratio < CLOSE:
        return f"{told}: these data do not tell the two equations apart by what they leave."
    better = left.number if first < second else right.number
    return f"{told}: fit {better} explains {ratio:.3g} times more closely, with the unknowns that it has."
