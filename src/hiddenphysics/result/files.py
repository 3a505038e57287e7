"""Results on disk: netCDF for arrays, JSON in one attribute for the rest, nothing that runs when it is read."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError
from hiddenphysics.forward import MODELS
from hiddenphysics.forward.scales import counts_of, with_scales
from hiddenphysics.inference.data import State, collect
from hiddenphysics.inference.fit import Status
from hiddenphysics.inference.problem import Problem
from hiddenphysics.inference.smooth import SmoothedField, smoothing_problem
from hiddenphysics.kernels import kernel_from_dict, kernel_to_dict
from hiddenphysics.result.result import Result
from hiddenphysics.snapshots import Snapshots, read

FORMAT = 2
ATTRIBUTE = "hiddenphysics"
STATE = "state of "
"""What the names of arrays begin with that hold the state in the coefficients."""


def save(result: Result, path: Path, *, overwrite: bool) -> Path:
    """Write a result; an existing file is kept unless ``overwrite``, and a broken write never replaces one."""
    import xarray as xr

    if path.exists() and not overwrite:
        raise DataError(
            f"{path} exists and is not overwritten. Choose another name, or say so: overwrite=True, --force."
        )
    table = result.snapshots.to_table()
    arrays: dict[str, Any] = {name: ("point", table[name].to_numpy()) for name in table.columns}
    arrays |= {STATE + name: ("point", values) for name, values in _state(result).items()}
    arrays["covariance"] = (("unknown", "unknown_"), result.covariance)
    dataset = xr.Dataset(arrays, attrs={ATTRIBUTE: json.dumps(_describe(result))})
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        dataset.to_netcdf(partial, engine="h5netcdf")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def load(path: str | Path) -> Result:
    """Read a result that `Result.save` wrote."""
    import xarray as xr

    path = Path(path)
    if not path.exists():
        raise DataError(
            f"There is no file {path}. Results are written by result.save(...) or identify … --save fit.nc."
        )
    try:
        with xr.open_dataset(path, engine="h5netcdf") as opened:
            dataset = opened.load()
        told = json.loads(dataset.attrs[ATTRIBUTE])
    except (OSError, KeyError, ValueError) as problem:
        raise DataError(
            f"{path} holds no result of this library (netCDF with an attribute {ATTRIBUTE!r} is needed). "
            "Results are written by result.save(...) or identify … --save fit.nc."
        ) from problem
    if told["format"] != FORMAT:
        raise DataError(f"{path} has format {told['format']}; this version reads {FORMAT}. Identify again.")
    columns = ["t", *told["coordinates"], *told["columns"]]
    snapshots = read({name: dataset[name].to_numpy() for name in columns})
    state = {str(n).removeprefix(STATE): dataset[n].to_numpy() for n in dataset if str(n).startswith(STATE)}
    return _rebuild(told, snapshots, dataset["covariance"].to_numpy(), state)


def _state(result: Result) -> dict[str, np.ndarray]:
    """Return the state in the coefficients at all points, snapshot after snapshot, NaN where it is not needed."""
    places = result.problem.data.places
    names = sorted({name for here in places for name in here.frozen})
    unused = [np.full(here.points.shape[0], np.nan) for here in places]
    return {
        name: np.concatenate([here.frozen.get(name, gap) for here, gap in zip(places, unused, strict=True)])
        for name in names
    }


def _saved(snapshots: Snapshots, values: dict[str, np.ndarray]) -> State:
    """Return the state that `_state` wrote."""
    ends = np.cumsum([len(s) for s in snapshots])

    def state(atoms: Sequence[sympy.Expr], snapshot: int, _points: np.ndarray) -> dict[str, np.ndarray]:
        return {str(a): np.split(values[str(a)], ends[:-1])[snapshot] for a in atoms}

    return state


def _describe(result: Result) -> dict[str, Any]:
    equation = result.equation
    return {
        "format": FORMAT,
        "text": equation.text,
        "constants": dict(equation.constants),
        "bounds": {name: list(limits) for name, limits in dict(equation.bounds).items()},
        "coordinates": list(result.snapshots.coordinates),
        "fields": list(equation.given),
        "columns": list(result.snapshots[0].columns),
        "model": result.model,
        "kernels": {latent: kernel_to_dict(k) for latent, k in result.problem.layout.kernels},
        "values": result.values,
        "smoothed": {
            f: {"kernel": kernel_to_dict(s.problem.layout.kernels[0][1]), "values": s.values}
            for f, s in result.smoothed.items()
        },
        "evidence": result.evidence,
        "status": str(result.status),
        "explanation": result.explanation,
        "jitter": result.jitter,
        "evaluations": result.evaluations,
        "seconds": result.seconds,
        "summary": result.summary(),
    }


def _rebuild(
    told: dict[str, Any], snapshots: Snapshots, covariance: np.ndarray, state: dict[str, np.ndarray]
) -> Result:
    equation = Equation.parse(
        told["text"],
        fields=told["fields"],
        coordinates=snapshots.coordinates,
        constants=told["constants"],
        bounds={name: (low, high) for name, (low, high) in told["bounds"].items()},
    )
    kernels = {latent: kernel_from_dict(k) for latent, k in told["kernels"].items()}
    smoothed = {
        f: SmoothedField(smoothing_problem(snapshots, f, kernel_from_dict(s["kernel"])), s["values"])
        for f, s in told["smoothed"].items()
    }
    linear = with_scales(MODELS[told["model"]](equation, snapshots.fields), counts_of(kernels))
    return Result(
        equation=equation,
        snapshots=snapshots,
        problem=Problem.of(linear, kernels, collect(linear, snapshots, _saved(snapshots, state))),
        values=told["values"],
        covariance=covariance,
        evidence=told["evidence"],
        status=Status(told["status"]),
        explanation=told["explanation"],
        jitter=told["jitter"],
        evaluations=told["evaluations"],
        seconds=told["seconds"],
        smoothed=smoothed,
    )
