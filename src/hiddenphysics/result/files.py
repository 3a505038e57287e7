"""Results on disk: netCDF for arrays, JSON in one attribute for the rest, nothing that runs when it is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError
from hiddenphysics.learning import Status
from hiddenphysics.models import MODELS, Arrays, Question
from hiddenphysics.result.result import Result
from hiddenphysics.snapshots import Snapshots, read

FORMAT = 4
READABLE = (3, 4)
"""Format 3 also repeated the verdict and the kernels among what the flow has learned; nobody needs them there."""
ATTRIBUTE = "hiddenphysics"
LEARNED = "learned "
"""What the names of arrays begin with that hold the posterior of the fields."""


class Packed(NamedTuple):
    """A result as plain data and arrays: what a file holds, and what travels between processes.

    Attributes
    ----------
    told
        Everything that is no array, ready for JSON.
    columns
        The snapshots as a table, one row per point: t, coordinates, fields, known deviations, each (N,).
    covariance
        (P, P), see `Result`.
    learned
        The posterior of the fields, as the model packs it.
    """

    told: dict[str, Any]
    columns: Arrays
    covariance: np.ndarray
    learned: Arrays


def pack(result: Result) -> Packed:
    """Return plain data and arrays from which `unpack` makes the same result; the recording stays behind."""
    table = result.snapshots.to_table()
    plain, learned = MODELS[result.model].pack(result.learned)
    columns = {name: table[name].to_numpy() for name in table.columns}
    return Packed(_describe(result) | {"learned": plain}, columns, result.covariance, learned)


def unpack(packed: Packed) -> Result:
    """Return what `pack` has packed, in any process."""
    told, columns, covariance, learned = packed
    return _rebuild(told, read(columns), covariance, learned)


def save(result: Result, path: Path, *, overwrite: bool) -> Path:
    """Write a result; an existing file is kept unless ``overwrite``, and a broken write never replaces one."""
    import xarray as xr

    if path.exists() and not overwrite:
        raise DataError(
            f"{path} exists and is not overwritten. Choose another name, or say so: overwrite=True, --force."
        )
    packed = pack(result)
    arrays: dict[str, Any] = {name: ("point", values) for name, values in packed.columns.items()}
    for number, (name, values) in enumerate(packed.learned.items()):
        arrays[LEARNED + name] = ([f"axis_{number}_{axis}" for axis in range(values.ndim)], values)
    arrays["covariance"] = (("unknown", "unknown_"), packed.covariance)
    dataset = xr.Dataset(arrays, attrs={ATTRIBUTE: json.dumps(packed.told)})
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
    if told["format"] not in READABLE:
        known = " and ".join(map(str, READABLE))
        raise DataError(f"{path} has format {told['format']}; this version reads {known}. Identify again.")
    columns = {name: dataset[name].to_numpy() for name in ("t", *told["coordinates"], *told["columns"])}
    learned = {
        str(n).removeprefix(LEARNED): dataset[n].to_numpy() for n in dataset if str(n).startswith(LEARNED)
    }
    return unpack(Packed(told, columns, dataset["covariance"].to_numpy(), learned))


def _describe(result: Result) -> dict[str, Any]:
    equation = result.equation
    return {
        "format": FORMAT,
        "text": equation.text,
        "constants": dict(equation.constants),
        "bounds": {name: list(limits) for name, limits in equation.bounds.items()},
        "coordinates": list(result.snapshots.coordinates),
        "fields": list(equation.given),
        "columns": list(result.snapshots[0].columns),
        "model": result.model,
        "values": result.values,
        "reason": result.reason,
        "evidence": result.evidence,
        "status": str(result.status),
        "explanation": result.explanation,
        "jitter": result.jitter,
        "evaluations": result.evaluations,
        "seconds": result.seconds,
        "summary": result.summary(),
    }


def _rebuild(told: dict[str, Any], snapshots: Snapshots, covariance: np.ndarray, arrays: Arrays) -> Result:
    equation = Equation.parse(
        told["text"],
        fields=told["fields"],
        coordinates=snapshots.coordinates,
        constants=told["constants"],
        bounds={name: (low, high) for name, (low, high) in told["bounds"].items()},
    )
    values: dict[str, float] = told["values"]
    return Result(
        equation=equation,
        snapshots=snapshots,
        values=values,
        covariance=covariance,
        evidence=told["evidence"],
        status=Status(told["status"]),
        explanation=told["explanation"],
        jitter=told["jitter"],
        evaluations=told["evaluations"],
        seconds=told["seconds"],
        model=told["model"],
        learned=MODELS[told["model"]].unpack(Question(equation, snapshots), values, told["learned"], arrays),
        reason=told["reason"],
    )
