"""Results on disk: netCDF for everybody, sealed for us; nothing that runs when it is read.

Behind the netCDF stands what this package reads itself: the description as JSON and where the arrays lie, under one
checksum with all the rest. So a file of ours is loaded without a library that damaged bytes could crash.
"""

from __future__ import annotations

import io
import json
import math
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hiddenphysics.equation import Equation
from hiddenphysics.errors import DataError
from hiddenphysics.learning import Criticism, Heterogeneity, Status
from hiddenphysics.loader import (
    Trial,
    Unsealed,
    check_regular,
    integer,
    listing,
    mapping,
    plain_data,
    record,
    text,
    unseal,
)
from hiddenphysics.models import MODELS, Arrays, Question
from hiddenphysics.result.chains import Chains
from hiddenphysics.result.description import FORMAT, SEALED, check_description, check_numbers
from hiddenphysics.result.result import Result
from hiddenphysics.snapshots import Experiments, Provenance, Snapshots, read
from hiddenphysics.writer import check_target, in_memory, sealed, write_file

if TYPE_CHECKING:
    import pandas as pd

ATTRIBUTE = "hiddenphysics"
LEARNED = "learned "
"""What the names of arrays begin with that hold the posterior of the fields."""
EXPERIMENT = "experiment of a row"
"""Name of the column that tells which experiment, counted from 0, a row belongs to; no field can be called so."""
PLAIN_TYPE = re.compile(r"[<>|][biufc]\d{1,2}")
"""Types of arrays: plain numbers, as NumPy writes them."""
HOW = "Results are written by result.save(...) or identify … --save fit.nc."


class Packed(NamedTuple):
    """A result as plain data and arrays: what a file holds, and what travels between processes.

    Attributes
    ----------
    told
        Everything that is no array, ready for JSON.
    columns
        The snapshots as a table, one row per point: t, coordinates, fields, known deviations, each (N,); of several
        experiments also which of them a row belongs to, `EXPERIMENT`.
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
    tables = [run.to_table() for run in result.runs]
    plain, learned = MODELS[result.model].pack(result.learned)
    names = ("t", *result.runs.coordinates, *_columns(result.runs))
    columns = {name: np.concatenate([_column(table, name) for table in tables]) for name in names}
    if len(tables) > 1:
        columns[EXPERIMENT] = np.repeat(np.arange(len(tables)), list(map(len, tables)))
    return Packed(_describe(result) | {"learned": plain}, columns, result.covariance, learned)


def unpack(packed: Packed, *, check: bool = False) -> Result:
    """Return what `pack` has packed, in any process; what comes from a file is to be checked first."""
    told, columns, covariance, learned = packed
    return _rebuild(told, _experiments(told, columns), covariance, learned, check)


def save(result: Result, path: Path, *, overwrite: bool) -> Path:
    """Write a result; an existing file is kept unless ``overwrite``, and a broken write never replaces one."""
    import xarray as xr

    check_target(path, overwrite=overwrite)
    packed = pack(result)
    arrays: dict[str, Any] = {name: ("point", values) for name, values in packed.columns.items()}
    for number, (name, values) in enumerate(packed.learned.items()):
        arrays[LEARNED + name] = ([f"axis_{number}_{axis}" for axis in range(values.ndim)], values)
    arrays["covariance"] = (("unknown", "unknown_"), packed.covariance)
    content = in_memory(xr.Dataset(arrays, attrs={ATTRIBUTE: json.dumps(packed.told)}))
    note = {"told": packed.told, "arrays": _places(content, list(arrays))}
    return write_file(path, sealed(content, json.dumps(note).encode()), overwrite=overwrite)


def load(path: str | Path) -> Result:
    """Read a result that `Result.save` wrote; whatever is wrong with the file is a `DataError`."""
    path = Path(path).expanduser()
    if not path.exists():
        raise DataError(f"There is no file {path}. {HOW}")
    check_regular(path)
    try:
        under = unseal(path)
        told, arrays = _earlier(path) if under is None else _ours(under)
        check_description(told)
        several = [EXPERIMENT] if len(told.get("experiments", ())) > 1 else []
        names = ("t", *told["coordinates"], *told["columns"], *several)
        columns = {name: arrays[name] for name in names}
        learned = {n.removeprefix(LEARNED): a for n, a in arrays.items() if n.startswith(LEARNED)}
        check_numbers(told, columns, arrays["covariance"])
        packed = Packed(told, columns, arrays["covariance"], learned)
        # Of a fit whose numbers are not to be used, they may be missing.
        return unpack(packed, check=not Status(told["status"]).is_bad)
    except DataError as problem:
        raise DataError(str(problem) if str(path) in str(problem) else f"{path}: {problem}") from problem
    # What an earlier version wrote bears no checksum, and what somebody forged may bear one: then nothing is certain.
    except Exception as problem:
        raise DataError(
            f"{path} holds no result that can be used ({type(problem).__name__}: {problem!s:.200}). {HOW}"
        ) from problem


# ---- how arrays lie in a file --------------------


def _places(content: bytes, names: list[str]) -> list[dict[str, Any]]:
    """Return where HDF5 has put the values of every array: name, type, shape, first byte."""
    import h5py

    with h5py.File(io.BytesIO(content), "r") as file:
        return [
            {
                "name": name,
                "type": file[name].dtype.str,
                "shape": list(file[name].shape),
                "offset": file[name].id.get_offset() or 0,  # none where there are no values
            }
            for name in names
        ]


def _ours(under: Unsealed) -> tuple[dict[str, Any], Arrays]:
    """Return description and arrays of a sealed file."""
    note = plain_data(under.note, "its description")
    place = record({"name": text, "type": text, "shape": listing(integer), "offset": integer})
    record({"told": mapping(lambda value, place: None), "arrays": listing(place)})(note, "the file")
    return note["told"], {one["name"]: _array(under.content, **one) for one in note["arrays"]}


def _array(content: memoryview, name: str, type: str, shape: list[int], offset: int) -> np.ndarray:  # noqa: A002
    if not PLAIN_TYPE.fullmatch(type):
        raise DataError(f"the array {name:.60} is of type {type:.60}; plain numbers are needed.")
    dtype, count = np.dtype(type), math.prod(shape)
    if offset + count * dtype.itemsize > len(content):
        raise DataError(f"the array {name:.60} of shape {shape!s:.60} is larger than the file.")
    return np.frombuffer(content, dtype, count, offset).reshape(shape).copy()


def _earlier(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return description and arrays of a file of an earlier version, which HDF5 has to read; tried elsewhere first."""
    with path.open("rb") as file:
        if file.read(4) != b"\x89HDF":
            raise DataError(f"{path} holds no result of this library. {HOW}")
    with Trial(path) as trial:
        import h5py

        trial.check()
    with h5py.File(path, "r") as file:
        if ATTRIBUTE not in file.attrs:
            raise DataError(
                f"{path} holds no result of this library (an attribute {ATTRIBUTE!r} is needed). {HOW}"
            )
        told = plain_data(file.attrs[ATTRIBUTE], "its description")
        if isinstance(told, dict) and told.get("format") in SEALED:
            raise DataError(f"{path} has lost its seal: it was changed after it had been written. {HOW}")
        mapping(lambda value, place: None)(told, "the description")
        variables = {name: item for name, item in file.items() if isinstance(item, h5py.Dataset)}
        return told, {
            n: np.asarray(v)
            for n, v in variables.items()
            if v.dtype.kind in "biufc" and "NAME" not in v.attrs
        }


