"""From single fits to tables: plain data with the paper's numbers, ours, and what they say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hiddenphysics.errors import DataError
from hiddenphysics.studies.fitting import Row
from hiddenphysics.studies.limits import closeness
from hiddenphysics.studies.plan import Unit
from hiddenphysics.studies.runner import Outcome
from hiddenphysics.studies.shortfalls import against_paper
from hiddenphysics.studies.study import AUTHORS, FLOW, Cell, Published, Study, Table

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
        "data": outcome.plan.library.recording(study).label,
        "tables": tables,
        "default": against_paper(tables, study),
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
    found: dict[str, Any] = {
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
        return found | {"missing": str(problem)}
    for model, asked in units.items():
        rows = [outcome.rows[u.key] for u in asked if u.key in outcome.rows]
        found["models"][model] = _model(rows, len(asked), study.truth, cell.paper)
        if model == FLOW:
            clean = [_clean(outcome, u) for u in asked if u.key in outcome.rows]
            found["models"][model]["limit"] = closeness(rows, clean, study.truth, cell.noise)
    return found


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
    found = [row["parameters"][name] for row in rows]
    estimates = np.array([f["estimate"] for f in found])
    first, median, third = np.quantile(estimates, [0.25, 0.5, 0.75]).tolist()
    stds = [f["std"] for f in found if f["std"] is not None]
    intervals = [f["interval95"] for f in found if None not in f["interval95"]]
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
        for model, found in cell["models"].items():
            counts = score.setdefault(model, dict.fromkeys(COUNTS, 0))
            for p in found["parameters"].values():
                counts["numbers"] += 1
                counts["closer"] += p["closer"]
                counts["quartiles"] += p["narrower"] is not None
                counts["narrower"] += p["narrower"] is True
                counts["within"] += p["within"] is True
    return score
