"""The report as one HTML page that fetches nothing: what all studies have in common, and a section of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hiddenphysics.equation import Equation
from hiddenphysics.reproduction.report.canvas import METHODS, as_svg, style
from hiddenphysics.reproduction.report.error_charts import gap_figure, methods_of, overview_figure
from hiddenphysics.reproduction.report.html_elements import (
    comparison_table,
    cramer_rao_table,
    equation,
    legend,
    tag,
)
from hiddenphysics.reproduction.report.paper_figures import posterior
from hiddenphysics.reproduction.report.wording import MODELS, SHORTFALL_TITLE, shortfall_lead, shortfalls
from hiddenphysics.reproduction.runner import Outcome
from hiddenphysics.reproduction.study import AUTHORS, Study

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


def html_page(outcome: Outcome, tables: Mapping[str, Any], figures: Mapping[str, Sequence[Figure]]) -> str:
    """Return the page; `tables` are those of `tabulate`, `figures` holds each study's own."""
    links = "".join(tag("a", escape(s.title), href=f"#{s.name}") for s in outcome.plan.studies)
    with style():
        overview = as_svg(overview_figure(tables), "overview", "Relative errors of all medians, by method")
    body = [
        tag("h1", TITLE),
        tag("p", LEAD, class_="lead"),
        _tiles(outcome, tables),
        tag("nav", links),
        tag(
            "section",
            tag("h2", "At a glance") + tag("div", overview, class_="scroll") + legend(),
            id="glance",
        ),
        _shortfalls(outcome, tables),
    ]
    for study, own in zip(outcome.plan.studies, tables["studies"], strict=True):
        drawn = [
            as_svg(figure, f"{study.name}-{k}", study.picture.title)
            for k, figure in enumerate(figures[study.name])
        ]
        body.append(_section(outcome, study, own, drawn))
    body.append(_how(outcome))
    css = Path(__file__).with_name("html_page.css").read_text(encoding="utf-8")
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        + tag("title", TITLE)
        + tag("style", css)
    )
    inside = tag("head", head) + tag("body", tag("main", "".join(body)))
    return "<!doctype html>\n" + tag("html", inside, lang="en") + "\n"


def _tiles(outcome: Outcome, tables: Mapping[str, Any]) -> str:
    tiles = [_score(model, counts) for model, counts in tables["score"].items()]
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


def _shortfalls(outcome: Outcome, tables: Mapping[str, Any]) -> str:
    """Say where the paper does better than our default model."""
    lead = shortfall_lead(tables)
    studies = {study.name: study for study in outcome.plan.studies}
    items = "".join(tag("li", escape(sentence)) for sentence in shortfalls(tables, studies))
    listed = tag("ul", items) if items else ""
    inside = tag("h2", SHORTFALL_TITLE) + tag("p", escape(lead)) + listed
    return tag("section", inside, id="closer") if lead else ""


def _section(outcome: Outcome, study: Study, tables: Mapping[str, Any], figures: Sequence[str]) -> str:
    """Return the section of one study: its own of the `tables`, and its figure, in one SVG element or two."""
    charts = _charts(tables)
    parts = [
        tag("h2", escape(study.title)),
        tag("p", equation(study.equation), class_="equation"),
        tag("p", escape(study.story) + " " + _data(study, tables["data"])),
        _figure(outcome, study, figures),
    ]
    for table in tables["tables"]:
        parts += [comparison_table(table, study), cramer_rao_table(table, study)]
        if table["place"] in charts:
            parts.append(tag("div", charts[table["place"]], class_="scroll chart"))
    return tag("section", "".join(parts), id=study.name)


def _data(study: Study, label: str) -> str:
    words = f"Data: {tag('code', escape(label))}."
    if label == study.fallback:
        words += (
            f" This is a short extract of the whole recording, which has not been made here; make it with "
            f"{tag('code', f'hiddenphysics datasets make {study.data}')} for all pairs."
        )
    return words


def _figure(outcome: Outcome, study: Study, figures: Sequence[str]) -> str:
    unit, curves = posterior(outcome, study, study.picture.noises[0])
    model = MODELS.get(unit.model, unit.model)
    bands = f" Lines and bands: posterior mean and its 95 %, {escape(model)}." if curves else ""
    caption = (
        f"<b>{escape(study.picture.place)} of the paper, drawn again.</b>{bands} The equations are those of this pair; "
        "in brackets the uncertainty of the last digits."
    )
    pictures = "".join(tag("div", svg, class_="scroll") for svg in figures)
    return tag("figure", pictures + _identified(outcome, study) + tag("figcaption", caption))


def _identified(outcome: Outcome, study: Study) -> str:
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


def _charts(tables: Mapping[str, Any]) -> dict[str, str]:
    """Draw the errors of every table of gaps: table -> SVG element."""
    charts = {}
    for k, table in enumerate(tables["tables"]):
        if len(table["rows"]) > 1 and len(table["columns"]) > 1:
            with style():
                figure = gap_figure(table, methods_of({"studies": [tables]}))
                charts[table["place"]] = as_svg(
                    figure, f"{tables['name']}-gaps-{k}", f"Errors of {table['place']} by gap"
                )
    return charts


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