# ---- experiments as one table --------------------


def _columns(runs: Experiments) -> list[str]:
    """Names of fields and known deviations, of those that any snapshot has."""
    return list(dict.fromkeys(name for run in runs for snapshot in run for name in snapshot.columns))


def _column(table: pd.DataFrame, name: str) -> np.ndarray:
    """Return a column; a deviation that some snapshots do not know adds nothing to the noise, as 0 does."""
    return np.zeros(len(table)) if name not in table else table[name].fillna(0.0).to_numpy()


def _experiments(told: dict[str, Any], columns: Arrays) -> Experiments:
    """Return the experiments that a description and a table tell of."""
    about = told.get("experiments") or [{"name": "", "provenance": told.get("provenance", {})}]
    owner = columns.get(EXPERIMENT, np.zeros(len(columns["t"])))
    runs = {}
    for number, one in enumerate(about):
        provenance = one["provenance"]
        own = {name: values[owner == number] for name, values in columns.items() if name != EXPERIMENT}
        known = Provenance(
            provenance.get("units", {}), provenance.get("start", ""), tuple(provenance.get("notes", ()))
        )
        runs[one["name"]] = Snapshots(read(own), known)
    return Experiments(runs)


# ---- plain data --------------------


def _describe(result: Result) -> dict[str, Any]:
    equation = result.equation
    return {
        "format": FORMAT,
        "text": equation.text,
        "constants": dict(equation.constants),
        "bounds": {name: list(ends) for name, ends in equation.given_bounds.items()},
        "ranges": {name: list(ends) for name, ends in equation.ranges.items()},
        "coordinates": list(result.runs.coordinates),
        "fields": list(equation.given),
        "columns": _columns(result.runs),
        "experiments": [
            {"name": name, "provenance": asdict(run.provenance)}
            for name, run in zip(result.runs.names, result.runs, strict=True)
        ],
        "model": result.model,
        "values": result.values,
        "reason": result.reason,
        "criticism": None if result.criticism is None else result.criticism.plain(),
        "heterogeneity": None if result.heterogeneity is None else result.heterogeneity.plain(),
        "chains": None if result.chains is None else result.chains.plain(),
        "evidence": result.evidence,
        "status": str(result.status),
        "explanation": result.explanation,
        "jitter": result.jitter,
        "evaluations": result.evaluations,
        "seconds": result.seconds,
        "summary": result.summary(),
    }


def _rebuild(
    told: dict[str, Any], runs: Experiments, covariance: np.ndarray, arrays: Arrays, check: bool
) -> Result:
    equation = Equation.parse(
        told["text"],
        fields=told["fields"],
        coordinates=runs.coordinates,
        constants=told["constants"],
        bounds={name: (low, high) for name, (low, high) in told["bounds"].items()},
        ranges={name: (low, high) for name, (low, high) in told.get("ranges", {}).items()},
    )
    values = {name: float(value) for name, value in told["values"].items()}
    model, question = MODELS[told["model"]], Question(equation, runs)
    if check:
        model.check(question, values, told["learned"], arrays)
    return Result(
        equation=equation,
        runs=runs,
        values=values,
        covariance=covariance,
        evidence=float(told["evidence"]),
        status=Status(told["status"]),
        explanation=told["explanation"],
        jitter=float(told["jitter"]),
        evaluations=told["evaluations"],
        seconds=told["seconds"],
        model=told["model"],
        learned=model.unpack(question, values, told["learned"], arrays),
        reason=told["reason"],
        criticism=Criticism.of_plain(told["criticism"]) if told.get("criticism") else None,
        heterogeneity=Heterogeneity.of_plain(told["heterogeneity"]) if told.get("heterogeneity") else None,
        chains=Chains.of_plain(told["chains"]) if told.get("chains") else None,
    )
