"""NetCDF files, Zarr stores and xarray objects: their axes have names, so nothing is guessed."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hiddenphysics.errors import DataError, MissingExtraError
from hiddenphysics.loader import Trial
from hiddenphysics.snapshots.collection import Snapshots
from hiddenphysics.snapshots.columns import deviation_name
from hiddenphysics.snapshots.provenance import Provenance, common
from hiddenphysics.snapshots.readers import times
from hiddenphysics.snapshots.readers.arrays import (
    TIME_FIRST,
    classify,
    is_large,
    is_vector,
    named,
    snapshots_from,
)
from hiddenphysics.snapshots.readers.assembly import Array, Arrays
from hiddenphysics.snapshots.readers.labelled import LabelledArray
from hiddenphysics.snapshots.readers.naming import TIME, new_names
from hiddenphysics.snapshots.readers.request import Request
from hiddenphysics.snapshots.readers.stored_assembly import assembly_of
from hiddenphysics.snapshots.sentences import names
from hiddenphysics.snapshots.stored_array import StoredArray
from hiddenphysics.snapshots.validation import COORDINATES, Missing, numeric

if TYPE_CHECKING:
    import xarray as xr

# The first bytes of a file tell its kind for certain; its name does not.
ENGINES = {b"CDF": "scipy", b"\x89HDF": "h5netcdf"}


def read_netcdf(path: Path, request: Request) -> Snapshots:
    """Read a netCDF file, version 3 or 4."""
    with path.open("rb") as file:
        start = file.read(4)
    engine = next((engine for mark, engine in ENGINES.items() if start.startswith(mark)), None)
    if engine is None:
        raise DataError(
            "this is no netCDF file, whatever its name says; write it with Dataset.to_netcdf(path)."
        )
    if engine == "scipy":
        return from_xarray(_opened(path, engine), request, path.name)
    with Trial(path) as trial:
        import xarray  # noqa: F401  # takes as long as the trial, beside which it runs

        trial.check()
    return read_tried(path, request)


def read_tried(path: Path, request: Request) -> Snapshots:
    """Read a file of netCDF-4 that has been tried already."""
    return from_xarray(_opened(path, "h5netcdf"), request, path.name)


def read_zarr(path: Path, request: Request) -> Snapshots:
    """Read a Zarr store, a folder, written by xarray, or by Zarr alone as a group of arrays t, x, u."""
    if not path.is_dir():
        raise DataError("this is no Zarr store, which is a folder; write it with Dataset.to_zarr(path).")
    if importlib.util.find_spec("zarr") is None:
        raise MissingExtraError(
            f'{path.name} is a Zarr store; reading it needs zarr: pip install "hiddenphysics[zarr]".'
        )
    arrays = _unlabelled(path)
    if arrays is not None:
        return snapshots_from(
            named(arrays, request), request.missing, TIME_FIRST, all_fit=False, origin=path.name
        )
    return from_xarray(_opened(path, "zarr"), request, path.name)


def _unlabelled(path: Path) -> dict[str, Any] | None:
    """Return the arrays of a Zarr group that does not name its axes; None where xarray can read it."""
    import zarr

    try:
        group = zarr.open_group(path, mode="r")
        arrays: dict[str, Any] = {str(name): array for name, array in group.arrays()}
        if not arrays or any(_names_axes(array) for array in arrays.values()):
            return None
        numbers = {name: array for name, array in arrays.items() if array.dtype.kind in "iufc"}
        if is_large(array.size for array in numbers.values()):
            return {name: StoredArray.of(array) for name, array in numbers.items()}
        return {name: np.asarray(array[...]) for name, array in numbers.items()}
    # What is no group, or damaged, gets its sentence from whoever opens it next.
    except Exception:
        return None


def _names_axes(array: Any) -> bool:
    return "_ARRAY_DIMENSIONS" in array.attrs or any(getattr(array.metadata, "dimension_names", None) or ())


def from_xarray(data: xr.Dataset | xr.DataArray, request: Request, origin: str = "") -> Snapshots:
    """Read an xarray object.

    Gridded: variables over the dimensions t (or time), x, y, z. At scattered points: over t and one
    dimension of any name, along which x, y and z all lie, over t as well where points differ from time to time.
    Long: one dimension of any name, along which t, x and the fields all lie. Variables over other dimensions are
    passed over. A DataArray without a name is u. What is large is not loaded; `origin` names its file.
    """
    dataset = _tidy(_as_dataset(data), request.columns)
    dataset, provenance = _decoded(dataset, request.time_unit)
    built = _built(dataset, request.missing, origin)
    return Snapshots(built, common([provenance, built.provenance]))


def _decoded(dataset: xr.Dataset, time_unit: str | None) -> tuple[xr.Dataset, Provenance]:
    """Turn dates into numbers, and gather the units that the variables tell, as quantities or in `units`."""
    units = {str(name): _unit(variable) for name, variable in dataset.variables.items()}
    units = {name: unit for name, unit in units.items() if unit}
    if "t" not in dataset.variables:
        return dataset, Provenance(units)
    time = dataset["t"].variable
    unit = units.pop("t", "")
    if not (unit or time_unit or time.dtype.kind not in "iufc"):
        return dataset, Provenance(units)
    clock = times.decoded(times.array_of("t", time.to_numpy()), unit, time_unit)
    if clock.unit:
        units["t"] = clock.unit
    renewed = (
        dataset.assign_coords(t=(time.dims, clock.values))
        if "t" in dataset.coords
        else dataset.assign(t=(time.dims, clock.values))
    )
    return renewed, Provenance(units, clock.start, (clock.note,) if clock.note else ())


def _unit(variable: xr.Variable) -> str:
    quantity = getattr(variable, "_data", None)  # pint-xarray keeps quantities here
    own = getattr(quantity, "units", None)
    return str(own if own is not None else variable.attrs.get("units", "")).strip()


def _built(dataset: xr.Dataset, missing: Missing, origin: str) -> Snapshots:
    arrays = _numeric_variables(dataset)
    build, roles = assembly_of(arrays, missing, origin), classify(arrays)
    spaces = [dataset[c].dims for c in roles.coordinates]
    fields = [str(name) for name in dataset.data_vars if name not in ("t", *COORDINATES)]
    # Known errors are often written as coordinates, so that arithmetic on the data set leaves them alone.
    fields += [deviation_name(field) for field in fields if deviation_name(field) in dataset.coords]
    row = dataset["t"].dims
    if len(row) == 1 and all(dims == row for dims in spaces):
        rows = {f: _numbers(f, dataset[f].dims, row, arrays) for f in fields if dataset[f].dims == row}
        _some(rows, dataset)
        return build.of_rows(roles.t, roles.coordinates, rows)
    if "t" not in dataset.dims:
        arrays = {name: array if name in ("t", *COORDINATES) else array.reshape((1, *array.shape))
                  for name, array in arrays.items()}  # fmt: skip
        dataset = dataset.drop_vars("t").expand_dims("t")
    along = {tuple(str(dim) for dim in dims if dim != "t") for dims in spaces}
    scattered = len(along) == 1 and len(next(iter(along))) == 1
    axes = ("t", *next(iter(along))) if scattered else ("t", *roles.coordinates)
    fitting = [f for f in fields if set(dataset[f].dims) == set(axes)]
    values = {f: _numbers(f, dataset[f].dims, axes, arrays) for f in fitting}
    _some(values, dataset)
    if not scattered:
        return build.on_grid(roles.t, roles.coordinates, values)
    places = {
        c: _numbers(c, dataset[c].dims, axes, arrays) if roles.moving else array
        for c, array in roles.coordinates.items()
    }
    return build.at_points(roles.t, places, values)


def _opened(path: Path, engine: str) -> xr.Dataset:
    """Open a file without reading the values; a small one is read by whoever asks, and closed with the last of it."""
    import xarray as xr

    try:
        with warnings.catch_warnings():
            # Most Zarr stores lack a common list of their arrays, which only makes opening slower.
            warnings.filterwarnings("ignore", "Failed to open Zarr store", RuntimeWarning)
            # Dates would become datetime64, in some calendars only; what is needed are elapsed times (`times`).
            dataset: xr.Dataset = xr.open_dataset(path, engine=engine, decode_times=False, cache=False)
        if is_large(variable.size for variable in dataset.variables.values()):
            return dataset
        with dataset:
            return dataset.load()
    except ImportError as problem:
        raise MissingExtraError(
            f"{path.name} is a netCDF-4 (HDF5) file; reading it needs h5py: pip install h5py. Or write"
            " netCDF-3, with Dataset.to_netcdf(path, engine='scipy')."
        ) from problem
    # A damaged file can make the parsers fail in any way at all.
    except Exception as problem:
        kind, verb = ("a Zarr store", "to_zarr") if engine == "zarr" else ("netCDF", "to_netcdf")
        raise DataError(
            f"this could not be read as {kind} ({problem!s:.200}); write it again with Dataset.{verb}(path)."
        ) from problem


def _as_dataset(data: xr.Dataset | xr.DataArray) -> xr.Dataset:
    import xarray as xr

    if isinstance(data, xr.DataArray):
        return data.to_dataset(name=data.name if data.name is not None else "u")
    return data


def _tidy(dataset: xr.Dataset, columns: Mapping[str, str]) -> xr.Dataset:
    """Apply the user's names, then call time `t` and the axes `x`, `y`, `z`."""
    every = [str(name) for name in dict.fromkeys([*dataset.dims, *dataset.variables])]
    chosen = new_names(every, columns)
    # Axes stay, whether they are named or not; of the fields, only those that are used.
    dataset = dataset.drop_vars([n for n in every if n not in chosen and n in dataset.data_vars])
    dataset = dataset.rename({old: new for old, new in chosen.items() if old != new})
    usual = {c + c: c for c in COORDINATES if c + c in dataset and is_vector(dataset[c + c].shape)}
    usual |= {name: "t" for name in reversed(TIME) if name in dataset.variables}
    free = {name: axis for name, axis in usual.items() if axis not in dataset.variables}
    return dataset.rename(free)


