"""The Cramér–Rao bound: how well a noisy pair of snapshots could tell the parameters, and how close fits come to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.reproduction.checkpoint import IDENTIFIED, Row
from hiddenphysics.snapshots import Snapshots

if TYPE_CHECKING:  # importing a result takes seconds, which only workers should pay
    from hiddenphysics.result import Result

WEAK = "weakly_identified"
CLOSE = 0.01
"""Relative error that counts as close in clean data."""

Bounds = dict[str, dict[str, float]]
"""Noise level, written by `level_name`, -> parameter -> standard deviation."""


def level_name(noise: float) -> str:
    """Write a noise level as a key of JSON.

    >>> level_name(0.05)
    '0.05'
    """
    return f"{noise:g}"


def spread_of(pair: Snapshots) -> dict[str, float]:
    """Return the standard deviation of each field over a pair: what `Snapshots.with_noise` is relative to."""
    return {f: float(np.std(np.concatenate([s[f] for s in pair]))) for f in pair.fields}


def cramer_rao_bounds(result: Result, spread: Mapping[str, float], noises: Sequence[float]) -> Bounds | None:
    """Return the Cramér–Rao standard deviation of every parameter at every noise level; see `Result.cramer_rao`.

    A clean fit knows best what the bound is made of, so it is taken from one.

    Parameters
    ----------
    result
        A fit to the clean pair.
    spread
        Standard deviation of every field over the whole pair, before points were drawn: noise is relative to it.
    noises
        Levels, each as a share of the spread.

    Returns
    -------
    Bounds
        Levels without a finite bound are left out. None where no level was asked for, or the model tells no bound.
    """
    told = {
        level_name(noise): result.cramer_rao({field: noise * size for field, size in spread.items()})
        for noise in noises
    }
    if not told or None in told.values():
        return None
    return {level: bound for level, bound in told.items() if bound}


def closeness(
    rows: Sequence[Row], clean: Sequence[Row | None], truth: Mapping[str, float], noise: float
) -> dict[str, Any]:
    """Return how close the fits of a cell come to the bound.

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
    estimates: Sequence[Mapping[str, Any]], bounds: Sequence[float | None], truth: float, noise: float
) -> dict[str, float | None]:
    errors = np.array([e["estimate"] for e in estimates]) - truth
    relative = np.abs(errors / truth)
    intervals = [e["interval95"] for e in estimates if None not in e["interval95"]]
    scaled = [error / e["std"] for error, e in zip(errors, estimates, strict=True) if e["std"]]
    limited = np.array([(e, b) for e, b in zip(errors, bounds, strict=True) if b is not None])
    return {
        "error": float(np.median(relative)),
        "coverage": float(np.mean([low <= truth <= high for low, high in intervals])) if intervals else None,
        "within": None if noise else float(np.mean(relative <= CLOSE)),
        "ratio": float(np.sqrt(np.divide(*np.mean(limited**2, axis=0)))) if noise and len(limited) else None,
        "bias": float(np.median(scaled)) if noise and scaled else None,
    }
