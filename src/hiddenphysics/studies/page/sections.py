"""The part of the page that belongs to one study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from hiddenphysics.equation import Equation
from hiddenphysics.studies.page.markup import equation, tag
from hiddenphysics.studies.page.tables import limit_table, table
from hiddenphysics.studies.pictures.field import posterior
from hiddenphysics.studies.runner import Outcome
from hiddenphysics.studies.study import Study
from hiddenphysics.studies.words import MODELS


def section(
    outcome: Outcome,
    study: Study,
    found: Mapping[str, Any],
    figures: Sequence[str],
    charts: Mapping[str, str],
) -> str:
    """Return a study's section.

    Parameters
    ----------
    found
        Its part of `tabulate`.
    figures
        The parts of its figure, as SVG elements.
    charts
        Table -> the picture of its errors, as an SVG element.
    """
    parts = [
        tag("h2", escape(study.title)),
        tag("p", equation(study.equation), class_="equation"),
        tag("p", escape(study.story) + " " + _data(study, found["data"])),
        _figure(outcome, study, figures),
    ]
    for each in found["tables"]:
        parts += [table(each, study), limit_table(each, study)]
        if each["place"] in charts:
            parts.append(tag("div", charts[each["place"]], class_="scroll chart"))
    return tag("section", "".join(parts), id=study.name)


def identified(outcome: Outcome, study: Study) -> str:
    """Return the table of the correct equation and the identified ones, for the figure's own pair."""
    lines = ""
    for what, how, text, kind in _equations(outcome, study):
        cells = tag("th", escape(what), scope="row") + tag("td", escape(how)) + tag("td", equation(text))
        lines += tag("tr", cells, class_=kind)
    return tag("div", tag("table", tag("tbody", lines), class_="identified"), class_="scroll")


def _equations(outcome: Outcome, study: Study) -> Iterator[tuple[str, str, str, str]]:
    parsed = Equation.parse(study.equation)
    yield "correct", "", _dynamics(parsed.render({p: (v, None) for p, v in study.truth.items()})), "truth"
    for words, noise in _noises(study):
        paper = next(
            (c for t in reversed(study.tables) for c in t.cells if c.steps == 1 and c.noise == noise), None
        )
        if paper is not None and all(p.first is None for p in paper.paper.values()):
            numbers = {p: (v.median, None) for p, v in paper.paper.items()}
            yield "paper", words, _dynamics(parsed.render(numbers)), "published"
    names = {noise: words for words, noise in _noises(study)}
    for unit in outcome.plan.of_picture(study):
        row = outcome.rows.get(unit.key)
        if row is not None and "equation" in row:
            doubt = "" if row["status"] == "converged" else f" ({row['status'].replace('_', ' ')})"
            label = MODELS.get(unit.model, unit.model)
            yield label, names.get(unit.noise, "") + doubt, _dynamics(row["equation"]), unit.model


def _noises(study: Study) -> list[tuple[str, float]]:
    """Return the noise levels of a study with their words; histograms bring their own noise."""
    if study.points is None:
        return [("", 0.0)]
    return [
        ("clean", 0.0),
        *((f"{100 * c.noise:g} % noise", c.noise) for c in study.tables[0].cells if c.noise),
    ]


def _dynamics(text: str) -> str:
    """Leave out the definitions of potentials: they hold no number."""
    lines = [line for line in text.splitlines() if "_t" in line]
    return "\n".join(lines)


def _figure(outcome: Outcome, study: Study, figures: Sequence[str]) -> str:
    unit, curves = posterior(outcome, study, study.picture.noises[0])
    model = MODELS.get(unit.model, unit.model)
    bands = f" Lines and bands: posterior mean and its 95 %, {escape(model)}." if curves else ""
    caption = (
        f"<b>{escape(study.picture.place)} of the paper, drawn again.</b>{bands} The equations are those of this pair; "
        "in brackets the uncertainty of the last digits."
    )
    pictures = "".join(tag("div", svg, class_="scroll") for svg in figures)
    return tag("figure", pictures + identified(outcome, study) + tag("figcaption", caption))


def _data(study: Study, label: str) -> str:
    words = f"Data: {tag('code', escape(label))}."
    if label == study.fallback:
        words += (
            f" This is a short extract of the whole recording, which has not been made here; make it with "
            f"{tag('code', f'hiddenphysics datasets make {study.data}')} for all pairs."
        )
    return words
