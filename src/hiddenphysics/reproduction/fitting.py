"""One fit, as a worker performs it; the answer, good or bad, is a row of plain data."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.errors import HiddenPhysicsError
from hiddenphysics.reproduction.checkpoint import BUILT, IDENTIFIED, SEARCHED, Row, failure
from hiddenphysics.reproduction.cramer_rao import cramer_rao_bounds
from hiddenphysics.reproduction.fit_plan import FitJob
from hiddenphysics.reproduction.paper_tables import AuthorsSearch
from hiddenphysics.reproduction.study import PAPER
from hiddenphysics.snapshots import Snapshot, Snapshots

if TYPE_CHECKING:
    from hiddenphysics.result import Result

CURVE, MAP = 300, (66, 36)
"""Points of a drawn curve, and along the two sides of a drawn map."""


def perform(task: FitJob) -> Row:
    """Fit, and return the result's summary; a failure is a row too, with its reason."""
    began = time.perf_counter()
    try:
        if not task.fitted:
            return _built(task)
        return _fitted(task) if task.search is None else _searched(task, task.search)
    except HiddenPhysicsError as problem:
        reason = str(problem)
    except Exception as problem:  # a fit of thousands must not end the others; its reason is kept
        reason = f"{type(problem).__name__}: {problem}"
    return failure(reason, time.perf_counter() - began)


def _snapshots(task: FitJob) -> Snapshots:
    return Snapshots(Snapshot.from_columns(t, points, fields) for t, points, fields in task.columns)


def _fitted(task: FitJob) -> Row:
    from hiddenphysics.identification import identify
    from hiddenphysics.learning import Watch, silent

    with Watch(silent, float("inf")) as watch:
        result = identify(task.equation, _snapshots(task), model=task.model, progress=watch)
    if watch.interrupted:  # half a fit is no row of a table
        raise KeyboardInterrupt
    row: Row = result.summary()
    bounds = cramer_rao_bounds(result, task.spread, task.noises)
    if bounds is not None and row["status"] in IDENTIFIED:
        row["bounds"] = bounds
    if task.drawn:
        row["curves"] = {field: _curves(result, field) for field in task.drawn}
    return row


def _searched(task: FitJob, search: AuthorsSearch) -> Row:
    """Go the authors' way: so many looks at the likelihood, from where the pair before ended."""
    from hiddenphysics.identification import problem
    from hiddenphysics.reproduction.authors_search import search_pair

    began = time.perf_counter()
    likelihood = problem(task.equation, _snapshots(task), model=PAPER)
    end = search_pair(likelihood, search, task.start)
    parameters = likelihood.unknowns.parameters
    return {
        "status": SEARCHED,
        "explanation": f"the authors' search ends after {search.evaluations} evaluations, converged or not",
        "parameters": {p: {"estimate": end[p], "std": None, "interval95": [None, None]} for p in parameters},
        "end": end,
        "seconds": time.perf_counter() - began,
    }


def _built(task: FitJob) -> Row:
    from hiddenphysics.identification import problem

    began = time.perf_counter()
    likelihood = problem(task.equation, _snapshots(task), model=PAPER if task.search else task.model)
    explanation = f"the likelihood of {likelihood.size} values was built and, in a rehearsal, not maximised"
    return failure(explanation, time.perf_counter() - began) | {"status": BUILT}


def _curves(result: Result, field: str) -> list[dict[str, Any]]:
    """Return posterior mean and standard deviation at both times, on a line or a grid over the data's extent."""
    points = np.concatenate([s.points for s in result.snapshots])
    low, high = points.min(axis=0), points.max(axis=0)
    counts = (CURVE,) if len(low) == 1 else MAP
    axes = [np.linspace(a, b, n) for a, b, n in zip(low, high, counts, strict=True)]
    grid = [side.ravel() for side in np.meshgrid(*axes, indexing="ij")]
    drawn = []
    for t in result.snapshots.times:
        mean, std = result.predict(field, *grid, t=float(t))
        drawn.append(
            {"t": float(t), "axes": [_digits(a) for a in axes], "mean": _digits(mean), "std": _digits(std)}
        )
    return drawn


def _digits(values: np.ndarray) -> list[float]:
    """Round to what a picture can show."""
    return [float(f"{v:.5g}") for v in values]
