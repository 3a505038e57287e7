"""The whole page: one file, nothing fetched from anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenphysics.studies import shortfalls
from hiddenphysics.studies.page.markup import tag
from hiddenphysics.studies.page.sections import section
from hiddenphysics.studies.page.tables import legend
from hiddenphysics.studies.pictures import as_svg, gap_figure, methods_of, overview_figure, style
from hiddenphysics.studies.pictures.canvas import METHODS
from hiddenphysics.studies.runner import Outcome
from hiddenphysics.studies.study import AUTHORS
from hiddenphysics.studies.words import MODELS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Hidden physics models, made again"
LEAD = (
    "Every table and every figure of Raissi and Karniadakis (2018): the paper’s numbers, the paper’s method redone, "
    "and our models, each on the same draws of points and noise."
)
METHOD = (
    "Every fit sees two snapshots. Pair number i draws its points with seed i; noise is Gaussian, with a standard "
    "deviation relative to that of the whole field. All models see the same points and the same noise. A big number "
    "is the median over pairs, the numbers below it the two quartiles, over all fits that gave an answer, converged "
    "or not; “covered” is the share of 95 % intervals that hold the truth. The paper’s statistics come from a chain: "
    "each pair starts where the one before ended, and its search ends after 10 to 500 looks at the likelihood, "
    "converged or not; a snapshot keeps its points and noise in both of its pairs. “Paper’s method and search” does "
    "the same with every pair of neighbours, or the first 200 of Navier–Stokes. All other fits know nothing of each "
    "other and end at an optimum. The paper heads the last column of its Table 10 with Δt = 1.0; the numbers and the "
    "sequence say 0.10."
)


def page(outcome: Outcome, found: Mapping[str, Any], figures: Mapping[str, Sequence[Figure]]) -> str:
    """Return the report as HTML; `figures` holds each study's own."""
    links = "".join(tag("a", escape(s.title), href=f"#{s.name}") for s in outcome.plan.studies)
    with style():
        overview = as_svg(overview_figure(found), "overview", "Relative errors of all medians, by method")
    body = [
        tag("h1", TITLE),
        tag("p", LEAD, class_="lead"),
        _tiles(outcome, found),
        tag("nav", links),
        tag(
            "section",
            tag("h2", "At a glance") + tag("div", overview, class_="scroll") + legend(),
            id="glance",
        ),
        _shortfalls(outcome, found),
    ]
    for study, part in zip(outcome.plan.studies, found["studies"], strict=True):
        drawn = [
            as_svg(figure, f"{study.name}-{k}", study.picture.title)
            for k, figure in enumerate(figures[study.name])
        ]
        body.append(section(outcome, study, part, drawn, _charts(part)))
    body.append(_how(outcome))
    css = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        + tag("title", TITLE)
        + tag("style", css)
    )
    inside = tag("head", head) + tag("body", tag("main", "".join(body)))
    return "<!doctype html>\n" + tag("html", inside, lang="en") + "\n"


def _shortfalls(outcome: Outcome, found: Mapping[str, Any]) -> str:
    """Say where the paper does better than our default model."""
    lead = shortfalls.lead(found)
    studies = {study.name: study for study in outcome.plan.studies}
    items = "".join(tag("li", escape(sentence)) for sentence in shortfalls.sentences(found, studies))
    listed = tag("ul", items) if items else ""
    inside = tag("h2", shortfalls.TITLE) + tag("p", escape(lead)) + listed
    return tag("section", inside, id="closer") if lead else ""


def _charts(found: Mapping[str, Any]) -> dict[str, str]:
    """Draw the errors of every table of gaps."""
    charts = {}
    for k, table in enumerate(found["tables"]):
        if len(table["rows"]) > 1 and len(table["columns"]) > 1:
            with style():
                figure = gap_figure(table, methods_of({"studies": [found]}))
                charts[table["place"]] = as_svg(
                    figure, f"{found['name']}-gaps-{k}", f"Errors of {table['place']} by gap"
                )
    return charts


def _tiles(outcome: Outcome, found: Mapping[str, Any]) -> str:
    tiles = [_score(model, counts) for model, counts in found["score"].items()]
    done = sum(u.key in outcome.rows for u in outcome.plan.units)
    failed = sum(not row["parameters"] for row in outcome.rows.values())
    words = f"of {len(outcome.plan.units)} done; {failed} without an answer"
    return tag("div", "".join([*tiles, _tile("fits", str(done), words)]), class_="tiles")


def _score(model: str, counts: Mapping[str, int]) -> str:
    colour = METHODS.get(model, ("gray", ""))[0]
    name = tag("span", "", class_="swatch", style=f"background:{colour}") + escape(MODELS.get(model, model))
    if not counts["numbers"]:
        return _tile(name, "–", "no fit has given an answer")
    if model == AUTHORS:
        return _tile(
            name, f"{counts['within']} / {counts['quartiles']}", "medians between the paper’s quartiles"
        )
    words = "medians closer to the truth than the paper’s"
    if counts["quartiles"]:
        words += f"; {counts['narrower']} of {counts['quartiles']} ranges between quartiles narrower"
    return _tile(name, f"{counts['closer']} / {counts['numbers']}", words)


def _tile(name: str, big: str, words: str) -> str:
    return tag("div", tag("span", name, class_="name") + f"<b>{big}</b>" + tag("span", words), class_="tile")


def _how(outcome: Outcome) -> str:
    parts = [tag("h2", "How it was made"), tag("p", escape(METHOD)), _failures(outcome)]
    parts.append(tag("p", f"hiddenphysics {escape(version('hiddenphysics'))}", class_="notes"))
    return tag("section", "".join(parts), id="how")


def _failures(outcome: Outcome) -> str:
    """List why fits gave no answer."""
    reasons: dict[tuple[str, str, str], int] = {}
    for unit in outcome.plan.units:
        row = outcome.rows.get(unit.key)
        if row is not None and not row["parameters"]:
            key = (unit.study, unit.model, row["explanation"])
            reasons[key] = reasons.get(key, 0) + 1
    if not reasons:
        return ""
    items = "".join(
        tag("li", f"{escape(study)}, {escape(model)}, {count}: {escape(why)}")
        for (study, model, why), count in sorted(reasons.items())
    )
    return tag(
        "details",
        tag("summary", f"Fits without an answer ({sum(reasons.values())})")
        + tag("ul", items, class_="notes"),
    )
