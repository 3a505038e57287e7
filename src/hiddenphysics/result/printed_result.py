"""A result in words: as it is printed, and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.learning import Status
from hiddenphysics.models import MODELS
from hiddenphysics.result.units import described

if TYPE_CHECKING:
    from hiddenphysics.result.result import Result


def plain_summary(result: Result) -> dict[str, Any]:
    """Return the answer ready for JSON; numbers that are not finite become None."""
    return {
        "parameters": {
            name: {
                "estimate": e.estimate,
                "std": _finite(e.std),
                "interval95": [_finite(limit) for limit in e.interval(0.95)],
            }
            | ({"unit": result.units[name]} if name in result.units else {})
            for name, e in result.parameters.items()
        },
        "noise_std": result.noise_std,
        "evidence": _finite(result.evidence),
        "status": str(result.status),
        "explanation": result.explanation,
        "model": result.model,
        "reason": result.reason,
        "criticism": None if result.criticism is None else result.criticism.plain(),
        "heterogeneity": None if result.heterogeneity is None else result.heterogeneity.plain(),
        "sensors": {
            name: column.tolist() for name, column in MODELS[result.model].sensors(result.learned).items()
        },
        "r_hat": None if result.chains is None else result.chains.r_hat,
        "equation": result.identified(),
        "experiments": [
            {
                "name": name,
                "points": [len(s) for s in run],
                "times": run.times.tolist(),
                "start": run.provenance.start,
            }
            for name, run in zip(result.runs.names, result.runs, strict=True)
        ],
        "points": [len(s) for run in result.runs for s in run],
        "times": [float(t) for run in result.runs for t in run.times],
        "units": result.runs.units,
        "start": result.runs.provenance.start,
        "notes": list(result.runs.notes),
        "jitter": _finite(result.jitter),
        "evaluations": result.evaluations,
        "seconds": result.seconds,
    }


def printed(result: Result) -> str:
    """Return the lines that `print` shows."""
    lines = [result.identified(), "", f"status     {result.status}: {result.explanation}"]
    lines.append(
        f"model      {result.model}, evidence {result.evidence:.6g}, noise std {result.noise_std:.3g}"
    )
    if result.reason:
        lines.append(f"why        {result.reason}")
    if result.criticism is not None and result.status is not Status.MISFIT:
        lines.append(f"criticism  {result.criticism.sentence()}")
    if result.heterogeneity is not None and not result.heterogeneity.speaks_against:
        lines.append(f"agreement  {result.heterogeneity.sentence()}")
    remarks = MODELS[result.model].remarks(result.learned)
    lines += [f"{word:<10} {sentence}" for word, sentence in remarks.items()]
    if result.chains is not None:
        lines.append(f"sampling   {result.chains.sentence()}")
    if result.jitter > 0:
        lines.append(f"jitter     {result.jitter:.2g} was added to the covariance's diagonal to factor it")
    lines += [f"data       {sentence}" for sentence in described(result.runs, result.units)]
    for name, e in result.parameters.items():
        unit = f" {result.units[name]}" if result.units.get(name, "1") != "1" else ""
        lines.append(f"{name:<10} {e}{unit}   95 % in {e.interval_text(0.95)}")
    lines += [f"{one.function.call:<10} {one}" for one in result.functions.values()]
    return "\n".join(lines)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
