"""Our numbers beside the paper's: from single fits to tables, and where the paper does better, all as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hiddenphysics.errors import DataError
from hiddenphysics.reproduction.checkpoint import Row
from hiddenphysics.reproduction.cramer_rao import closeness
from hiddenphysics.reproduction.fit_plan import Unit
from hiddenphysics.reproduction.paper_tables import Cell, Published, Table
from hiddenphysics.reproduction.runner import Outcome
from hiddenphysics.reproduction.study import AUTHORS, FLOW, Study

CONVERGED = "converged"
COUNTS = ("numbers", "closer", "quartiles", "narrower", "within")
ENOUGH = 10
"""Fits that a range between quartiles must rest on before it is compared with the paper's."""


def tabulate(outcome: Outcome) -> dict[str, Any]:
    """Return all tables as plain data: studies -> tables -> cells -> paper and models -> parameters."""
    studies = [_study(outcome, study) for study in outcome.plan.studies]
    return {"studies": studies, "score": _score(studies)}


def _study(outcome: Outcome, study: Study) -> dict[str, Any]:
    tables = [_table(outcome, study, table) for table in study.tables]
    return {
        "name": study.name,
        "title": study.title,
        "equation": study.equation,
        "truth": dict(study.truth),
        "data": outcome.plan.library.open(study).label,
        "tables": tables,
        "default": _against_paper(tables, study),
    }


def _table(outcome: Outcome, study: Study, table: Table) -> dict[str, Any]:
    return {
        "place": table.place,
        "title": table.title,
        "rows": list(table.rows),
        "columns": list(table.columns),
        "cells": [_cell(outcome, study, cell) for cell in table.cells],
    }


def _cell(outcome: Outcome, study: Study, cell: Cell) -> dict[str, Any]:
    comparison: dict[str, Any] = {
        "row": cell.row,
        "column": cell.column,
        "noise": cell.noise,
        "paper": {p: _published(number, study.truth[p]) for p, number in cell.paper.items()},
        "models": {},
        "missing": None,
    }
    try:
        units = {m: outcome.plan.of_cell(study, cell, m) for m in study.models if m != AUTHORS or cell.search}
    except DataError as problem:
        return comparison | {"missing": str(problem)}
    for model, asked in units.items():
        rows = [outcome.rows[u.key] for u in asked if u.key in outcome.rows]
        comparison["models"][model] = _model(rows, len(asked), study.truth, cell.paper)
        if model == FLOW:
            clean = [_clean(outcome, u) for u in asked if u.key in outcome.rows]
            comparison["models"][model]["limit"] = closeness(rows, clean, study.truth, cell.noise)
    return comparison


def _clean(outcome: Outcome, unit: Unit) -> Row | None:
    """Return the fit of the same pair, at the same points, without noise."""
    return outcome.rows.get(replace(unit, noise=0.0).key)


def _model(
    rows: Sequence[Row], asked: int, truth: Mapping[str, float], paper: Mapping[str, Published]
) -> dict[str, Any]:
    answered = [row for row in rows if row["parameters"]]
    parameters: dict[str, Any] = {}
    for name, value in truth.items():
        everything = summarise(answered, name, value)
        if everything is not None:
            sound = [row for row in answered if row["status"] == CONVERGED]
            verdict = _verdict(everything, value, paper[name], len(answered))
            parameters[name] = everything | verdict | {"converged_only": summarise(sound, name, value)}
    return {
        "asked": asked,
        "answered": len(answered),
        "statuses": dict(sorted(Counter(row["status"] for row in rows).items())),
        "reasons": _reasons(rows),
        "parameters": parameters,
    }