def _numeric_variables(dataset: xr.Dataset) -> Arrays:
    """Return all numeric variables; among time and coordinates, dates and text are refused."""
    axes = ("t", *COORDINATES)
    variables = {
        str(name): variable
        for name, variable in dataset.variables.items()
        if name in axes or variable.dtype.kind in "iufc"
    }
    if is_large(variable.size for variable in variables.values()):
        return {
            name: StoredArray.of(LabelledArray(variable))
            if variable.dtype.kind in "iufc"
            else numeric(name, variable.to_numpy())
            for name, variable in variables.items()
        }
    return {name: numeric(name, variable.to_numpy()) for name, variable in variables.items()}


def _numbers(name: str, dims: tuple[Any, ...], axes: tuple[Any, ...], arrays: Arrays) -> Array:
    """Return the variable with its axes in this order."""
    return arrays[name].transpose([dims.index(axis) for axis in axes])


def _some(fields: Mapping[str, object], dataset: xr.Dataset) -> None:
    if not fields:
        variables = names(
            f"{name} {tuple(map(str, variable.dims))}" for name, variable in dataset.variables.items()
        )
        raise DataError(
            f"no variable is a field over time and space; found {variables}. A field lies over the dimensions"
            " t, x (y, z), over t and the one dimension along which x (y, z) lie, or, in long form, over the one"
            " dimension along which t and x lie."
        )
