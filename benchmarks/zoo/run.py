"""Fits of cases, one after the other, each kept as soon as it is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import hiddenphysics as hp
from benchmarks.zoo.cases import SPECIES, Case
from hiddenphysics.errors import HiddenPhysicsError
from hiddenphysics.workers import Lost, in_processes, in_this_process
from hiddenphysics.writer import Journal

if TYPE_CHECKING:
    import pandas as pd

GROUP = 5
"""Neighbouring points that are a group."""


def fitted(case: Case, limit: float) -> dict[str, Any]:
    """Return one row: the answer, a refusal in the package's own words, or a crash by its name."""
    data = case.data()
    row: dict[str, Any] = {"key": case.key, "truth": case.truth, "limit": limit}
    began = time.perf_counter()
    try:
        fit = hp.identify(case.text, data, time_limit=limit)
    except HiddenPhysicsError as refusal:
        row |= {"status": "refused", "said": str(refusal)}
    except Exception as crash:  # finding these is what the zoo is for
        row |= {"status": "crashed", "said": f"{type(crash).__name__}: {crash}"[:300]}
    else:
        told = fit.summary()
        row |= {"status": told["status"], "said": told["explanation"], "model": told["model"]}
        row["parameters"] = {
            p: {k: one[k] for k in ("estimate", "std")} for p, one in told["parameters"].items()
        }
        row["apart"] = apart(fit.residuals(), case.noise())
    return row | {"seconds": time.perf_counter() - began}


def apart(residuals: pd.DataFrame, noise: Mapping[str, float]) -> float | None:
    """By how many deviations of the noise a fit differs from the data in the group of points where it differs most.

    A group are `GROUP` neighbours along the first coordinate at one time; their mean is compared, in which noise by
    itself is √`GROUP` times smaller. None without noise.
    """
    largest = 0.0
    for _, snapshot in residuals.groupby("t"):
        order = snapshot.sort_values(list(snapshot.columns)[1])
        for field, size in noise.items():
            if not size > 0:
                return None
            values = order[field].to_numpy()
            groups = np.array_split(values, max(len(values) // GROUP, 1))
            largest = max(largest, *(abs(float(np.mean(one))) / size for one in groups))
    return largest


@dataclass(frozen=True)
class Task:
    """A case and its limit, until a worker takes them."""

    case: Case
    limit: float

    @property
    def shape(self) -> str:
        """Cases of one species may share compiled code."""
        return self.case.species.name

    @property
    def chained(self) -> bool:
        """No case waits for another."""
        return False


def run(
    cases: Iterable[Case], path: Path, limit: float, say: Callable[[dict[str, Any]], None], workers: int = 1
) -> list[dict[str, Any]]:
    """Fit what the journal at `path` does not hold yet, in so many processes; return the rows of all cases."""
    journal = Journal(path)
    kept = {row["key"]: row for row in journal.read()}
    chosen = list(cases)
    missing = [Task(case, limit) for case in chosen if case.key not in kept]
    with journal.held():
        answers: Iterable[tuple[Task, dict[str, Any] | Lost]] = (
            in_processes(missing, _by_name, _performed, workers)
            if workers > 1
            else in_this_process(missing, _by_name, _performed)
        )
        for task, answer in answers:
            row = _died(task, answer) if isinstance(answer, Lost) else answer
            kept[task.case.key] = row
            journal.append(row)
            say(row)
    return [kept[case.key] for case in chosen]


Named = tuple[str, str, int, float]
"""Species, variant, draw and limit: what can be sent to a process, which knows the species' functions itself."""


def _by_name(task: Task) -> Named:
    return task.case.species.name, task.case.variant, task.case.draw, task.limit


def _performed(named: Named) -> dict[str, Any]:
    species, variant, draw, limit = named
    return fitted(Case(next(one for one in SPECIES if one.name == species), variant, draw), limit)


def _died(task: Task, lost: Lost) -> dict[str, Any]:
    told = {"status": "crashed", "said": f"the process has ended: {lost.reason}", "seconds": 0.0}
    return {"key": task.case.key, "truth": task.case.truth, "limit": task.limit} | told
