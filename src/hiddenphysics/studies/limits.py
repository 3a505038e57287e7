"""How close a model comes to the limit: errors against what the noise allows, of the fits that say they know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hiddenphysics.studies.bounds import level_name
from hiddenphysics.studies.fitting import IDENTIFIED, Row
from hiddenphysics.studies.study import FLOW
from hiddenphysics.studies.words import digits, percent, signed

WEAK = "weakly_identified"
CLOSE = 0.01
"""Relative error that counts as close in clean data."""

TITLE = "How close the flow comes to the limit"
NOTE = (
    "Errors are of the identified pairs; weak are those whose fit says that the data do not determine the parameters, "
    "lost those without success. The bound is that of Cramér and Rao: 1 is as good as the noise allows. It and the "
    "error are root mean squares over pairs; the bias is the median of error over its own stated deviation."
)
HEAD = (
    "pairs",
    "weak",
    "lost",
    "median error, %",
    "within 1 %",
    "error / bound",
    "bias / deviation",
    "covered by 95 %",
    "median seconds",
)


def closeness(
    rows: Sequence[Row], clean: Sequence[Row | None], truth: Mapping[str, float], noise: float
) -> dict[str, Any]:
    """Return what the fits of a cell say about the limit.

    Parameters
    ----------
    rows
        The fits.
    clean
        For each the clean fit of the same points, which holds the bounds; None where there is none.
    truth
        Parameter -> its true value.
    noise
        The cell's level.

    Returns
    -------
    dict
        Counts `pairs`, `identified`, `weak`, `bounded` (identified, and with a bound), the median of `seconds`, and
        by parameter the median relative `error`, the `coverage` of the 95 % intervals, in clean data the share
        `within` 1 %, in noisy data the `ratio` of the root mean square error to the root mean square bound, and the
        `bias`, the median of error over stated standard deviation. None stands for what cannot be said.
    """
    kept = [(r, c) for r, c in zip(rows, clean, strict=True) if r["status"] in IDENTIFIED and r["parameters"]]
    bounds = [(c or {}).get("bounds", {}).get(level_name(noise)) for _, c in kept]
    return {
        "pairs": len(rows),
        "identified": len(kept),
        "weak": sum(row["status"] == WEAK for row in rows),
        "bounded": sum(bound is not None for bound in bounds),
        "seconds": float(np.median([row["seconds"] for row in rows])) if rows else None,
        "parameters": {
            name: _parameter(
                [row["parameters"][name] for row, _ in kept], [b and b[name] for b in bounds], value, noise
            )
            for name, value in truth.items()
            if kept
        },
    }


def _parameter(
    found: Sequence[Mapping[str, Any]], bounds: Sequence[float | None], truth: float, noise: float
) -> dict[str, float | None]:
    errors = np.array([f["estimate"] for f in found]) - truth
    relative = np.abs(errors / truth)
    intervals = [f["interval95"] for f in found if None not in f["interval95"]]
    told = [e / f["std"] for e, f in zip(errors, found, strict=True) if f["std"]]
    limited = np.array([(e, b) for e, b in zip(errors, bounds, strict=True) if b is not None])
    return {
        "error": float(np.median(relative)),
        "coverage": float(np.mean([low <= truth <= high for low, high in intervals])) if intervals else None,
        "within": None if noise else float(np.mean(relative <= CLOSE)),
        "ratio": float(np.sqrt(np.divide(*np.mean(limited**2, axis=0)))) if noise and len(limited) else None,
        "bias": float(np.median(told)) if noise and told else None,
    }


def lines_of(table: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield the noise in words and the numbers under `HEAD`, for a table of statistics with a column of the flow."""
    if len(table["rows"]) > 1 or not any(cell["noise"] for cell in table["cells"]):
        return
    for cell in table["cells"]:
        if FLOW in cell["models"]:
            yield cell["column"], _numbers(cell["models"][FLOW]["limit"])


def _numbers(limit: Mapping[str, Any]) -> list[str]:
    lost = limit["pairs"] - limit["identified"] - limit["weak"]

    def each(key: str, write: Callable[[float], str]) -> str:
        values = [p[key] for p in limit["parameters"].values()]
        return ", ".join(map(write, values)) if values and None not in values else "–"

    return [
        str(limit["pairs"]),
        str(limit["weak"]),
        str(lost),
        each("error", lambda share: digits(100 * share)),
        each("within", percent),
        each("ratio", "{:.2f}".format),
        each("bias", signed),
        each("coverage", percent),
        "–" if limit["seconds"] is None else f"{limit['seconds']:.1f}",
    ]
