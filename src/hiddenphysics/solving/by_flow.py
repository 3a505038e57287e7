"""Identification by the flow model."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from hiddenphysics.errors import DataError, ModelError
from hiddenphysics.flow import applies, fit_flow
from hiddenphysics.inference.choices import Kernels
from hiddenphysics.kernels import Kernel
from hiddenphysics.result import Result
from hiddenphysics.result.fields import FlowFields
from hiddenphysics.solving.asked import Asked, Progress


def why_not_flow(asked: Asked) -> str | None:
    """Return why the flow model cannot be used for a question, None when it can."""
    second = any(order > 1 for order in dict(asked.equation.time_orders).values())
    if second and len(asked.snapshots) < 3 and not _has_velocities(asked):
        return "Of second order in time, the equation needs three snapshots, or the velocity beside."
    return applies(asked.equation, asked.snapshots.fields)


def identify_by_flow(asked: Asked, kernel: Kernels | None, say: Progress) -> Result:
    """Fit the flow model and return its result."""
    began = time.perf_counter()
    why_not = why_not_flow(asked)
    if why_not:
        raise ModelError(f"The flow model does not apply: {why_not} Use model='midpoint' or model='paper'.")
    _check_enough(asked)
    fit = fit_flow(asked.equation, asked.snapshots, kernels=_by_field(asked, kernel), progress=say)
    values = {name: float(fit.values[name]) for name in fit.names}
    count = len(asked.equation.parameters)
    covariance = np.zeros((len(values), len(values)))
    covariance[:count, :count] = fit.covariance
    return Result(
        equation=asked.equation,
        snapshots=asked.snapshots,
        values=values,
        covariance=covariance,
        evidence=fit.evidence,
        status=fit.status,
        explanation=fit.explanation,
        jitter=0.0,
        evaluations=fit.rounds,
        seconds=time.perf_counter() - began,
        fields=FlowFields(fit),
    )


def _has_velocities(asked: Asked) -> bool:
    orders = dict(asked.equation.time_orders).items()
    return all(f"{f}_t" in asked.snapshots.fields for f, order in orders if order > 1)


def _check_enough(asked: Asked) -> None:
    values = sum(len(s) * len(s.fields) for s in asked.snapshots)
    unknown = (
        len(asked.equation.parameters)
        + 1
        + len(asked.snapshots.fields) * (1 + len(asked.snapshots.coordinates))
    )
    if values < unknown:
        raise DataError(
            f"{values} values were given for {unknown} unknowns ({', '.join(asked.equation.parameters)}, the noise, "
            "and variance and lengths of every field); at least as many values are needed. Give more points."
        )


def _by_field(asked: Asked, kernel: Kernels | None) -> Mapping[str, Kernel] | None:
    """Return one kernel per field, from what a user gave."""
    if kernel is None:
        return None
    chosen = kernel if isinstance(kernel, Mapping) else dict.fromkeys(asked.snapshots.fields, kernel)
    unknown = sorted(set(chosen) - set(asked.snapshots.fields))
    if unknown:
        raise ModelError(
            f"A kernel was given for {unknown[0]!r}; the fields are {', '.join(asked.snapshots.fields)}."
        )
    several = [f for f, one in chosen.items() if not isinstance(one, Kernel) and len(one) != 1]
    if several:
        raise ModelError(
            f"Several kernels were given for {several[0]!r}; the flow model takes one per field. Give one, or none: "
            "then the evidence chooses."
        )
    kernels = {f: one if isinstance(one, Kernel) else one[0] for f, one in chosen.items()}
    for f, one in kernels.items():
        one.check_smooth_enough(asked.equation.order, f)
    return kernels
