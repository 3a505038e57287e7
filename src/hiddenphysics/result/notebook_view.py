"""What a notebook shows of a result: the equation typeset, the parameters as a table, the verdict, the picture."""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

from hiddenphysics.errors import HiddenPhysicsError, MissingExtraError
from hiddenphysics.learning import Status

if TYPE_CHECKING:
    from hiddenphysics.result.result import Result

ROW = '<td style="text-align:left;padding-right:1.5em">{}</td>'


def latex_view(result: Result) -> str:
    """Return the identified equations as one displayed formula."""
    lines = result.latex().splitlines()
    body = lines[0] if len(lines) == 1 else r"\begin{gathered}" + r" \\ ".join(lines) + r"\end{gathered}"
    return rf"$\displaystyle {body}$"


def html_view(result: Result) -> str:
    """Return a page's part: no styles of its own but alignment, so that it is as light or dark as the page."""
    return f"<div><p>{escape(latex_view(result))}</p>{_table(result)}<p>{_words(result)}</p>{_picture(result)}</div>"


def _table(result: Result) -> str:
    head = "".join(f'<th style="text-align:left">{title}</th>' for title in ("", "estimate", "95 % interval"))
    rows = "".join(
        f"<tr>{''.join(ROW.format(escape(cell)) for cell in (name, str(e), e.interval_text()))}</tr>"
        for name, e in result.parameters.items()
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _words(result: Result) -> str:
    lines = [
        f"<b>{escape(str(result.status))}</b>: {escape(result.explanation)}",
        f"{escape(result.model)} model, noise std {result.noise_std:.3g}, evidence {result.evidence:.6g}, "
        f"{result.seconds:.1f} s. {escape(result.reason)}",
    ]
    if result.criticism is not None and result.status is not Status.MISFIT:
        lines.insert(1, escape(result.criticism.sentence()))
    return "<br>".join(lines)


def _picture(result: Result) -> str:
    """Return the picture inside the page; where it cannot be drawn, why: a fit that is shown never raises."""
    try:
        figure = result.plot()
    except MissingExtraError as missing:
        return f"<p>{escape(str(missing))}</p>"
    except (HiddenPhysicsError, ArithmeticError, ValueError) as problem:
        return f"<p>No picture: {escape(str(problem))}</p>"
    content = base64.b64encode(figure.png()).decode()
    width, _ = figure.size_shown()
    about = escape(f"Snapshots and posterior of {', '.join(result.runs.fields)}")
    return f'<img alt="{about}" width="{width}" style="max-width:100%" src="data:image/png;base64,{content}">'
