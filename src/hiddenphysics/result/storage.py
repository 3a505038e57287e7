"""What a model has learned about the fields, as plain data and arrays, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy

from hiddenphysics.equation import Equation
from hiddenphysics.flow import FlowFit
from hiddenphysics.forward import MODELS
from hiddenphysics.forward.scales import counts_of, with_scales
from hiddenphysics.inference.data import State, collect
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.smooth import SmoothedField, smoothing_problem
from hiddenphysics.kernels import kernel_from_dict, kernel_to_dict
from hiddenphysics.result.fields import Arrays, Fields, FlowFields, LinearFields
from hiddenphysics.snapshots import Snapshots


def pack(fields: Fields) -> tuple[dict[str, Any], Arrays]:
    """Return JSON-ready data and named arrays from which `unpack` makes the same posterior."""
    if isinstance(fields, FlowFields):
        return fields.fit.describe()
    if not isinstance(fields, LinearFields):
        raise TypeError(f"internal error: no way to store {type(fields).__name__}")
    plain = {
        "kernels": {latent: kernel_to_dict(k) for latent, k in fields.problem.layout.kernels},
        "smoothed": {
            f: {"kernel": kernel_to_dict(s.problem.layout.kernels[0][1]), "values": s.values}
            for f, s in fields.smoothed.items()
        },
    }
    return plain, _state(fields.problem)


def unpack(
    model: str,
    equation: Equation,
    snapshots: Snapshots,
    values: dict[str, float],
    plain: Mapping[str, Any],
    arrays: Arrays,
) -> Fields:
    """Return the posterior that `pack` wrote."""
    if model == "flow":
        return FlowFields(FlowFit.rebuild(equation, plain, arrays))
    kernels = {latent: kernel_from_dict(k) for latent, k in plain["kernels"].items()}
    smoothed = {
        f: SmoothedField(smoothing_problem(snapshots, f, kernel_from_dict(s["kernel"])), s["values"])
        for f, s in plain["smoothed"].items()
    }
    linear = with_scales(MODELS[model](equation, snapshots.fields), counts_of(kernels))
    problem = Problem.of(linear, kernels, collect(linear, snapshots, _saved(snapshots, arrays)))
    return LinearFields(problem, values, snapshots, smoothed)


def _state(problem: Problem) -> Arrays:
    """Return the state in the coefficients at all points, snapshot after snapshot, NaN where it is not needed."""
    places = problem.data.places
    names = sorted({name for here in places for name in here.frozen})
    unused = [np.full(here.points.shape[0], np.nan) for here in places]
    return {
        name: np.concatenate([here.frozen.get(name, gap) for here, gap in zip(places, unused, strict=True)])
        for name in names
    }


def _saved(snapshots: Snapshots, values: Arrays) -> State:
    """Return the state that `_state` wrote."""
    ends = np.cumsum([len(s) for s in snapshots])

    def state(atoms: Sequence[sympy.Expr], snapshot: int, _points: np.ndarray) -> Arrays:
        return {str(a): np.split(values[str(a)], ends[:-1])[snapshot] for a in atoms}

    return state
