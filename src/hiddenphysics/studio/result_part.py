"""The part of the page where a result is read and taken home."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape
from pathlib import PurePath
from typing import Any

from nicegui import ui

from hiddenphysics.studio.data_file import address_of
from hiddenphysics.studio.fit_child import RESULT_FILE
from hiddenphysics.studio.fit_run import Run
from hiddenphysics.studio.page_pieces import Part, formula, picture, section, sentence
from hiddenphysics.studio.report_page import report
from hiddenphysics.studio.session import Session
from hiddenphysics.studio.typesetting import mathml

CAPTIONS = {
    "fields": "Measured points, posterior mean and its 95 % band",
    "residuals": "What is left of the data, in units of the noise",
}
SHOW = """
const result = document.querySelector("section.result"), at = document.activeElement;
if (result && !(at && at.matches("input, textarea")) && (result.getBoundingClientRect().top < 0 ||
    result.getBoundingClientRect().top > 0.6 * window.innerHeight)) result.scrollIntoView({block: "start"});
"""
"""Bring a new answer into sight, unless something is being typed."""
STOPPED = "This fit has not come to its end; one that was stopped by hand or by the clock ends elsewhere the next time."


def result_part(session: Session) -> Part:
    """Build the part."""
    chosen: list[int] = []  # the number of the run that this tab shows; none: the latest

    def choose(number: int) -> None:
        chosen[:] = [number]
        shown.refresh()

    with section("result", "Result"):

        @ui.refreshable
        def shown() -> None:
            runs = session.answered
            if not runs:
                ui.html(
                    "<p class=hint>The numbers with their intervals, the verdict and the pictures will stand here.</p>",
                    sanitize=False,
                )
                return
            run = next((r for r in runs if [r.number] == chosen), runs[-1])
            if len(runs) > 1:
                ui.select(
                    {r.number: r.label for r in runs},
                    value=run.number,
                    label="which fit",
                    on_change=lambda e: choose(e.value),
                ).props("outlined dense")
            show_answer(run)
            for name in run.pictures:
                ui.html(f"<h3>{CAPTIONS[name]}</h3>", sanitize=False)
                picture(address_of((run.folder / f"{name}.png").read_bytes()), CAPTIONS[name])
            if "result" in run.made or not run.is_going:
                _downloads(run)

        shown()

    known = len(session.answered)

    def tick(changed: Collection[str]) -> None:
        nonlocal known
        if "run" in changed and session.answered:
            if len(session.answered) != known:
                known, chosen[:] = len(session.answered), []
                ui.run_javascript(SHOW)
            shown.refresh()

    return Part(tick)


def _criticism(answer: Mapping[str, Any]) -> str:
    """Return what a test of the equation says, where the verdict has not said it."""
    told = answer.get("criticism")
    return "" if told is None or answer["status"] == "misfit" else str(told["sentence"])


def show_answer(run: Run) -> None:
    """Show equation, verdict and numbers."""
    answer = run.answer
    if answer is None:
        return
    formula(mathml(answer["latex"]), f"identified-{run.number}")
    kind = "good" if answer["status"] == "converged" else "doubtful"
    ui.html(
        f'<p class="verdict {kind}"><b>{escape(answer["status"].replace("_", " "))}</b> '
        f"{escape(answer['explanation'])}</p><p>{escape(_criticism(answer))}</p>"
        f"<p class=hint>{escape(answer['reason'])}</p>",
        sanitize=False,
    )
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}</th><td>{escape(value)}</td><td>{escape(interval)}</td></tr>"
        for name, (value, interval) in answer["numbers"].items()
    )
    ui.html(
        '<div class=scrolls><table class="numbers"><thead><tr><th scope=col>unknown<th scope=col>estimate'
        f"<th scope=col>95 % interval</tr></thead><tbody>{rows}</tbody></table></div>"
        f"<p class=hint>Model {escape(answer['model'])}; noise {answer['noise_std']:.3g} (standard deviation); "
        f"{sum(answer['points'])} points at {len(answer['times'])} times; {run.seconds:.1f} s.</p>",
        sanitize=False,
    )
    sentence(run.sentence, f"picture-sentence-{run.number}")


def _downloads(run: Run) -> None:
    stem = PurePath(run.request.name).stem
    lines, command = run.request.python_lines(), run.request.shell_command()
    ui.html("<h3>Take it home</h3>", sanitize=False)
    file = ("Result (.nc)", "get-result", f"{stem}.nc", lambda: (run.folder / RESULT_FILE).read_bytes())
    with ui.element("div").classes("buttons"):
        for label, mark, name, content in (
            *([file] if "result" in run.made else []),
            ("Report (.html)", "get-report", f"{stem}.html", lambda: report(run).encode()),
            ("Python (.py)", "get-python", f"{stem}_fit.py", lines.encode),
            ("Shell (.sh)", "get-shell", f"{stem}_fit.sh", lambda: f"{command}\n".encode()),
        ):
            ui.button(
                label, on_click=lambda content=content, name=name: ui.download.content(content(), name)
            ).props(f"outline no-caps id={mark}")
    if run.answer is not None and run.answer["status"] == "not_converged":
        ui.html(f"<p class=hint>{STOPPED}</p>", sanitize=False)
    ui.html(
        f'<pre class="lines" id="python-lines" tabindex=0>{escape(lines)}</pre>'
        f'<pre class="lines" id="shell-command" tabindex=0>{escape(command)}</pre>',
        sanitize=False,
    )