def summarise(rows: Sequence[Row], name: str, truth: float) -> dict[str, float | None] | None:
    """Return quartiles, errors relative to the truth, and the share of 95 % intervals that hold it; None for no rows.

    ``error`` is that of the median, ``typical_error`` the median of the single fits' errors.
    """
    if not rows:
        return None
    fitted = [row["parameters"][name] for row in rows]
    estimates = np.array([f["estimate"] for f in fitted])
    first, median, third = np.quantile(estimates, [0.25, 0.5, 0.75]).tolist()
    stds = [f["std"] for f in fitted if f["std"] is not None]
    intervals = [f["interval95"] for f in fitted if None not in f["interval95"]]
    return {
        "first": first,
        "median": median,
        "third": third,
        "error": abs(median - truth) / abs(truth),
        "typical_error": float(np.median(np.abs(estimates - truth))) / abs(truth),
        "std": float(np.median(stds)) if stds else None,
        "coverage": sum(low <= truth <= high for low, high in intervals) / len(intervals)
        if intervals
        else None,
    }


def _published(number: Published, truth: float) -> dict[str, float | None]:
    return {
        "first": number.first,
        "median": number.median,
        "third": number.third,
        "error": abs(number.median - truth) / abs(truth),
    }


def _verdict(ours: Mapping[str, Any], truth: float, paper: Published, fits: int) -> dict[str, bool | None]:
    """Say whether our median is closer to the truth than the paper's and within its quartiles, and ours narrower."""
    closer = abs(ours["median"] - truth) < abs(paper.median - truth)
    if paper.first is None or paper.third is None or fits < ENOUGH:
        return {"closer": closer, "narrower": None, "within": None}
    narrower = ours["third"] - ours["first"] < paper.third - paper.first
    return {"closer": closer, "narrower": narrower, "within": paper.first <= ours["median"] <= paper.third}


def _reasons(rows: Sequence[Row]) -> dict[str, int]:
    """Count why fits failed, the commonest first."""
    return dict(Counter(row["explanation"] for row in rows if not row["parameters"]).most_common(5))


def _score(studies: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Count, for each model, the paper's numbers that it comes closer to the truth than, and those that it meets."""
    score: dict[str, dict[str, int]] = {}
    for cell in (c for s in studies for t in s["tables"] for c in t["cells"]):
        for model, fits in cell["models"].items():
            counts = score.setdefault(model, dict.fromkeys(COUNTS, 0))
            for p in fits["parameters"].values():
                counts["numbers"] += 1
                counts["closer"] += p["closer"]
                counts["quartiles"] += p["narrower"] is not None
                counts["narrower"] += p["narrower"] is True
                counts["within"] += p["within"] is True
    return score


def _against_paper(tables: Sequence[Mapping[str, Any]], study: Study) -> dict[str, Any]:
    """Compare our default model of a study, the one that draws its figure, with the paper.

    Parameters
    ----------
    tables
        The study's tables, as `tabulate` has them.

    Returns
    -------
    dict
        `model`, None where it was not asked for; how many `medians` and `ranges` between quartiles are compared; and,
        one dictionary each, the medians that are `not_closer` to the truth and the ranges that are `not_narrower`.
    """
    model = study.picture.model if study.picture.model in study.models else None
    compared: dict[str, Any] = {
        "model": model,
        "medians": 0,
        "ranges": 0,
        "not_closer": [],
        "not_narrower": [],
    }
    for place, cell, name, ours in _fitted_parameters(tables, model):
        miss = {"place": place, "parameter": name, "paper": cell["paper"][name], "ours": ours}
        compared["medians"] += 1
        compared["ranges"] += ours["narrower"] is not None
        compared["not_closer"] += [] if ours["closer"] else [miss]
        compared["not_narrower"] += [miss] if ours["narrower"] is False else []
    return compared


def _fitted_parameters(
    tables: Sequence[Mapping[str, Any]], model: str | None
) -> Iterator[tuple[str, Mapping[str, Any], str, Mapping[str, Any]]]:
    """Go through the parameters of every cell that the model has fitted."""
    for table in tables:
        for cell in table["cells"]:
            where = ", ".join(filter(None, (table["place"], cell["row"], cell["column"])))
            for name, ours in cell["models"].get(model, {"parameters": {}})["parameters"].items():
                yield where, cell, name, ours
