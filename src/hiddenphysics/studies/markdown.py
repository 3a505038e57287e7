"""The tables as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hiddenphysics.studies import limits, shortfalls
from hiddenphysics.studies.study import Study
from hiddenphysics.studies.words import MODELS, counted, coverage, number, percent, quartiles, score_sentence


def markdown(
    found: Mapping[str, Any], studies: Mapping[str, Study], pictures: Mapping[str, Sequence[str]]
) -> str:
    """Return the report as Markdown; `pictures` maps a study to the picture files to show."""
    lines = ["# The paper’s tables and figures, made again", "", *score_sentences(found), ""]
    lines += _shortfalls(found, studies)
    for study in found["studies"]:
        lines += _study(study, studies[study["name"]], pictures.get(study["name"], ()))
    return "\n".join(lines).rstrip() + "\n"


def score_sentences(found: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each model."""
    return [f"- {score_sentence(model, counts)}" for model, counts in found["score"].items()]


def _shortfalls(found: Mapping[str, Any], studies: Mapping[str, Study]) -> list[str]:
    lead = shortfalls.lead(found)
    missed = [f"- {sentence}" for sentence in shortfalls.sentences(found, studies)]
    return [f"## {shortfalls.TITLE}", "", lead, "", *missed, ""] if lead else []


def _study(found: Mapping[str, Any], study: Study, pictures: Sequence[str]) -> list[str]:
    lines = [
        f"## {study.title}",
        "",
        f"`{study.equation}`",
        "",
        f"{study.story} Data: `{found['data']}`.",
        "",
    ]
    for picture in pictures:
        lines += [f"![{study.picture.title}]({picture})", ""]
    for table in found["tables"]:
        lines += [f"### {table['place']}: {table['title']}", "", *_table(table, study), ""]
        lines += _limits(table)
    return lines


def _limits(table: Mapping[str, Any]) -> list[str]:
    found = list(limits.lines_of(table))
    if not found:
        return []
    head = [_line(["", *limits.HEAD]), _line(["---"] * (1 + len(limits.HEAD)))]
    body = [_line([noise, *numbers]) for noise, numbers in found]
    return [f"{limits.TITLE}.", "", *head, *body, "", limits.NOTE, ""]


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
