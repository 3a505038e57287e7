"""The report as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hiddenphysics.reproduction.report.wording import (
    CRAMER_RAO_HEAD,
    CRAMER_RAO_NOTE,
    CRAMER_RAO_TITLE,
    MODELS,
    SHORTFALL_TITLE,
    counted,
    coverage,
    cramer_rao_lines,
    number,
    percent,
    quartiles,
    score_sentence,
    shortfall_lead,
    shortfalls,
)
from hiddenphysics.reproduction.study import Study


def markdown(
    tables: Mapping[str, Any], studies: Mapping[str, Study], pictures: Mapping[str, Sequence[str]]
) -> str:
    """Return the report as Markdown; `tables` are those of `tabulate`, `pictures` map a study to its picture files."""
    scores = [f"- {score_sentence(model, counts)}" for model, counts in tables["score"].items()]
    lines = ["# The paper’s tables and figures, made again", "", *scores, ""]
    lines += _shortfalls(tables, studies)
    for study in tables["studies"]:
        lines += _study(study, studies[study["name"]], pictures.get(study["name"], ()))
    return "\n".join(lines).rstrip() + "\n"


def _shortfalls(tables: Mapping[str, Any], studies: Mapping[str, Study]) -> list[str]:
    lead = shortfall_lead(tables)
    missed = [f"- {sentence}" for sentence in shortfalls(tables, studies)]
    return [f"## {SHORTFALL_TITLE}", "", lead, "", *missed, ""] if lead else []


def _study(tables: Mapping[str, Any], study: Study, pictures: Sequence[str]) -> list[str]:
    lines = [
        f"## {study.title}",
        "",
        f"`{study.equation}`",
        "",
        f"{study.story} Data: `{tables['data']}`.",
        "",
    ]
    for picture in pictures:
        lines += [f"![{study.picture.title}]({picture})", ""]
    for table in tables["tables"]:
        lines += [f"### {table['place']}: {table['title']}", "", *_table(table, study), ""]
        lines += _cramer_rao(table)
    return lines


def _cramer_rao(table: Mapping[str, Any]) -> list[str]:
    body = [_line([noise, *numbers]) for noise, numbers in cramer_rao_lines(table)]
    if not body:
        return []
    head = [_line(["", *CRAMER_RAO_HEAD]), _line(["---"] * (1 + len(CRAMER_RAO_HEAD)))]
    return [f"{CRAMER_RAO_TITLE}.", "", *head, *body, "", CRAMER_RAO_NOTE, ""]


def _table(table: Mapping[str, Any], study: Study) -> list[str]:
    head = ["", "by", *(f"{study.symbols[p]} (truth {number(v)})" for p, v in study.truth.items())]
    lines = [_line([*head, "fits"]), _line(["---"] * (len(head) + 1))]
    for cell in table["cells"]:
        place = ", ".join(filter(None, (cell["row"], cell["column"])))
        paper = [f"{number(v['median'])} {quartiles(v)}".strip() for v in cell["paper"].values()]
        lines.append(_line([place, "paper", *paper, ""]))
        if cell["missing"]:
            lines.append(_line(["", "no data", *[""] * len(paper), ""]))
        for model, ours in cell["models"].items():
            numbers = [_ours(ours["parameters"].get(p)) for p in study.truth]
            lines.append(_line(["", MODELS.get(model, model), *numbers, counted(ours)]))
    return lines


def _ours(value: Mapping[str, Any] | None) -> str:
    if value is None:
        return "–"
    text = f"{number(value['median'])} {quartiles(value)}, {percent(value['error'])} off"
    if value["closer"]:
        text = f"**{text}**"
    return text if value["coverage"] is None else f"{text}; {coverage(value)}"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
