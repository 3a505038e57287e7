"""Fits of cases, one after the other, each kept as soon as it is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import hiddenphysics as hp
from benchmarks.zoo.cases import Case
from hiddenphysics.errors import HiddenPhysicsError
from hiddenphysics.writer import Journal


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
    return row | {"seconds": time.perf_counter() - began}


def run(
    cases: Iterable[Case], path: Path, limit: float, say: Callable[[dict[str, Any]], None]
) -> list[dict[str, Any]]:
    """Fit what the journal at `path` does not hold yet; return the rows of all cases."""
    journal = Journal(path)
    kept = {row["key"]: row for row in journal.read()}
    rows = []
    with journal.held():
        for case in cases:
            if case.key not in kept:
                kept[case.key] = fitted(case, limit)
                journal.append(kept[case.key])
                say(kept[case.key])
            rows.append(kept[case.key])
    return rows
