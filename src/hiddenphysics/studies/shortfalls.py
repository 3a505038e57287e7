"""Where our default model does no better than the paper: the report says so itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hiddenphysics.studies.study import Study
from hiddenphysics.studies.words import MODELS, number

TITLE = "Where the paper is closer"


def default_model(study: Study) -> str | None:
    """Return our default model of a study, the one that draws its figure; None where it was not asked for."""
    return study.picture.model if study.picture.model in study.models else None


def against_paper(tables: Sequence[Mapping[str, Any]], study: Study) -> dict[str, Any]:
    """Compare the default model of a study with the paper.

    Parameters
    ----------
    tables
        The study's tables, as `tabulate` has them.

    Returns
    -------
    dict
        `model`; how many medians are compared (`medians`) and how many ranges between quartiles (`ranges`); and, one
        dictionary each, the medians that are not `closer` to the truth and the ranges that are not `narrower`.
    """
    model = default_model(study)
    found: dict[str, Any] = {"model": model, "medians": 0, "ranges": 0, "not_closer": [], "not_narrower": []}
    for place, cell, name, ours in _numbers(tables, model):
        miss = {"place": place, "parameter": name, "paper": cell["paper"][name], "ours": ours}
        found["medians"] += 1
        found["ranges"] += ours["narrower"] is not None
        found["not_closer"] += [] if ours["closer"] else [miss]
        found["not_narrower"] += [miss] if ours["narrower"] is False else []
    return found


def lead(found: Mapping[str, Any]) -> str:
    """Say in how many cases our default models do better; nothing where there is none to compare."""
    all_of = [study["default"] for study in found["studies"]]
    medians, ranges = (sum(each[what] for each in all_of) for what in ("medians", "ranges"))
    if not medians:
        return ""
    missed, wider = (sum(len(each[what]) for each in all_of) for what in ("not_closer", "not_narrower"))
    used = dict.fromkeys(MODELS[each["model"]] for each in all_of if each["medians"])
    names = ", or where it cannot be integrated the ".join(used)
    text = f"Our default model, the {names}: {medians - missed} of {medians} medians are closer to the truth"
    text += " than the paper’s"
    if ranges:
        text += f", {ranges - wider} of {ranges} ranges between the quartiles narrower"
    return text + (". Not so:" if missed + wider else ".")


def sentences(found: Mapping[str, Any], studies: Mapping[str, Study]) -> Iterator[str]:
    """Say one by one where they do not."""
    for part in found["studies"]:
        study = studies[part["name"]]
        for miss in part["default"]["not_closer"]:
            ours, paper = number(miss["ours"]["median"]), number(miss["paper"]["median"])
            truth = number(study.truth[miss["parameter"]])
            yield f"{_where(study, miss)}: {ours} against {paper}; the truth is {truth}."
        for miss in part["default"]["not_narrower"]:
            ours, paper = (number(miss[by]["third"] - miss[by]["first"]) for by in ("ours", "paper"))
            yield f"{_where(study, miss)}: quartiles {ours} apart against {paper}."


def _numbers(
    tables: Sequence[Mapping[str, Any]], model: str | None
) -> Iterator[tuple[str, Mapping[str, Any], str, Mapping[str, Any]]]:
    """Go through the parameters of every cell that the model has fitted."""
    for table in tables:
        for cell in table["cells"]:
            where = ", ".join(filter(None, (table["place"], cell["row"], cell["column"])))
            for name, ours in cell["models"].get(model, {"parameters": {}})["parameters"].items():
                yield where, cell, name, ours


def _where(study: Study, miss: Mapping[str, Any]) -> str:
    return f"{study.title}, {miss['place']}, {study.symbols[miss['parameter']]}"
